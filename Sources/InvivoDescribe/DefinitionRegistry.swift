public import CInvivo
public import InvivoBase
public import InvivoGraph
public import InvivoWiring

/// The part of a runtime that readers of definitions use: ids of keys, registered types and scopes.
public protocol DefinitionRegistry: AnyObject {
    var names: KeyNames { get }
    /// The id of a key; a new one where the key has none.
    func intern(_ name: String) throws(Failure) -> UInt32
    func type(named name: String) throws(Failure) -> ObjectType
    /// Fails where the host has registered no scope of this name or, for contexts, no kind.
    func requireScope(_ scope: Scope, named name: String) throws(Failure)
}

extension DefinitionRegistry {
    /// The type of a handle. Fails for a type of another runtime.
    public func type(of handle: invivo_type) throws(Failure) -> ObjectType {
        let description = try TypeDescription.find(handle.bits)
        let found = try type(named: description.name)
        guard found.description === description else {
            throw Failure(.handle, "the type '\(description.name)' belongs to another runtime")
        }
        return found
    }
}

extension Registry: DefinitionRegistry {
    public func requireScope(_ scope: Scope, named name: String) throws(Failure) {
        if let failure = scopes.failure(scope, name) { throw failure }
    }
}
