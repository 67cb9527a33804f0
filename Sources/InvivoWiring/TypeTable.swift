internal import InvivoBase
internal import InvivoGraph

/// The types of a runtime, by name. Its functions are called with the monitor of the runtime held.
final class TypeTable: Sendable {
    private let types: Guarded<NameTable<ObjectType>>
    private let verifies: Guarded<Bool>
    private let closing: Closing

    init(_ monitor: Monitor, _ closing: Closing) {
        types = .init([:], by: monitor)
        verifies = .init(false, by: monitor)
        self.closing = closing
    }

    func register(_ type: ObjectType) throws(Failure) {
        try types.held { (types) throws(Failure) in
            try closing.refuse()
            guard types[type.name] == nil else {
                throw Failure(.exists, "the type '\(type.name)' is registered already")
            }
            types[type.name] = type
        }
        if type.description.properties.contains(where: \.isVerifiedByHost) { verifies.held { $0 = true } }
    }

    /// Whether the host checks values of a property of a type.
    var areVerifiedByHost: Bool { verifies.held { $0 } }

    func find(_ name: String) -> ObjectType? { types.held { $0[name] } }

    /// The type of a name; an unknown one is an error that names the nearest.
    func type(named name: String) throws(Failure) -> ObjectType {
        try types.held { (types) throws(Failure) -> ObjectType in
            if let type = types[name] { return type }
            if closing.hasBegun { throw Failure(.closed, "the runtime is closed") }
            throw Failure(
                .notFound, "no type '\(name)' is registered\(suggestion(for: name, among: types.keys.sorted()))")
        }
    }

    /// Calls `body` with the source of each property that a type declares as a need.
    func forEachNeed(_ body: (Injection.Source) -> Void) {
        for type in types.held({ $0 }).values {
            for need in type.needs { body(need.source) }
        }
    }

    /// Removes all. The caller drops the result without the monitor.
    func removeAll() -> NameTable<ObjectType> {
        types.held { types in
            defer { types = [:] }
            return types
        }
    }
}
