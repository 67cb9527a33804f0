import InvivoBase
import Testing

@testable import InvivoConfig

/// Compares the configuration with a plain model that merges all layers from scratch each time.
@Suite struct ConfigLayersTests {
    /// Documents in their order, and runtime settings in theirs.
    private struct Model {
        var documents: [UInt64: Value] = [:]
        var words: [(path: String, value: Value)] = []

        var value: Value {
            var found: Value? = nil
            for order in documents.keys.sorted() { found = Self.laid(found, documents[order]!) }
            for (path, value) in words {
                let node = ConfigPath.names(path).reversed().reduce(value) { inner, name in .map([(name, inner)]) }
                found = Self.laid(found, node)
            }
            return found ?? .map([])
        }

        static func laid(_ earlier: Value?, _ later: Value) -> Value? {
            guard case .map(let said) = later else { return later.isNull ? nil : later }
            var pairs: [(name: String, value: Value)] = if case .map(let pairs)? = earlier { pairs } else { [] }
            for (name, value) in said {
                let location = pairs.firstIndex { $0.name == name }
                switch (laid(location.map { pairs[$0].value }, value), location) {
                case (let value?, let location?): pairs[location].value = value
                case (let value?, nil): pairs.append((name, value))
                case (nil, let location?): pairs.remove(at: location)
                case (nil, nil): break
                }
            }
            return .map(pairs)
        }

        /// Each path with a different value, and whether a value below it differs.
        static func changes(_ old: Value?, _ new: Value?, _ path: String = "") -> [(path: String, isLeaf: Bool)] {
            if old == nil && new == nil { return [] }
            if let old, let new, old.isSame(as: new) { return [] }
            var inner: [(path: String, isLeaf: Bool)] = []
            let (before, after) = (names(old), names(new))
            for name in after + before.filter({ !after.contains($0) }) {
                inner += changes(old?[name], new?[name], path.isEmpty ? name : "\(path).\(name)")
            }
            return [(path, inner.isEmpty)] + inner
        }

        private static func names(_ value: Value?) -> [String] {
            if case .map(let pairs)? = value { pairs.map(\.name) } else { [] }
        }
    }

    private static func random(_ depth: Int, _ width: Int, _ generator: inout SystemRandomNumberGenerator) -> Value {
        switch Int.random(in: 0..<10, using: &generator) {
        case 0: return .null
        case 1: return .list([.int64(.random(in: 0...2, using: &generator))])
        case 2..<5 where depth > 0: break
        case 5..<10 where depth > 1: break
        default: return .int64(.random(in: 0...3, using: &generator))
        }
        return map(depth, width, &generator)
    }

    private static func map(_ depth: Int, _ width: Int, _ generator: inout SystemRandomNumberGenerator) -> Value {
        let names = (0..<width).map { "n\($0)" }.shuffled(using: &generator)
        return .map(
            names.prefix(.random(in: 0...width, using: &generator)).map {
                ($0, random(depth - 1, min(width, 4), &generator))
            })
    }

    /// One value of a map changed, so that most of it is shared with the former one.
    private static func edited(_ value: Value, _ generator: inout SystemRandomNumberGenerator) -> Value {
        guard case .map(var pairs) = value, let location = pairs.indices.randomElement(using: &generator) else {
            return random(0, 1, &generator)
        }
        switch Int.random(in: 0..<6, using: &generator) {
        case 0: pairs.remove(at: location)
        case 1: pairs.append(("m\(Int.random(in: 0...5, using: &generator))", .bool(true)))
        default: pairs[location].value = edited(pairs[location].value, &generator)
        }
        var seen: Set<String> = []
        return .map(pairs.filter { seen.insert($0.name).inserted })
    }

    private static func node(_ value: Value, like former: ConfigNode?) -> ConfigNode {
        guard case .map(let pairs) = value else { return ConfigNode(value) }
        return ConfigNode(
            names: pairs.map(\.name), nodes: pairs.map { node($0.value, like: former?[$0.name]) }, at: Location(),
            like: former)
    }

    private static func check(_ layers: ConfigLayers, _ changes: ConfigTree.Changes, _ before: Value, _ model: Model)
        throws
    {
        let expected = model.value
        try #require(layers.tree.root.value.isSame(as: expected), "\(layers.tree.root.value) is not \(expected)")
        let wanted = Model.changes(before, expected).map { "\($0.path) \($0.isLeaf)" }.sorted()
        try #require(changes.map { "\($0.path) \($0.isLeaf)" }.sorted() == wanted)
        for change in changes {
            let there = layers.tree.find(change.path)
            try #require((there == nil) == (change.node == nil))
            if let there, let node = change.node { try #require(there.value.isSame(as: node.value)) }
        }
    }

    /// As written, including the order of names.
    private static func text(_ value: Value) -> String { "\(value)" }

    @Test(arguments: [2, 5, 80]) func documentsAreMergedAsFromScratch(_ width: Int) throws {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<60 {
            var model = Model()
            var layers = ConfigLayers()
            var said: [UInt64: ConfigNode] = [:]
            for _ in 0..<12 {
                let before = model.value
                var changed: [(order: UInt64, node: ConfigNode?)] = []
                for order in Set((0..<Int.random(in: 1...3)).map { _ in UInt64.random(in: 1...4) }) {
                    let value: Value? =
                        switch (Int.random(in: 0..<5), model.documents[order]) {
                        case (0, _): nil
                        case (1...3, let former?): Self.edited(former, &generator)
                        default: Self.map(3, width, &generator)
                        }
                    let isMap = value.map { $0.kind == .map } ?? true
                    guard isMap else { continue }
                    model.documents[order] = value
                    let node = value.map { Self.node($0, like: said[order]) }
                    said[order] = node
                    changed.append((order, node))
                }
                let changes = try layers.apply(documents: changed, settings: [])
                try Self.check(layers, changes, before, model)
                // The order of the names also equals that of a new runtime.
                try #require(Self.text(layers.tree.root.value) == Self.text(model.value))
            }
        }
    }

    /// Many documents, some added, removed or moved to another order in each step, above and below an occasional setting.
    @Test(arguments: [(6, 4), (20, 4), (40, 12), (200, 3)]) func manyDocumentsAreMergedAsFromScratch(
        _ count: Int, _ width: Int
    ) throws {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<(count > 100 ? 4 : 12) {
            var model = Model()
            var layers = ConfigLayers()
            var said: [UInt64: ConfigNode] = [:]
            // Rounds without lists, scalars and nulls around other values, which hide the values of lower documents.
            let isTame = Bool.random(using: &generator)
            func content(_ order: UInt64) -> Value {
                guard isTame else { return Self.map(3, width, &generator) }
                return .map([
                    (
                        "a",
                        .map([("n\(order % 64)", .int64(.random(in: 0...2))), ("shared", .int64(.random(in: 0...2)))])
                    ),
                    ("b\(order % 3)", .map([("c", .map([("n\(order % 40)", .bool(.random()))]))])),
                ])
            }
            for step in 0..<70 {
                let before = model.value
                var orders = Set((0..<Int.random(in: 1...3)).map { _ in UInt64.random(in: 1...UInt64(count)) })
                if step == 0 || Int.random(in: 0..<20) == 0 { orders.formUnion(1...UInt64(count)) }
                var next = model.documents
                for order in orders {
                    switch Int.random(in: 0..<8) {
                    case 0 where orders.count < 4: next[order] = nil
                    case 1 where orders.count < 4:
                        // It is closed, and opened again after all others or between them.
                        next[UInt64.random(in: 1...UInt64(count + 3))] = next.removeValue(forKey: order)
                    case 2...5 where next[order] != nil && !isTame:
                        next[order] = Self.edited(next[order]!, &generator)
                    default: next[order] = content(order)
                    }
                }
                if Int.random(in: 0..<30) == 0 { for order in next.keys where order % 4 != 0 { next[order] = nil } }
                var changed: [(order: UInt64, node: ConfigNode?)] = []
                for order in Set(next.keys).union(model.documents.keys) where order <= UInt64(count + 3) {
                    let (old, new) = (model.documents[order], next[order])
                    if let old, let new, old.isSame(as: new), Self.text(old) == Self.text(new) { continue }
                    guard new?.kind ?? .map == .map else {
                        next[order] = old
                        continue
                    }
                    said[order] = new.map { Self.node($0, like: said[order]) }
                    changed.append((order, said[order]))
                }
                model.documents = next
                var words: [(path: String, node: ConfigNode?)] = []
                if Int.random(in: 0..<10) == 0 {
                    let value = Self.random(1, 3, &generator)
                    words.append(("a.n1", ConfigNode(value)))
                    model.words = [("a.n1", value)]
                }
                let changes = try layers.apply(documents: changed.shuffled(), settings: words)
                try Self.check(layers, changes, before, model)
                try #require(Self.text(layers.tree.root.value) == Self.text(model.value))
            }
        }
    }

    /// Layers at one path compared with a dictionary.
    @Test func aStackHasItsLayersInOrder() throws {
        var generator = SystemRandomNumberGenerator()
        for most in [3, 70, 500] as [UInt64] {
            var stack = LayerStack()
            var model: [UInt64: ConfigNode] = [:]
            var steps = LoadSteps()
            for _ in 0..<1000 {
                let order = UInt64.random(in: 1...most, using: &generator)
                let isMap = Int.random(in: 0..<40, using: &generator) != 0
                let value: Value = isMap ? .map([("n\(order % 5)", .int64(Int64(order)))]) : .int64(Int64(order))
                let node = Int.random(in: 0..<3, using: &generator) == 0 ? nil : ConfigNode(value)
                stack.set(order, node)
                stack.dropIndex()
                model[order] = node
                let orders = model.keys.sorted()
                try #require(stack.layers.map(\.order) == orders)
                try #require(stack.count == orders.count && stack.last?.order == orders.last)
                try #require(stack[order]?.value.isSame(as: value) == node.map { _ in true })
                try #require(stack[most + 1] == nil && stack[0] == nil)
                let isHidden = orders.lastIndex { model[$0]?.map == nil } ?? 0
                try #require(stack.visible.count == orders.count - isHidden)
                try #require(stack.areMaps == model.values.allSatisfy { $0.map != nil })
                guard Int.random(in: 0..<50, using: &generator) == 0 else { continue }
                try stack.updateIndex(&steps)
                for name in (0..<6).map({ "n\($0)" }) {
                    try #require(stack.inner(name).layers.map(\.order) == orders.filter { model[$0]?[name] != nil })
                }
            }
        }
    }

    /// An edit of one of many documents looks at the documents that have the changed path, at no others.
    @Test(.timeLimit(.minutes(1))) func anEditAmongManyDocumentsSharesTheOthers() throws {
        func document(_ name: String, _ value: Int64) -> ConfigNode {
            ConfigNode(.map([("bench", .map([(name, .int64(value)), ("shared", .int64(1))]))]))
        }
        var layers = ConfigLayers()
        let documents = (1...1000 as ClosedRange<UInt64>).map { ($0, document("n\($0)", 1)) }
        _ = try layers.apply(documents: documents.map { ($0, Optional($1)) }, settings: [])
        let changes = try layers.apply(documents: [(500, document("n500", 2))], settings: [])
        #expect(changes.map(\.path) == ["", "bench", "bench.n500"])
        #expect(try layers.apply(documents: [(499, nil)], settings: []).map(\.path) == ["", "bench", "bench.n499"])
        #expect(layers.tree.find("bench.shared")?.value.isSame(as: .int64(1)) == true)
    }

    @Test func theEnvironmentIsAboveDocumentsAndBelowSettings() throws {
        func layer(_ number: Int64) -> ConfigNode { ConfigNode(.map([("a", .map([("n", .int64(number))]))])) }
        let (first, second) = (Environment([("X", "1")]), Environment([("X", "2")]))
        var layers = ConfigLayers(first)
        #expect(layers.environment === first)
        func value() -> Value? { layers.tree.find("a.n")?.value }
        _ = try layers.apply(documents: [(1, layer(1))], environment: .init(second, layer(2)), settings: [])
        #expect(value()?.isSame(as: .int64(2)) == true && layers.environment === second)
        // A later document stays below the environment.
        #expect(try layers.apply(documents: [(2, layer(3))], settings: []).isEmpty)
        let copy = layers
        _ = try layers.apply(documents: [], settings: [("a.n", ConfigNode(.int64(4)))])
        #expect(value()?.isSame(as: .int64(4)) == true)
        // Settings that lie in each other are separate layers, which stay above the environment.
        _ = try layers.apply(documents: [], settings: [("a", layer(5)["a"])])
        #expect(try layers.apply(documents: [], environment: .init(first, layer(6)), settings: []).isEmpty)
        #expect(value()?.isSame(as: .int64(5)) == true)
        _ = try layers.apply(documents: [], settings: [("", nil)])
        #expect(value()?.isSame(as: .int64(6)) == true)
        _ = try layers.apply(documents: [], environment: .init(second, nil), settings: [])
        #expect(value()?.isSame(as: .int64(3)) == true)
        #expect(copy.environment === second && copy.tree.find("a.n")?.value.isSame(as: .int64(2)) == true)
    }

    @Test func aStringOfAVariableHasTheKindOfItsReceiver() throws {
        func node(_ content: Value, _ text: String?) -> ConfigNode {
            ConfigNode(.value(content), at: Location(file: "X"), variables: VariableText(["X"], text: text))
        }
        let number = node(.int64(12), "012")
        #expect(try number.value(for: .kind(.string), { _ in nil }).isSame(as: .string("012")))
        #expect(try number.value(for: .kind(.int64), { _ in nil }).isSame(as: .int64(12)))
        #expect(try number.value(for: .any, { _ in nil }).isSame(as: .int64(12)))
        #expect(try node(.bool(true), "True").value(for: .kind(.bool), { _ in nil }).isSame(as: .bool(true)))
        let secret = node(.string("hunter2"), "hunter2")
        do throws(Failure) {
            _ = try secret.value(for: .kind(.int64), { _ in nil })
            Issue.record("it is accepted")
        } catch {
            #expect(
                error.text == "X: the environment variable 'X' gives an unsuitable value; expected an int64")
        }
        #expect(!secret.isIdentical(to: ConfigNode(.value(.string("hunter2")), at: Location(file: "X"))))
    }

    @Test func runtimeSettingsWinOverDocumentsInTheirOrder() throws {
        var generator = SystemRandomNumberGenerator()
        let paths = ["n0", "n1", "n0.n1", "n0.n2", "n1.n0", "n2.n0.n1", "n2.n0", ""]
        for round in 0..<300 {
            // Some rounds use disjoint paths only.
            let known = round % 2 == 0 ? paths : ["n0.n1", "n0.n2", "n1.n0", "n2"]
            var model = Model()
            var layers = ConfigLayers()
            for _ in 0..<12 {
                let before = model.value
                var words: [(path: String, node: ConfigNode?)] = []
                for _ in 0..<Int.random(in: 0...2) {
                    let path = known.randomElement()!
                    if Int.random(in: 0..<4) == 0 {
                        words.append((path, nil))
                        model.words.removeAll { $0.path == path || path.isEmpty || $0.path.hasPrefix(path + ".") }
                    } else {
                        let value = path.isEmpty ? Self.map(2, 3, &generator) : Self.random(2, 3, &generator)
                        words.append((path, ConfigNode(value)))
                        model.words.removeAll { $0.path == path }
                        model.words.append((path, value))
                    }
                }
                var changed: [(order: UInt64, node: ConfigNode?)] = []
                if Int.random(in: 0..<3) == 0 {
                    let value = Self.map(3, 3, &generator)
                    model.documents[1] = value
                    changed.append((1, ConfigNode(value)))
                }
                let changes = try layers.apply(documents: changed, settings: words)
                try Self.check(layers, changes, before, model)
            }
        }
    }

    /// An edit shares all unaffected parts.
    @Test func anEditSharesUnaffectedParts() throws {
        let names = (0..<1000).map { "n\($0)" }
        func document(_ first: Int64, like former: ConfigNode?) -> ConfigNode {
            let inner = ConfigNode(
                names: names, nodes: names.indices.map { ConfigNode(.int64($0 == 0 ? first : 1)) }, at: Location(),
                like: former?["a"])
            return ConfigNode(
                names: ["a", "b"], nodes: [inner, ConfigNode(.map([("c", .int64(1))]))], at: Location(), like: former)
        }
        var layers = ConfigLayers()
        let first = document(1, like: nil)
        _ = try layers.apply(documents: [(1, first)], settings: [])
        let second = document(2, like: first)
        let changes = try layers.apply(documents: [(1, second)], settings: [("a.n5", ConfigNode(.int64(7)))])
        #expect(changes.map(\.path) == ["", "a", "a.n0", "a.n5"])
        #expect(layers.tree.find("a.n5")?.value.isSame(as: .int64(7)) == true)
        #expect(layers.tree.find("b")?.map === second["b"]?.map)
        #expect(try layers.apply(documents: [(1, document(2, like: second))], settings: []).isEmpty)
    }

    /// Equal values on other lines are no change; errors contain the new lines.
    @Test func otherLocationsAreNoChange() throws {
        func document(_ line: UInt32, like former: ConfigNode?) -> ConfigNode {
            ConfigNode(
                names: ["a"], nodes: [ConfigNode(.value(.int64(1)), at: Location(file: "f", line: line, column: 1))],
                at: Location(file: "f", line: 1, column: 1), like: former)
        }
        var layers = ConfigLayers()
        let first = document(3, like: nil)
        _ = try layers.apply(documents: [(1, first)], settings: [])
        #expect(try layers.apply(documents: [(1, document(9, like: first))], settings: []).isEmpty)
        #expect(layers.tree.find("a")?.location.line == 9)
    }

    @Test func aNullHasItsLocation() throws {
        let null = ConfigNode(.value(.null), at: Location(file: "f", line: 4, column: 2))
        var layers = ConfigLayers()
        _ = try layers.apply(documents: [(1, ConfigNode(names: ["a"], nodes: [null], at: Location()))], settings: [])
        #expect(layers.placeOfNull("a")?.line == 4 && layers.placeOfNull("b") == nil && layers.tree.find("a") == nil)
    }

    @Test func aNameThatAHostGivesTwiceIsThereOnce() {
        let node = ConfigNode(
            .map([("a", .map([("b", .int64(1))])), ("c", .int64(2)), ("a", .map([("d", .int64(3))]))]))
        #expect(node.value.isSame(as: .map([("a", .map([("b", .int64(1)), ("d", .int64(3))])), ("c", .int64(2))])))
    }
}
