import Invivo

/// An object of a case. It does not keep injected objects alive; the runtime does.
class Thing {
    private struct State {
        weak var left: Thing?
        weak var right: Thing?
        weak var input: Thing?
        var any = InvivoValue.null
        var number: Int64 = 0
        /// Of its setup.
        var children = 0
        var below: [WeakThing] = []
        var held: Object?
        var lamp = Light()
        var label = View()
        var constant = 0.0
    }
    /// The values of a lamp.
    struct Light {
        var gain = 0.0
        var share = 0.0
        var after = 0.0
        var color: Int64 = 0
        var frame: [String: Double] = [:]
        var place: [String: Double] = [:]
    }
    /// The values of a label.
    struct View {
        var radius = 0.0
        var masks = false
        var shadow: Int64 = 0
        var offset: [String: Double] = [:]
        var opacity = 0.0
        var background: Int64 = 0
        var font = ""
        var size = 0.0
        var textColor = ""
        var columns: Int64 = 0
    }
    private struct WeakThing { weak var thing: Thing? }

    let world: World
    let kind: String
    let given: InvivoValue
    private let state: Locked<State>

    required init(_ world: World, _ kind: String, _ input: Thing?, _ number: Int64, _ given: InvivoValue) throws {
        try world.event("\(kind).init")
        (self.world, self.kind, self.given) = (world, kind, given)
        state = Locked(State(input: input, number: number))
        world.born(kind)
    }

    deinit { world.died(kind) }

    func says(_ what: String) throws { try world.event("\(kind).\(what)") }

    var left: Thing? {
        get { state.withLock { $0.left } }
        set { state.withLock { $0.left = newValue } }
    }
    var right: Thing? {
        get { state.withLock { $0.right } }
        set { state.withLock { $0.right = newValue } }
    }
    var input: Thing? { state.withLock { $0.input } }
    var any: InvivoValue {
        get { state.withLock { $0.any } }
        set {
            // The former value is released outside of the lock.
            let former = state.withLock { state in
                defer { state.any = newValue }
                return state.any
            }
            withExtendedLifetime(former) {}
        }
    }
    var number: Int64 {
        get { state.withLock { $0.number } }
        set { state.withLock { $0.number = newValue } }
    }
    var lamp: Light {
        get { state.withLock { $0.lamp } }
        set { state.withLock { $0.lamp = newValue } }
    }
    var label: View {
        get { state.withLock { $0.label } }
        set { state.withLock { $0.label = newValue } }
    }
    /// Of a gap.
    var constant: Double {
        get { state.withLock { $0.constant } }
        set { state.withLock { $0.constant = newValue } }
    }
    var below: [Thing] { state.withLock { $0.below.compactMap(\.thing) } }
    func grow(_ child: Thing) { state.withLock { $0.below.append(WeakThing(thing: child)) } }
    /// Adds a child of its setup, in `left` or `right`, without an event.
    func adopt(_ child: Thing) {
        state.withLock { state in
            if state.children == 0 { state.left = child } else { state.right = child }
            state.children += 1
        }
    }
    func forgetChildren() {
        state.withLock { state in
            if state.children > 0 { (state.left, state.right) = (nil, nil) }
            state.children = 0
        }
    }
    /// Keeps objects that its code resolved.
    func hold(_ object: Object) { state.withLock { $0.held = object } }
}

final class Knight: Thing {}
final class Squire: Thing {}
final class Quest: Thing {}
final class Sword: Thing {}
final class Lance: Thing {}
final class Page: Thing {}
final class Branch: Thing {}
final class Needy: Thing {}
final class Strict: Thing {}
final class Port: Thing {}
final class Castle: Thing, @unchecked Sendable {}
final class Tower: Thing, @unchecked Sendable {}
final class Mill: Thing, @unchecked Sendable {}
final class Pump: Thing, @unchecked Sendable {}
final class Loom: Thing, @unchecked Sendable {}
final class Chest: Thing {}
final class Ledger: Thing {}
final class Vault: Thing {}
final class Camp: Thing {}
final class Tent: Thing {}
final class Court: Thing {}
final class Lamp: Thing {}
final class Label: Thing {}
final class Gap: Thing {}
final class Forge: Thing {}
final class Inn: Thing, @unchecked Sendable {}

/// One type of them, described to a runtime.
class ThingKind: @unchecked Sendable {
    let name: String
    fileprivate init(_ name: String) { self.name = name }

    /// Creates one without a runtime.
    func own(_ world: World, given: InvivoValue = .null) throws -> Thing { throw InvivoError(.internal, name) }
    func register(_ runtime: Runtime, _ world: World) throws {}
    /// Creates one without a definition, in a setup.
    func child(_ setup: Setup) throws -> Thing { throw InvivoError(.internal, name) }
    /// A definition by code, to which other parts are added.
    func recipe(
        _ scope: Scope?, _ add: Parts, _ make: @escaping @Sendable (Resolver) throws -> Object?, copiesFormer: Bool,
        _ world: World
    ) throws -> Recipe? { nil }

    static let all: [ThingKind] = [
        confined(Knight.self, "Thing"), confined(Squire.self, "Knight", "Thing"), confined(Quest.self, "Thing"),
        confined(Sword.self, "Weapon", "Thing"), confined(Lance.self, "Weapon", "Thing"),
        confined(Page.self, "Thing", with: hooks),
        confined(Branch.self, "Thing") { type in
            hooks(&type)
            type.parent { $0.left }
        },
        confined(Needy.self, "Thing") { $0.needs("left", .type(named: "Sword")) },
        confined(Strict.self, "Thing", isStrict: true), confined(Port.self, "Thing", with: life), shared(Castle.self),
        shared(Tower.self), shared(Mill.self, with: life), shared(Pump.self, with: life),
        shared(Loom.self) { type in
            type.prepare { try $0.says("prepare") }
            life(&type)
        },
        confined(Chest.self, "Thing"), confined(Ledger.self, "Chest", "Chest[Quest]", "Thing"),
        confined(Vault.self, "Thing") { $0.stands(for: "Chest") }, confined(Camp.self, "Thing", with: setups),
        confined(Tent.self, "Thing", with: setups),
        confined(Court.self, "Thing") { type in
            setups(&type)
            type.keepsChildren()
        },
        confined(Forge.self, "Thing") { type in
            setups(&type)
            life(&type)
            type.finalize { try $0.says("finalize") }
        },
        confined(Lamp.self, "Thing") { type in
            type.property("gain", \.lamp.gain, codec: .decibel)
            type.property("share", \.lamp.share, codec: .percent)
            type.property("after", \.lamp.after, codec: .duration)
            type.property("color", \.lamp.color, codec: .color)
            type.property("frame", \.lamp.frame, codec: .size)
            type.property("place", \.lamp.place, codec: .point)
        }, confined(Label.self, "Thing", with: view),
        confined(Gap.self, "Thing") { $0.property("constant", \.constant) },
        shared(Inn.self, with: setups),
    ]
    static func named(_ name: String) -> ThingKind? { all.first { $0.name == name } }

    private static func confined<Kind: Thing>(
        _ kind: Kind.Type, _ supertypes: String..., isStrict: Bool = false,
        with more: @escaping @Sendable (inout ObjectType<Kind>) -> Void = { _ in }
    ) -> ThingKind {
        OneKind<Kind> { world in
            ObjectType(confined: "\(kind)") { type in
                type.describe(world, supertypes, isStrict: isStrict)
                more(&type)
            }
        } code: { scope, make in
            switch scope {
            case .prototype?: Invivo.prototype(make)
            case .singleton?: Invivo.singleton(confined: make)
            case .lazySingleton?: Invivo.lazySingleton(confined: make)
            case .weakSingleton?: Invivo.weakSingleton(confined: make)
            default: Invivo.graph(make)
            }
        }
    }

    private static func shared<Kind: Thing & Sendable>(
        _ kind: Kind.Type, with more: @escaping @Sendable (inout ObjectType<Kind>) -> Void = { _ in }
    ) -> ThingKind {
        OneKind<Kind> { world in
            ObjectType("\(kind)") { type in
                type.describe(world, ["Thing"], isStrict: false)
                more(&type)
            }
        } code: { scope, make in
            switch scope {
            case .prototype?: Invivo.prototype(make)
            case .singleton?: Invivo.singleton(make)
            case .lazySingleton?: Invivo.lazySingleton(make)
            case .weakSingleton?: Invivo.weakSingleton(make)
            default: Invivo.graph(make)
            }
        }
    }

    private static func view<Kind: Thing>(_ type: inout ObjectType<Kind>) {
        type.property("radius", \.label.radius)
        type.property("masks", \.label.masks)
        type.property("shadow", \.label.shadow, codec: .color)
        type.property("offset", \.label.offset, codec: .size)
        type.property("opacity", \.label.opacity, in: 0...1)
        type.property("background", \.label.background, codec: .color)
        type.property("font", \.label.font)
        type.property("size", \.label.size)
        type.property("text_color", \.label.textColor)
        type.property(
            "columns", \.label.columns,
            verify: { if $0 % 2 != 0 { throw InvivoError(.range, "expected an even number") } })
    }

    private static func hooks<Kind: Thing>(_ type: inout ObjectType<Kind>) {
        type.willInject { try $0.says("will") }
        type.didInject { try $0.says("did") }
    }

    private static func setups<Kind: Thing>(_ type: inout ObjectType<Kind>) {
        type.setup { try $0.setUp($1) }
        type.teardown { try $0.says("teardown") }
        type.refresh { try $0.says("refresh") }
    }

    private static func life<Kind: Thing>(_ type: inout ObjectType<Kind>) {
        type.start { try $0.says("start") }
        type.stop { try $0.says("stop") }
    }
}

private final class OneKind<Kind: Thing>: ThingKind, @unchecked Sendable {
    typealias Make = @Sendable (Resolver) throws -> Kind
    private let described: @Sendable (World) -> ObjectType<Kind>
    private let code: @Sendable (Scope?, @escaping Make) -> Definition<Kind>

    init(
        _ described: @escaping @Sendable (World) -> ObjectType<Kind>,
        code: @escaping @Sendable (Scope?, @escaping Make) -> Definition<Kind>
    ) {
        (self.described, self.code) = (described, code)
        super.init("\(Kind.self)")
    }

    override func own(_ world: World, given: InvivoValue) throws -> Thing { try Kind(world, name, nil, 0, given) }

    override func register(_ runtime: Runtime, _ world: World) throws { try runtime.register(described(world)) }

    override func child(_ setup: Setup) throws -> Thing { try setup.child(making: Kind.self) }

    override func recipe(
        _ scope: Scope?, _ add: Parts, _ resolve: @escaping @Sendable (Resolver) throws -> Object?,
        copiesFormer: Bool, _ world: World
    ) throws -> Recipe? {
        let name = name
        return Recipe(
            try add.added(
                to: code(scope) { resolver in
                    try world.event("\(name).make")
                    let held = try resolve(resolver)
                    let made = try Kind(world, name, nil, 0, .null)
                    if let held { made.hold(held) }
                    if copiesFormer, let former = Runtime.former(Kind.self) { made.number = former.number + 1 }
                    return made
                }))
    }
}

extension ObjectType where Instance: Thing {
    fileprivate mutating func describe(_ world: World, _ supertypes: [String], isStrict: Bool) {
        for name in supertypes { supertype(name) }
        let kind = name
        if isStrict {
            make("input", "number", "given") { (input: Object, number: Int64?, given: InvivoValue) in
                try Instance(world, kind, try input.instance(as: Thing.self), number ?? 0, given)
            }
        } else {
            make("input", "number", "given") { (input: Object?, number: Int64?, given: InvivoValue) in
                try Instance(world, kind, try input?.instance(as: Thing.self), number ?? 0, given)
            }
        }
        property(
            "left", get: { Held($0.left) },
            set: { thing, value in
                try thing.says("left")
                thing.left = value.thing
            })
        property(
            "right", get: { Held($0.right) },
            set: { thing, value in
                try thing.says("right")
                thing.right = value.thing
            })
        property("any", get: { $0.any }, set: { $0.any = $1 })
        property("number", get: { $0.number }, set: { $0.number = $1 })
        property("input", get: { Held($0.input) }, set: nil)
        property("given", get: { $0.given }, set: nil)
        describeMethods(world)
    }

    private mutating func describeMethods(_ world: World) {
        method("note", "text") { (thing, text: String) in try thing.says("note(\(text))") }
        method("add", "number") { (thing, number: Int64) in
            try thing.says("add(\(number))")
            thing.number += number
        }
        method("resolve", "text") { (thing, key: String) in
            try thing.says("resolve")
            _ = try world.runtime().object(key)
        }
        method("make", "number") { (thing, number: Int64) -> InvivoValue in
            guard number != 0 else { return .null }
            let runtime = try world.runtime()
            return .object(try runtime.make(try runtime.type("Quest"), InvivoValue.null, number))
        }
        method("wrap", "object") { (thing, object: Object) -> Object in
            try world.runtime().make(try object.type, object, thing.number)
        }
        method("come", "object") { (thing, _: Object) in try thing.says("come") }
        method("go", "object") { (thing, _: Object) in try thing.says("go") }
        method("grow", "object") { (thing, child: Object) in thing.grow(try child.instance(as: Thing.self)) }
    }
}

/// The value of a property at the boundary: an object or null.
private struct Held: InvivoConvertible {
    let thing: Thing?
    init(_ thing: Thing?) { self.thing = thing }

    static var invivoShape: InvivoShape { InvivoShape(.object, isOptional: true) }
    static func fromInvivo(_ value: InvivoValue) throws(InvivoError) -> Held {
        Held(try value.get(Object?.self)?.instance(as: Thing.self))
    }
    func asInvivo() throws(InvivoError) -> InvivoValue { thing.map { .instance($0) } ?? .null }
}
