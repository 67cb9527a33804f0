import Invivo
import Testing

private final class Ticker: Sendable {}

private final class Part: @unchecked Sendable {
    var clock: Ticker?
    var steps: [String] = []
    var title = ""
    var asked = 0
    let name: String
    let below: [Part]
    init(_ name: String = "part", _ below: [Part] = []) {
        self.name = name
        self.below = below
    }

    static let clockProperty = "clock"
    static let type = ObjectType<Part>("NeedyPart") { type in
        type.make { Part() }
        type.property("title", \.title)
        type.property(
            "clock", get: { _ in InvivoValue.null },
            set: { part, value in part.clock = try value.get(Object.self).instance(as: Ticker.self) })
        type.needs("clock", .type(Ticker.self))
        type.willInject { $0.steps.append("will") }
        type.takeResolver { part, resolver in
            part.steps.append("takes \(try resolver("app.clock", as: Ticker.self) === part.clock)")
        }
        type.didInject { $0.steps.append("did \($0.clock != nil)") }
        type.children { part in
            part.asked += 1
            return part.below
        }
        type.key { part in
            if part.name.hasPrefix("wants ") { return String(part.name.dropFirst(6)) }
            return part.name == "named" ? "ui.named" : nil
        }
    }
}

private final class Mixer: @unchecked Sendable {
    var names: [String] = []
    static let type = ObjectType<Mixer>("HearingMixer") { type in
        type.make { Mixer() }
        type.property(
            "channels", get: { _ in [InvivoValue]() },
            set: { mixer, channels in
                mixer.names = try channels.map { try $0.get(Object.self).instance(as: Channel.self).name }
            })
        type.method("add", "channel") { mixer, channel in
            mixer.names.append("+" + (try (channel as InvivoValue).get(Object.self).instance(as: Channel.self).name))
        }
        type.method("remove", "channel") { mixer, channel in
            mixer.names.append("-" + (try (channel as InvivoValue).get(Object.self).instance(as: Channel.self).name))
        }
    }
}
private final class Channel: Sendable {
    let name: String
    init(_ name: String) { self.name = name }
    func copy() -> Channel { Channel("copy of \(name)") }
    static let type = ObjectType<Channel>("HeardChannel") { type in
        type.method("copy") { channel in try InvivoValue.object(Object.of(channel.copy())) }
    }
}
extension Object {
    fileprivate static func of(_ instance: AnyObject) throws -> Object {
        guard let runtime = Runtime.default else { throw InvivoError(.notReady, "no default") }
        return try runtime.object(for: instance)
    }
}

extension SwiftAPI {
    /// The creation of objects of described types.
    @Suite struct DescribedTypeTests {
        @Test func theMembersOfATypeCanBeRead() throws {
            final class Amp {
                var gain = 0.5
                var count: Int64 = 3
            }
            try withRuntime { runtime throws in
                try runtime.register(
                    ObjectType<Amp>(confined: "SpokenAmp") { type in
                        type.make("gain") { (gain: Double) in Amp() }
                        type.property("gain", \.gain, in: 0...2, step: 0.1, unit: "dB", text: "How loud", was: ["loud"])
                        type.property("count", \.count)
                        type.method("louder", "by", text: "Louder") { (amp: Amp, by: Double) in amp.gain + by }
                    })
                let type = try runtime.type("SpokenAmp")
                #expect(type.properties.map(\.name) == ["gain", "count"])
                let gain = try #require(type.properties.first)
                #expect(gain.kind == .double && gain.minimum == 0 && gain.maximum == 2 && gain.step == 0.1)
                #expect(gain.unit == "dB" && gain.text == "How loud" && gain.was == ["loud"] && !gain.isReadOnly)
                #expect(type.properties.last?.kind == .int64 && type.properties.last?.maximum == nil)
                #expect(type.parameters.map(\.name) == ["gain"] && type.parameters.first?.kind == .double)
                let method = try #require(type.methods.first)
                #expect(type.methods.count == 1 && method.name == "louder" && method.text == "Louder")
                #expect(method.parameters.map(\.name) == ["by"] && method.result == .double)
            }
        }

        @Test func aTypesNeedsAreFilledWhereverItsObjectsAreMadeUnlessTurnedOff() throws {
            try withRuntime { runtime in
                let clock: Key<Ticker> = try runtime.define("app.clock") { _ in Ticker() }
                let part = try runtime.make(runtime.register(Part.type)).instance(as: Part.self)
                #expect(try part.clock === runtime.resolve(clock))
                #expect(part.steps == ["will", "takes true", "did true"])
            }
            var options = Runtime.Options()
            options.fillsInjected = false
            try withRuntime(options) { runtime in
                try runtime.define("app.clock") { _ in Ticker() }
                try runtime.define("app.part", Part.type)
                let part: Part = try runtime.resolve("app.part")
                #expect(part.clock == nil && part.steps == ["will", "takes false", "did false"])
            }
        }

        @Test func aTreeIsTraversedByItsTypes() throws {
            try withRuntime { runtime in
                try runtime.define("app.clock") { _ in Ticker() }
                try runtime.define("ui.part", Part.type, scope: .prototype, properties: ["title": .value("any")])
                try runtime.define("ui.other", Part.type, scope: .prototype)
                try runtime.define("ui.named", Part.type, scope: .prototype, properties: ["title": .value("named")])
                let root = Part("root", [Part("named"), Part("leaf")])
                let error = failure { try runtime.injectTree(root, as: "ui.part") }
                #expect(error.description.contains("NeedyPart"))
                try runtime.remove("ui.other")
                try runtime.remove("ui.named")
                try runtime.changes { changes in
                    try changes.remove("ui.part")
                    try changes.define("ui.named", Part.type, scope: .prototype, properties: ["title": .value("named")])
                }
                try runtime.injectTree(root)
                #expect(([root] + root.below).map(\.title) == ["named", "named", "named"])
                #expect(root.below.allSatisfy { $0.clock != nil })
            }
        }

        @Test func childrenOfAnObjectAreRequestedOnce() throws {
            try withRuntime { runtime in
                try runtime.define("app.clock") { _ in Ticker() }
                try runtime.register(Part.type)
                let root = Part("root", (0..<100).map { Part("part \($0)", [Part("leaf")]) })
                try runtime.injectTree(root)
                #expect(root.below.allSatisfy { $0.clock != nil && $0.below[0].clock != nil })
                #expect(root.asked == 1 && root.below.allSatisfy { $0.asked == 1 && $0.below[0].asked == 1 })
            }
        }

        @Test func aKeyThatATreeNamesInVainIsNotKept() throws {
            try withRuntime { runtime in
                try runtime.define("app.clock") { _ in Ticker() }
                try runtime.register(Part.type)
                func inject(_ numbers: Range<Int>) {
                    for number in numbers {
                        let part = Part("wants ui.\(String(repeating: "name", count: 256))\(number)")
                        #expect(failure { try runtime.injectTree(part) }.code == .notFound)
                    }
                }
                inject(0..<1000)
                let before = allocatedBytes()
                inject(1000..<9000)
                #expect(allocatedBytes() - before < 500_000)
            }
        }

        @Test func aListMayBeNotifiedOfChanges() throws {
            try withRuntime { runtime in
                try runtime.define("app.one") { _ in Channel("one") }
                try runtime.define(
                    "app.mixer", Mixer.type,
                    properties: ["channels": .all(Channel.self).hearing(added: "add", removed: "remove")])
                let mixer: Mixer = try runtime.resolve("app.mixer")
                #expect(mixer.names == ["one"])
                try runtime.define("app.two") { _ in Channel("two") }
                #expect(mixer.names == ["one", "+two"])
                try runtime.remove("app.one")
                #expect(mixer.names == ["one", "+two", "-one"])
            }
        }

        @Test func aMethodOfAnyObjectMakes() throws {
            final class Copies: Assembly {
                let one = lazySingleton { Channel("one") }
                let copy = made(Channel.self, by: .member(\Copies.one), "copy", scope: .lazySingleton)
                let given = made(Channel.self, by: .argument(0), "copy", scope: .prototype, taking: Channel.self)
            }
            try withRuntime { runtime in
                try runtime.register(Channel.type)
                Runtime.default = runtime
                defer { Runtime.default = nil }
                let copies = try runtime.activate(Copies())
                #expect(try copies.copy().name == "copy of one")
                #expect(try copies.given(copies.copy()).name == "copy of copy of one")
            }
        }

        @Test func aScopeIsNotifiedOfKeptAndDroppedObjects() throws {
            final class Shop: Assembly {
                let basket = lazySingleton { Channel("basket") }.inScope("request")
            }
            try withRuntime { runtime in
                let log = Log<String>()
                try runtime.scope(
                    "request",
                    keep: { place, key, object in
                        log.add("keep \(place) \(key) \((try? object.instance(as: Channel.self).name) ?? "?")")
                    }, drop: { place, key in log.add("drop \(place) \(key)") }, find: { 7 })
                let shop = try runtime.activate(Shop())
                #expect(try shop.basket() === shop.basket())
                #expect(log.all == ["keep 7 shop.basket basket"])
                try runtime.endScope("request", at: 7)
                #expect(log.all == ["keep 7 shop.basket basket", "drop 7 shop.basket"])
            }
        }
    }
}
