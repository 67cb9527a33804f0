public import InvivoBase
internal import Synchronization

/// A trait document: for each target, its traits in their order. Only the form is checked here. InvivoTraits knows the
/// trait types and properties.
///
///     traits:
///       synth.lead:
///         - Set: { gain: 0.5, cutoff: 1.2 kHz }
///         - { type: Set, wave: saw }
///
/// The form of the Traits library is accepted, too: `{"specs": {"synth.lead": [{"type": "Set", "gain": 0.5}]}}`.
public struct TraitDocument: Sendable {
    /// The map under `config:`, with values of every kind.
    public let config: SpecNode?
    /// The files under `include:`, in their order.
    public let includes: [SpecReference]
    /// The entries under `wiring:`, in their order.
    public let wiring: [WiringEntry]
    /// The map of targets; nil if the document has none.
    private let targets: SpecNode?
    /// One for each target, in the same order. Versions of a document share the origins of targets whose traits are the same.
    private let origins: ContiguousArray<TraitOrigin>

    /// The configuration paths that conditions read, of traits that were not in the former version.
    public let conditions: [String]
    /// The environment variables that the document names.
    public let variables: [String]

    /// An empty document, which names environment variables.
    public init(naming variables: [String] = []) {
        (config, includes, wiring, targets, origins) = (nil, [], [], nil, [])
        (conditions, self.variables) = ([], variables)
    }

    /// Reports all errors at once, as `.spec`. Traits that are the same in a former version of the document are not
    /// checked again.
    public init(_ document: SpecDocument, like former: TraitDocument? = nil) throws(Failure) {
        var failure: Failure?
        try self.init(document, like: former, &failure)
        if let failure { throw failure }
    }

    /// Creates a document of the parts that are well-formed. `failure` receives all errors of the others.
    public init(_ document: SpecDocument, like former: TraitDocument?, _ failure: inout Failure?) throws(Failure) {
        var checker = DocumentChecker()
        targets = Self.targets(of: document.root, &checker)
        origins = try Self.origins(of: targets, like: former, &checker)
        config = Self.config(of: document.root, &checker)
        includes = SpecReference.includes(of: document.root, &checker)
        wiring = WiringEntry.entries(of: document.root, &checker)
        conditions = checker.conditions
        variables = document.variables
        failure = checker.failures.gathered
    }

    public static func read(
        _ bytes: UnsafeRawBufferPointer, file: String, format: SpecFormat, limits: SpecLimits = SpecLimits()
    ) throws(Failure) -> TraitDocument {
        try TraitDocument(SpecReader.read(bytes, file: file, format: format, limits: limits))
    }

    /// Whether the document has no targets.
    public var isEmpty: Bool { origins.isEmpty }

    /// The keys of the targets, in their order.
    public var keys: [String] { targets?.entries?.map(\.key) ?? [] }

    public func contains(_ target: String) -> Bool { targets?[target] != nil }

    /// The traits of a target; nil if the document does not have it. They are read from the tree at each use.
    public subscript(target: String) -> TraitEntry? {
        get throws(Failure) {
            guard let targets, let (number, key) = targets.tree.find(target, in: targets.index) else { return nil }
            // Errors were reported when the document was read.
            var checker = DocumentChecker()
            return try Self.entry(targets.tree, key, origins[number], &checker)
        }
    }

    /// The targets whose traits differ from those of a former version of the document, wherever they stand.
    public func changedTargets(since former: TraitDocument) -> NameSet {
        var changed: NameSet = []
        guard let targets else { return NameSet(former.keys) }
        var known = 0
        for (target, match) in TargetPairs(targets, former.targets) {
            if let match {
                known += 1
                if origins[target.number] === former.origins[match.number] { continue }
            }
            changed.insert(targets.tree.string(target.key))
        }
        guard known < former.origins.count else { return changed }
        for key in former.keys where !contains(key) { changed.insert(key) }
        return changed
    }

    /// Gives layers of traits that several versions of the document share the source locations of this version.
    public func adoptLocations() {
        guard let targets else { return }
        for target in TargetSequence(targets) { origins[target.number].move(to: targets.tree, target.key) }
    }
}

/// The targets of a document in their order.
private struct TargetSequence: Sequence, IteratorProtocol {
    /// One target: its number, from 0, and the index of its key.
    typealias Target = (number: Int, key: Int)

    private let tree: SpecTree
    private let end: Int
    private var number = 0
    private var key: Int

    init(_ map: SpecNode) {
        tree = map.tree
        end = map.tree.end(map.index)
        key = map.index + 1
    }

    mutating func next() -> Target? {
        guard key < end else { return nil }
        defer { skip((number, key)) }
        return (number, key)
    }

    /// Continues after a target.
    mutating func skip(_ target: Target) {
        number = target.number + 1
        key = tree.end(target.key + 1)
    }
}

/// The targets of a document, each with its match in a former version. Most versions have the same targets in the same order, so
/// the next match is expected after the last one.
private struct TargetPairs: Sequence, IteratorProtocol {
    private let tree: SpecTree
    private var targets: TargetSequence
    private let former: SpecNode?
    private var formerTargets: TargetSequence?

    init(_ targets: SpecNode, _ former: SpecNode?) {
        tree = targets.tree
        self.targets = TargetSequence(targets)
        self.former = former
        formerTargets = former.map(TargetSequence.init)
    }

    mutating func next() -> (target: TargetSequence.Target, match: TargetSequence.Target?)? {
        guard let target = targets.next() else { return nil }
        return (target, match(target))
    }

    private mutating func match(_ target: TargetSequence.Target) -> TargetSequence.Target? {
        guard let former else { return nil }
        var following = formerTargets
        if let expected = following?.next(), tree.isSame(target.key, as: former.tree, expected.key) {
            formerTargets = following
            return expected
        }
        guard let found = former.tree.find(tree.string(target.key), in: former.index) else { return nil }
        formerTargets?.skip(found)
        return found
    }
}

/// The traits of one target.
public struct TraitEntry: Sendable {
    public let target: String
    public let targetLocation: Location
    public let traits: [TraitSpec]
}

/// The source location of the traits of one target. An edit of the document that does not change the traits moves it.
public final class TraitOrigin: Sendable {
    /// The index of the target's key in its tree.
    private let current: Mutex<(tree: SpecTree, key: Int)>

    init(_ tree: SpecTree, _ key: Int) { current = Mutex((tree, key)) }

    func move(to tree: SpecTree, _ key: Int) { current.withLock { $0 = (tree, key) } }

    func location(_ offset: Int) -> Location {
        let (tree, key) = current.withLock { $0 }
        return tree.location(key + offset)
    }

    func variables(_ offset: Int) -> VariableText? {
        let (tree, key) = current.withLock { $0 }
        return tree.anyVariables(key + offset)
    }
}

/// The location of a value in the traits of a target, in the version of the document that is in effect.
public struct TraitLocation: Sendable {
    private let origin: TraitOrigin?
    private let offset: Int32
    /// Whether the value comes from a secret, of which its node alone does not tell.
    private let isSecret: Bool

    /// No location.
    public init() { (origin, offset, isSecret) = (nil, 0, false) }

    init(_ origin: TraitOrigin, offset: Int) { self.init(origin, Int32(clamping: offset), isSecret: false) }

    private init(_ origin: TraitOrigin?, _ offset: Int32, isSecret: Bool) {
        (self.origin, self.offset, self.isSecret) = (origin, offset, isSecret)
    }

    /// The same location, of a value that comes from a secret if `isSecret`.
    public func marked(isSecret: Bool) -> TraitLocation { TraitLocation(origin, offset, isSecret: isSecret) }

    public var location: Location { origin?.location(Int(offset)) ?? Location() }

    /// The part that environment variables, files and secrets have in the value; nil if they have none.
    public var variables: VariableText? {
        let variables = origin?.variables(Int(offset))
        return isSecret ? VariableText.marking(variables, isSecret: true) : variables
    }
}

/// One trait: its type and its parameters, the same for the short and the long form.
public struct TraitSpec: Sendable {
    public let type: String
    public let typeLocation: Location
    public let parameters: [SpecEntry]
    public let location: Location
    /// Its key path in the document, "traits.synth.lead[0]", and that of the map of its parameters, which the short form
    /// has under the trait's name, for errors found later.
    public let path: String
    public let parametersPath: String
    let origin: TraitOrigin
    /// The index of the target's key.
    let key: Int
    /// The index of the trait.
    let index: Int

    /// Its location, which remains valid when the document is edited.
    public var trackedLocation: TraitLocation { TraitLocation(origin, offset: index - key) }

    /// The location of one of its values, which remains valid when the document is edited.
    public func location(of value: SpecNode) -> TraitLocation { TraitLocation(origin, offset: value.index - key) }

    /// The key path of a parameter, or of a value nested in it.
    public func path(of keys: [String]) -> String {
        keys.reduce(SpecPath(text: parametersPath)) { $0.key($1) }.text
    }
}

extension TraitDocument {
    /// The key of the map of targets: "traits", or "specs" in the form of the Traits library.
    static func section(of root: SpecNode) -> String { root["specs"] == nil ? "traits" : "specs" }

    private static func targets(of root: SpecNode, _ checker: inout DocumentChecker) -> SpecNode? {
        let section = section(of: root)
        let known = [section, "config", "wiring", "include"]
        let keys = "the keys 'traits', 'config', 'wiring' and 'include'"
        let path = SpecPath()
        guard let map = checker.map(root, "with \(keys)", path: path) else { return nil }
        if map.contains(where: { ["modules", "assemblies", "components", "decorators"].contains($0.key) }) {
            checker.fail(
                "'\(root.location.file)' is an application manifest, not a spec file; a spec file has \(keys)",
                path: path,
                at: root.location)
            return nil
        }
        if section == "specs", let other = map.first(where: { $0.key == "traits" }) {
            checker.fail("'traits' and 'specs' are the same key: give one of them", path: path, at: other.keyLocation)
            return nil
        }
        checker.refuseUnknownKeys(map, known: known, path: path)
        guard let traits = map[section] else {
            // An unknown key is most likely a misspelt one, and then already noted.
            if !map.isEmpty && !map.contains(where: { known.contains($0.key) }) && checker.failures.isEmpty {
                checker.fail("the key 'traits' is missing", path: path, at: root.location)
            }
            return nil
        }
        guard traits.isMap else {
            checker.expected(
                "a map of targets and their lists of traits", traits, path: path.key(section),
                hint: "write {} if no trait is to hold")
            return nil
        }
        return traits
    }

    private static func origins(
        of targets: SpecNode?, like former: TraitDocument?, _ checker: inout DocumentChecker
    ) throws(Failure) -> ContiguousArray<TraitOrigin> {
        var origins: ContiguousArray<TraitOrigin> = []
        guard let targets else { return origins }
        let tree = targets.tree
        var steps = LoadSteps()
        for (target, match) in TargetPairs(targets, former?.targets) {
            try steps.step()
            if let former, let match, let known = former.targets?.tree,
                tree.isSame(target.key + 1, as: known, match.key + 1)
            {
                origins.append(former.origins[match.number])
            } else {
                let origin = TraitOrigin(tree, target.key)
                _ = try entry(tree, target.key, origin, &checker)
                origins.append(origin)
            }
        }
        return origins
    }

    /// The maximum number of names in a path: each is a map around the next.
    private static let mostNames = 64

    static func config(of root: SpecNode, _ checker: inout DocumentChecker) -> SpecNode? {
        guard let node = root["config"] else { return nil }
        let path = SpecPath().key("config")
        let hint = "write {} if nothing is configured"
        guard let entries = checker.map(node, "of assemblies and their values", path: path, hint: hint) else {
            return nil
        }
        var isSound = true
        for entry in entries {
            guard checker.checkName(entry, "the name of an assembly", path: path) else {
                isSound = false
                continue
            }
            let names = entry.key.split(separator: ".", omittingEmptySubsequences: false)
            if names.contains("") || names.count > mostNames { isSound = false }
            if names.contains("") {
                checker.fail(
                    "expected names joined by dots, found \(quotedName(entry.key))", path: path, at: entry.keyLocation)
            } else if names.count > mostNames {
                checker.fail(
                    "a path leads through at most \(mostNames) names, not \(names.count)", path: path,
                    at: entry.keyLocation)
            }
        }
        return isSound ? node : nil
    }

    private static func entry(
        _ tree: SpecTree, _ key: Int, _ origin: TraitOrigin, _ checker: inout DocumentChecker
    ) throws(Failure) -> TraitEntry? {
        let entry = SpecEntry(tree, key)
        var path = SpecPath().key(section(of: SpecNode(tree, 0)))
        guard checker.checkName(entry, "the key of a target", path: path) else { return nil }
        path = path.key(entry.key)
        let hint = "write [] if no trait is to hold for it"
        if let value = entry.value.entries {
            let first = value.first.map { ", as in '- \(SpecPath().key($0.key).text): ...'" } ?? ""
            let message = "expected a list of traits, found a map; begin each trait with '- '\(first)"
            checker.fail(message, path: path, at: entry.value.location)
            return nil
        }
        guard let items = checker.list(entry.value, "of traits", path: path, hint: hint) else { return nil }
        let traits = try traits(items, path: path, (origin, key), &checker)
        return TraitEntry(target: entry.key, targetLocation: entry.keyLocation, traits: traits)
    }

    /// Reads the items of a list of traits.
    static func traits(
        _ items: [SpecNode], path: SpecPath, _ target: (origin: TraitOrigin, key: Int),
        _ checker: inout DocumentChecker
    ) throws(Failure) -> [TraitSpec] {
        var traits: [TraitSpec] = []
        for (index, item) in items.enumerated() {
            try Loading.check()
            guard let trait = trait(item, path: path.item(index), target, &checker) else { continue }
            try trait.checkNested(&checker)
            traits.append(trait)
        }
        return traits
    }

    private static func trait(
        _ item: SpecNode, path: SpecPath, _ target: (origin: TraitOrigin, key: Int), _ checker: inout DocumentChecker
    ) -> TraitSpec? {
        let form = "such as 'Set: { gain: 0.5 }'"
        guard let entries = item.entries, let first = entries.first else {
            checker.expected("a trait \(form)", item, path: path, advice: bareName(item))
            return nil
        }
        if let type = entries.first(where: { $0.key == "type" }) {
            guard type.value.variables == nil else {
                checker.fail(
                    "the name of a trait cannot contain an environment variable; write the name",
                    path: path.key("type"),
                    at: type.value.location)
                return nil
            }
            guard let name = checker.text(type.value, "the name of a trait", path: path.key("type")) else { return nil }
            return TraitSpec(
                type: name, typeLocation: type.value.location, parameters: entries.filter { $0.key != "type" },
                location: item.location, path: path.text, parametersPath: path.text,
                origin: target.origin, key: target.key, index: item.index)
        }
        guard entries.count == 1 else {
            var message = "expected one trait \(form), found the keys \(shown(entries))"
            message +=
                first.value.isNull
                ? "; indent the parameters deeper than the trait's name"
                : "; begin each trait with '- ', or give its name by 'type:'"
            checker.fail(message, path: path, at: entries[1].keyLocation)
            return nil
        }
        guard checker.checkName(first, "the name of the trait", path: path) else { return nil }
        if !first.value.isNull && !first.value.isMap {
            checker.expected("the parameters as a map, \(form)", first.value, path: path.key(first.key))
            return nil
        }
        return TraitSpec(
            type: first.key, typeLocation: first.keyLocation, parameters: first.value.entries ?? [],
            location: item.location,
            path: path.text, parametersPath: path.key(first.key).text, origin: target.origin, key: target.key,
            index: item.index)
    }

    /// The advice for the name of a trait without a map of its parameters.
    private static func bareName(_ item: SpecNode) -> String {
        guard let name = item.text, !name.isEmpty, !item.hasVariables, ContentQuoting.isAllowedForForm else {
            return ""
        }
        let isName = name.utf8.allSatisfy { byte in
            UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
                || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
        }
        return isName ? "; write a trait without parameters as '\(name): {}'" : ""
    }

    private static func shown(_ entries: [SpecEntry]) -> String {
        entries.map { quotedName($0.key) }.listed(most: 4)
    }
}
