internal import CInvivo
internal import CSwiftRuntime

/// Whether every value of one Swift type is a value of another: of the same type, of a derived class, or of a
/// conforming type for a protocol. For protocols with constraints (`any P<Int>`), only the type itself qualifies.
func isKind(_ type: Any.Type, of wanted: Any.Type) -> Bool {
    if type == wanted { return true }
    func isMetatype<Wanted>(_ wanted: Wanted.Type) -> Bool { type is Wanted.Type }
    if wanted is AnyClass { return type is AnyClass && _openExistential(wanted, do: isMetatype) }
    guard let protocols = protocolMetatype(of: wanted) else { return false }
    func conforms<Metatype>(_ metatype: Metatype.Type) -> Bool { type is Metatype }
    return _openExistential(protocols, do: conforms)
}

/// `any P.Type` for `any P`; nil for a type that is no protocol. The first word of a type's metadata is its kind.
private func protocolMetatype(of type: Any.Type) -> Any.Type? {
    let metadata = unsafeBitCast(type, to: UnsafeRawPointer.self)
    guard metadata.load(as: UInt.self) == existentialKind else { return nil }
    return swift_getExistentialMetatypeMetadata(metadata).map { unsafeBitCast($0, to: Any.Type.self) }
}
private let existentialKind: UInt = 0x303

/// The name under which a Swift type is known to the runtime, and looked for.
func kindName(_ type: Any.Type) -> String { String(reflecting: type) }

extension InvivoObject {
    fileprivate static var typeName: String { invivoType.name }
}

extension Core {
    /// The name of a type for a lookup. From the first call on, it is declared as a supertype of every matching type.
    func typeQuery(_ wanted: Any.Type) throws(InvivoError) -> String {
        let name = queryName(wanted)
        try spread(wanted, name)
        return name
    }

    /// The name under which a type is registered, or will be.
    func queryName(_ wanted: Any.Type) -> String {
        if let described = registry.withLock({ $0.described[ObjectIdentifier(wanted)] }) {
            return TypeReference(self, invivo_type(bits: described)).name
        }
        return (wanted as? any InvivoObject.Type)?.typeName ?? kindName(wanted)
    }

    /// Declares a type as a supertype of all matching types.
    func spread(_ wanted: Any.Type, _ name: String) throws(InvivoError) {
        let identity = ObjectIdentifier(wanted)
        if registry.withLock({ $0.queried[identity] != nil }) { return }
        try registering.withLock { _ throws(InvivoError) in
            let types = registry.withLock { registry in
                registry.types.filter { isKind($0.value.value, of: wanted) && $0.value.name != name }.map(\.key)
            }
            for bits in types {
                try call(naming: name) { $0.pointee.type_extend(handle, invivo_type(bits: bits), $1, $2) }
            }
            registry.withLock { $0.queried[identity] = (wanted, name) }
        }
    }

    /// The names of the known supertypes of a type.
    func supertypes(_ type: Any.Type, but name: String) -> [String] {
        registry.withLock { registry in
            registry.queried.values.filter { isKind(type, of: $0.type) && $0.name != name }.map(\.name)
        }.sorted()
    }
}
