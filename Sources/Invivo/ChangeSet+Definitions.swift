internal import CInvivo

extension ChangeSet {
    /// Defines a key outside of assemblies: `changes.define("synth.clock", as: component("Clock"))`. The definition
    /// refers to others by keys or types.
    @discardableResult
    public func define<Value, each Argument>(
        _ key: String, as definition: Definition<Value, repeat each Argument>
    ) throws(InvivoError) -> Key<Value> {
        core.key(try define(key, definition.draft), key, as: Value.self)
    }
}

extension Runtime {
    /// Defines a key, as a reload.
    @discardableResult
    public func define<Value, each Argument>(
        _ key: String, as definition: Definition<Value, repeat each Argument>
    ) throws(InvivoError) -> Key<Value> {
        let changes = try ChangeSet(core)
        let key = try changes.define(key, as: definition)
        try changes.commit()
        return key
    }
}
