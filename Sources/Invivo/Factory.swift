internal import CInvivo

/// The Swift closures with which a definition creates its instances and injects into them. Lives as long as the
/// definition.
final class Factory: @unchecked Sendable {
    private let core: Core
    private let home: Resolver.Home?
    /// Whether the instance is known again by its key.
    private let remembers: Bool
    private let make: Draft.Make?
    /// The initializer for build plans.
    let direct: Draft.Direct?
    /// The method of the assembly that creates the object; nil otherwise.
    private let member: MemberToken?
    private let inject: [@Sendable (AnyObject, Resolver) throws -> Void]

    /// Nil if a factory would do nothing.
    init?(
        _ core: Core, _ home: Resolver.Home?, remembers: Bool,
        inject: [@Sendable (AnyObject, Resolver) throws -> Void] = [],
        direct: Draft.Direct? = nil, member: MemberToken? = nil, make: Draft.Make?
    ) {
        guard make != nil || !inject.isEmpty else { return nil }
        self.core = core
        self.home = home
        self.remembers = remembers
        self.make = make
        self.direct = direct
        self.member = member
        self.inject = inject
    }

    private static func of(_ data: UnsafeMutableRawPointer) -> Factory {
        Unmanaged<Factory>.fromOpaque(data).takeUnretainedValue()
    }

    /// Attaches the factory to a definition. If the definition is accepted, it releases the pointer; otherwise the
    /// caller does.
    func attach(to definition: inout invivo_definition) -> Unmanaged<Factory> {
        let pointer = Unmanaged.passRetained(self)
        definition.user_data = pointer.toOpaque()
        definition.destroy = { data in if let data { Unmanaged<Factory>.fromOpaque(data).release() } }
        if make != nil { definition.factory = Self.makes }
        attachInjection(&definition)
        return pointer
    }

    /// One function for all Swift definitions, by whose address they are recognized in an outline.
    private static let makes:
        @convention(c) (
            UnsafeMutablePointer<UnsafeMutableRawPointer?>?, UnsafePointer<invivo_build>?, UnsafePointer<invivo_value>?,
            Int, UnsafeMutableRawPointer?, ErrorOut?
        ) -> invivo_status = { instance, build, arguments, count, data, error in
            guard let data, let instance else { return InvivoError.Code.internal.rawValue }
            let factory = Factory.of(data)
            return answering(factory.core, error) {
                let made = try factory.made(build, arguments, count)
                instance.pointee = made.map { Unmanaged.passRetained($0).toOpaque() }
            }
        }

    /// The factory behind the numbers of an outline; nil when it belongs to another language or copy of the package.
    static func own(_ function: UInt64, _ data: UInt64) -> Factory? {
        guard function == UInt64(UInt(bitPattern: unsafeBitCast(makes, to: UnsafeRawPointer.self))),
            let pointer = UnsafeRawPointer(bitPattern: UInt(data))
        else { return nil }
        return Unmanaged<Factory>.fromOpaque(pointer).takeUnretainedValue()
    }

    private func attachInjection(_ definition: inout invivo_definition) {
        if !inject.isEmpty {
            definition.inject = { instance, build, arguments, count, data, error in
                guard let data, let instance else { return InvivoError.Code.internal.rawValue }
                let factory = Factory.of(data)
                return answering(factory.core, error) {
                    guard let type = build?.pointee.type, factory.core.isOwn(type) else {
                        throw InvivoError(
                            .unsupported, "code in Swift injects into objects of Swift classes; say properties by names"
                        )
                    }
                    let object = Unmanaged<AnyObject>.fromOpaque(instance).takeUnretainedValue()
                    try CurrentRuntime.replacing(factory.core, build) {
                        for inject in factory.inject { try inject(object, Resolver(factory.core, factory.home)) }
                    }
                }
            }
        }
    }

    private func made(
        _ build: UnsafePointer<invivo_build>?, _ arguments: UnsafePointer<invivo_value>?, _ count: Int
    ) throws -> AnyObject? {
        guard let make else { return nil }
        var reader = Arguments(arguments, count, core)
        // Objects that the factory creates by hand find their runtime, too.
        let object = try CurrentRuntime.creating(core, build) { [core, home, member] in
            try MemberFrame.making(member) { try make(Resolver(core, home), &reader) }
        }
        if remembers, let object, let key = build?.pointee.key, key.bits != 0 { core.remember(object, as: .key(key)) }
        return object
    }
}

/// An additional method of every Swift type: it calls a closure with the object and the injections.
enum CodeMethod {
    static let name = "invivo:call"

    static func described(_ arena: Arena, box: TypeBox) throws(InvivoError) -> invivo_method {
        var method = invivo_method()
        method.struct_size = MemoryLayout<invivo_method>.size
        method.name = try arena.name(name)
        let parameters = [
            invivo_parameter(
                name: try arena.name("step"), kind: InvivoKind.callable.rawValue, flags: 0, type_name: nil),
            invivo_parameter(name: try arena.name("values"), kind: InvivoKind.list.rawValue, flags: 0, type_name: nil),
        ]
        method.parameters = UnsafePointer(arena.table(parameters))
        method.parameter_count = 2
        method.result = InvivoKind.null.rawValue
        method.user_data = Unmanaged.passUnretained(box).toOpaque()
        method.call = { instance, data, arguments, count, _, error in
            guard let instance, let data, let arguments, count == 2 else { return InvivoError.Code.internal.rawValue }
            let core = Unmanaged<TypeBox>.fromOpaque(data).takeUnretainedValue().core
            return answering(core, error) {
                let list = arguments[1].as.list
                var reader = Arguments(list.items, Int(list.count), core)
                let object = Unmanaged<AnyObject>.fromOpaque(instance).takeUnretainedValue()
                try Callable.known(arguments[0].as.callable, core).run(on: object, &reader)
            }
        }
        return method
    }
}
