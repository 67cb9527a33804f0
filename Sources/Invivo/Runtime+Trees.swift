internal import CInvivo

extension Runtime {
    /// Injects into an object that was created elsewhere, by the definition of a key, by that of its type (nil), or by
    /// the declared dependencies of its type. No initializer runs; all hooks do.
    ///
    /// - Parameter shared: Makes the object the shared instance of its key, which must not be built yet.
    public func inject(_ object: Object, as key: String? = nil, shared: Bool = false) throws(InvivoError) {
        try object.require(in: core)
        try core.inject(object.handle, key, shared)
    }

    /// Injects into an object of any Swift class, as above.
    public func inject(_ instance: AnyObject, as key: String? = nil, shared: Bool = false) throws(InvivoError) {
        // An `Object` of a type that is not known here is injected itself.
        if let object = instance as? Object { return try inject(object, as: key, shared: shared) }
        let object = try core.lease(of: instance, isDescribed: false)
        defer { _ = core.table.pointee.object_release(object) }
        try core.inject(object, key, shared)
    }

    /// Injects into an object that was created elsewhere, and into all objects below it.
    ///
    /// Each object is injected by the key that it names, by the definition of its type, or by the declared dependencies
    /// of its type. All errors are thrown before the first injection. The hooks after all injections run when the whole
    /// tree is complete, children before parents.
    ///
    /// - Parameters:
    ///   - key: The key of the root.
    ///   - onlyKnown: Leaves objects without an injection unchanged, instead of failing.
    ///   - children: Returns the children of an object.
    ///   - keyOf: Returns the key that an object names.
    ///   - isForeign: Whether another loader handles an object and its children.
    public func injectTree(
        _ root: Object, as key: String? = nil, onlyKnown: Bool = false,
        children: (Object) throws -> [Object], keyOf: (Object) throws -> String? = { _ in nil },
        isForeign: (Object) -> Bool = { _ in false }
    ) throws(InvivoError) {
        try root.require(in: core)
        try withoutActuallyEscaping(children) { children throws(InvivoError) in
            try withoutActuallyEscaping(keyOf) { keyOf throws(InvivoError) in
                try withoutActuallyEscaping(isForeign) { isForeign throws(InvivoError) in
                    try withArena { arena throws(InvivoError) in
                        let walk = TreeWalk(core, arena, children, keyOf, isForeign)
                        var tree = walk.tree
                        if let key { tree.key = try arena.name(key) }
                        tree.flags = onlyKnown ? UInt32(INVIVO_INTO_KNOWN) : 0
                        defer { withExtendedLifetime(walk) {} }
                        try core.call { $0.pointee.inject_tree(root.handle, &tree, $1) }
                    }
                }
            }
        }
    }
}

extension Runtime {
    /// Injects into a tree of objects whose types declare their children and keys (`ObjectType.children`, `key`).
    public func injectTree(
        _ root: AnyObject, as key: String? = nil, onlyKnown: Bool = false
    ) throws(InvivoError) {
        let held: Object
        if let object = root as? Object {
            try object.require(in: core)
            held = object
        } else {
            held = Object(taking: try core.lease(of: root, isDescribed: false), core)
        }
        try withArena { arena throws(InvivoError) in
            var tree = invivo_tree()
            tree.struct_size = MemoryLayout<invivo_tree>.size
            if let key { tree.key = try arena.name(key) }
            tree.flags = onlyKnown ? UInt32(INVIVO_INTO_KNOWN) : 0
            try ChildrenWalk.during { () throws(InvivoError) in
                try core.call { $0.pointee.inject_tree(held.handle, &tree, $1) }
            }
        }
    }
}

extension Core {
    fileprivate func inject(_ object: invivo_object, _ name: String?, _ isShared: Bool) throws(InvivoError) {
        var key = invivo_key()
        if let name { try call(naming: name) { $0.pointee.key_find(handle, $1, &key, $2) } }
        try call { $0.pointee.inject_with(object, key, isShared ? UInt32(INVIVO_INTO_SHARED) : 0, $1) }
    }
}

/// The callbacks of `injectTree`, for the duration of the call and on its thread.
private final class TreeWalk {
    private let core: Core
    private let children: (Object) throws -> [Object]
    private let keyOf: (Object) throws -> String?
    private let isForeign: (Object) -> Bool
    /// The children of the objects that are being visited.
    private var below: [UInt64: [Object]] = [:]
    /// Keeps the names that the C side borrows.
    private let arena: Arena

    init(
        _ core: Core, _ arena: Arena, _ children: @escaping (Object) throws -> [Object],
        _ keyOf: @escaping (Object) throws -> String?, _ isForeign: @escaping (Object) -> Bool
    ) {
        self.core = core
        self.arena = arena
        self.children = children
        self.keyOf = keyOf
        self.isForeign = isForeign
    }

    private static func of(_ data: UnsafeMutableRawPointer) -> TreeWalk {
        Unmanaged<TreeWalk>.fromOpaque(data).takeUnretainedValue()
    }

    /// The functions of the C side; valid while the walk lives.
    var tree: invivo_tree {
        var tree = invivo_tree()
        tree.struct_size = MemoryLayout<invivo_tree>.size
        tree.user_data = Unmanaged.passUnretained(self).toOpaque()
        tree.child = { parent, index, out, data, error in
            guard let data, let out else { return InvivoError.Code.internal.rawValue }
            let walk = TreeWalk.of(data)
            return answering(walk.core, error) { out.pointee = try walk.child(index, of: parent) }
        }
        tree.key_name = { object, out, data, error in
            guard let data, let out else { return InvivoError.Code.internal.rawValue }
            let walk = TreeWalk.of(data)
            return answering(walk.core, error) {
                guard let key = try walk.keyOf(Object(holding: object, walk.core)) else { return }
                out.pointee = UnsafePointer(try walk.arena.name(key))
            }
        }
        tree.is_foreign = { object, data in
            guard let data else { return 0 }
            let walk = TreeWalk.of(data)
            guard let object = try? Object(holding: object, walk.core) else { return 0 }
            return walk.isForeign(object) ? 1 : 0
        }
        return tree
    }

    /// With one lease for the caller; zero after the last.
    private func child(_ index: UInt64, of parent: invivo_object) throws -> invivo_object {
        if index == 0 { below[parent.bits] = try children(Object(holding: parent, core)) }
        guard let found = below[parent.bits], index < UInt64(found.count) else {
            below[parent.bits] = nil
            return invivo_object()
        }
        try found[Int(index)].require(in: core)
        let child = found[Int(index)].handle
        let status = core.table.pointee.object_retain(child)
        guard status == 0 else { throw InvivoError(taking: nil, status: status, table: core.table) }
        return child
    }
}
