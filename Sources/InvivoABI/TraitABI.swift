public import CInvivo
internal import InvivoBase
internal import InvivoGraph
internal import InvivoReload
internal import InvivoTraits

// trait.h: trait types.

@c @implementation
public func invivo_changes_add_trait(
    _ changes: invivo_changes, _ trait: UnsafePointer<invivo_trait>!, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in
        let changes = try InvivoABI.changes(changes)
        let given = try GivenTrait(trait)
        do throws(Failure) { try changes.add(try given.read()) } catch {
            given.owner.disown()
            throw error
        }
    }
}

@c @implementation
public func invivo_changes_remove_trait(
    _ changes: invivo_changes, _ name: UnsafePointer<CChar>!, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in
        let changes = try InvivoABI.changes(changes)
        changes.removeTrait(try text(name, "name"))
    }
}

@c @implementation
public func invivo_trait_add(
    _ runtime: invivo_runtime, _ trait: UnsafePointer<invivo_trait>!, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in
        // From here on the user data is the runtime's, also if this call fails.
        let given = try GivenTrait(trait)
        let changes = OpenChanges(try Engine.find(runtime.bits))
        try changes.add(try given.read())
        try changes.engine.commit(changes.set)
    }
}

@c @implementation
public func invivo_trait_remove(
    _ runtime: invivo_runtime, _ name: UnsafePointer<CChar>!, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in
        let changes = OpenChanges(try Engine.find(runtime.bits))
        changes.removeTrait(try text(name, "name"))
        try changes.engine.commit(changes.set)
    }
}

// MARK: declared layers

@c @implementation
public func invivo_layers_set(
    _ layers: OpaquePointer!, _ property: UnsafePointer<CChar>!, _ value: UnsafePointer<invivo_value>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in
        try LayerDeclarations.find(layers).add(
            .set, try text(property, "property"), try Value(borrowing: value, "value"))
    }
}

@c @implementation
public func invivo_layers_scale(
    _ layers: OpaquePointer!, _ property: UnsafePointer<CChar>!, _ factor: Double,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in
        try LayerDeclarations.find(layers).add(.scale, try text(property, "property"), .double(factor))
    }
}

@c @implementation
public func invivo_layers_offset(
    _ layers: OpaquePointer!, _ property: UnsafePointer<CChar>!, _ amount: Double,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in
        try LayerDeclarations.find(layers).add(.offset, try text(property, "property"), .double(amount))
    }
}

extension OpenChanges {
    fileprivate func add(_ trait: TraitType) throws(Failure) {
        guard !set.adds(traitNamed: trait.name) else {
            throw Failure(
                .exists, "the trait type '\(trait.name)' is given twice in one change set", path: trait.name)
        }
        set.add(trait)
        note(.trait, trait.name)
    }

    fileprivate func removeTrait(_ name: String) {
        set.removeTrait(name)
        note(.traitRemove, name)
    }
}

/// A trait type as C describes it, with the owner of its user data.
private struct GivenTrait {
    let owner: Factory
    private let given: invivo_trait

    init(_ pointer: UnsafePointer<invivo_trait>?) throws(Failure) {
        guard let pointer else { throw Failure(.argument, "trait is NULL") }
        let least = MemoryLayout<invivo_trait>.offset(of: \.user_data) ?? 8
        given = try versioned(pointer, "trait", least: least, as: invivo_trait.self)
        owner = Factory(nil, userData: given.user_data, destroy: given.destroy)
    }

    func read() throws(Failure) -> TraitType {
        let name = try text(given.name, "trait.name")
        guard !name.isEmpty else { throw Failure(.argument, "trait.name is empty") }
        func fail(_ code: Status, _ message: String) -> Failure { Failure(code, message, path: name) }
        guard !name.utf8.contains(where: { $0 <= UInt8(ascii: " ") || $0 == 0x7F }) else {
            throw fail(
                .argument,
                "the name of the trait has a space or a control character; expected a name without them, as in 'module.Name'"
            )
        }
        guard !TraitTable.isBuiltIn(name) else {
            throw fail(.exists, "'\(name)' is a built-in trait; expected another name, as in 'module.\(name)'")
        }
        try requireCount(given.targets, given.target_count, "trait.targets")
        guard let table = given.targets, given.target_count > 0 else {
            throw fail(.argument, "the trait accepts no target; expected the names of types in trait.targets, or \"*\"")
        }
        let targets = try (0..<Int(given.target_count)).map { index throws(Failure) -> String in
            let target = try text(table[index], "trait.targets[\(index)]")
            guard !target.isEmpty else { throw fail(.argument, "trait.targets[\(index)] is empty") }
            return target
        }
        let action: TraitType.Action
        switch (given.layers, given.apply) {
        case (let layers?, nil): action = .layers(layers)
        case (nil, let apply?): action = .apply(apply)
        case (nil, nil): throw fail(.argument, "the trait has neither layers nor apply")
        default: throw fail(.argument, "the trait has layers and apply; expected one of them")
        }
        let description = given.text == nil ? nil : try text(given.text, "trait.text")
        return TraitType(
            name: name, text: description, targets: targets,
            fields: try FieldTable(given.fields, given.field_count, size: given.size, path: name), check: given.check,
            action: action, owner: owner)
    }
}
