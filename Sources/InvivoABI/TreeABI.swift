public import CInvivo
internal import InvivoBase
internal import InvivoReload
internal import InvivoWiring

// wiring.h: injecting into objects that the host created.

@c @implementation
public func invivo_inject(_ object: invivo_object, _ key: invivo_key, _ error: UnsafeMutablePointer<OpaquePointer?>!)
    -> invivo_status
{
    invivo_inject_with(object, key, 0, error)
}

@c @implementation
public func invivo_inject_with(
    _ object: invivo_object, _ key: invivo_key, _ flags: UInt32, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in
        let held = try HeldObject(object)
        let container = held.type.container
        let id: UInt32? = if key.bits == 0 { nil } else { try keyed(invivo_runtime(bits: container.handle), key).id }
        guard flags & ~UInt32(INVIVO_INTO_SHARED) == 0 else { throw Failure(.argument, "flags contains unknown ones") }
        if flags & UInt32(INVIVO_INTO_SHARED) != 0 {
            try Engine.find(container.handle).injectShared(object.bits, as: id)
        } else {
            try container.inject(object.bits, as: id)
        }
    }
}

@c @implementation
public func invivo_inject_tree(
    _ root: invivo_object, _ tree: UnsafePointer<invivo_tree>!, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in
        let held = try HeldObject(root)
        try TreeInjection.run(root.bits, try InvivoABI.tree(tree), in: held.type.container)
    }
}

private func tree(_ pointer: UnsafePointer<invivo_tree>?) throws(Failure) -> ObjectTree {
    var tree = ObjectTree()
    guard let pointer else { return tree }
    let least = MemoryLayout<invivo_tree>.offset(of: \.child) ?? 8
    let given = try versioned(pointer, "tree", least: least, as: invivo_tree.self)
    tree.key = try optionalText(given.key, "tree.key")
    guard given.flags & ~UInt32(INVIVO_INTO_KNOWN) == 0 else {
        throw Failure(.argument, "tree.flags contains unknown ones")
    }
    tree.allowsUnknown = given.flags & UInt32(INVIVO_INTO_KNOWN) != 0
    let data = given.user_data
    if let child = given.child {
        tree.child = { object, index throws(Failure) in
            var found = invivo_object()
            try CallbackResult.run("the tree's child function") {
                child(invivo_object(bits: object), index, &found, data, $0)
            }
            return found.bits
        }
    }
    if let name = given.key_name {
        tree.keyName = { object throws(Failure) in
            var found: UnsafePointer<CChar>?
            try CallbackResult.run("the tree's key_name function") {
                name(invivo_object(bits: object), &found, data, $0)
            }
            return try optionalText(found, "the key name")
        }
    }
    if let isForeign = given.is_foreign {
        tree.isForeign = { object in isForeign(invivo_object(bits: object), data) != 0 }
    }
    return tree
}
