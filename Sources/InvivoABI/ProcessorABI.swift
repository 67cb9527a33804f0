public import CInvivo
internal import InvivoBase
internal import InvivoDescribe
internal import InvivoGraph
internal import InvivoReload
internal import InvivoWiring

// wiring.h: processors.

@c @implementation
public func invivo_changes_process(
    _ changes: invivo_changes, _ processor: UnsafePointer<invivo_processor>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in
        let changes = try InvivoABI.changes(changes)
        let made = try InvivoABI.processor(processor, changes.engine)
        guard !changes.set.processes(named: made.name) else {
            made.disown()
            throw Failure(.exists, "the processor '\(made.name)' is given twice in one change set", path: made.name)
        }
        changes.set.process(made)
        changes.note(.process, made.name)
    }
}

@c @implementation
public func invivo_changes_unprocess(
    _ changes: invivo_changes, _ name: UnsafePointer<CChar>!, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in
        let changes = try InvivoABI.changes(changes)
        let name = try text(name, "name")
        changes.set.unprocess(name)
        changes.note(.unprocess, name)
    }
}

/// A processor as C describes it.
private func processor(_ pointer: UnsafePointer<invivo_processor>?, _ engine: Engine) throws(Failure) -> Processor {
    guard let pointer else { throw Failure(.argument, "processor is NULL") }
    let least = MemoryLayout<invivo_processor>.offset(of: \.component) ?? 8
    let given = try versioned(pointer, "processor", least: least, as: invivo_processor.self)
    let name = try text(given.name, "processor.name")
    guard !name.isEmpty else { throw Failure(.argument, "processor.name is empty") }
    func fail(_ message: String) -> Failure { Failure(.argument, message, path: name) }
    let component = try optionalText(given.component, "processor.component")
    let method = try optionalText(given.method, "processor.method")
    guard component != nil || method == nil else { throw fail("processor.method needs a component") }
    guard component == nil || given.decorate == nil else {
        throw fail("a processor decorates by a function or by a component, not both")
    }
    guard component != nil || given.decorate != nil || given.process != nil else {
        throw fail("there is neither a process function nor a decorate function nor a component")
    }
    var key: (id: UInt32, name: String)?
    if let text = try optionalText(given.key, "processor.key") { key = (try engine.container.intern(text), text) }
    let type = try optionalText(given.type, "processor.type")
    var decorator = given.decorate.map { Processor.Decorator.function($0) }
    if let component {
        decorator = .component(try engine.container.intern(component), name: component, method: method)
    }
    // Last, because from here on the runtime calls `destroy`.
    let owner = Factory(nil, userData: given.user_data, destroy: given.destroy)
    var process: Processor.Process?
    if let function = given.process {
        process = { [weak engine] definition throws(Failure) in
            guard let engine else { throw Failure(.closed, "the runtime is closed") }
            return try visit(definition, engine) { (borrowed, changes, error) in
                function(borrowed, changes, owner.userData, error)
            }
        }
    }
    return Processor(
        name: name, key: key, type: type, priority: given.priority, process: process, decorator: decorator,
        owner: owner)
}

/// Lets a function read and replace a definition.
private func visit(
    _ definition: Definition, _ engine: Engine,
    _ call: (UnsafePointer<invivo_definition>, invivo_changes, UnsafeMutablePointer<OpaquePointer?>) -> invivo_status
) throws(Failure) -> Definition {
    let changes = OpenChanges(engine, visiting: definition)
    let bits = try changes.open()
    defer { changes.close() }
    let box = BorrowedDefinition()
    var borrowed = box.lend(definition)
    try CallbackResult.run("the process function") { error in call(&borrowed, invivo_changes(bits: bits), error) }
    withExtendedLifetime(box) {}
    guard let replacement = changes.set.definitions.last else { return definition }
    return replacement.with { body in
        body.order = definition.body.order
        body.owner = definition.body.owner
        body.assembly = definition.body.assembly
        body.origin = definition.body.origin
        body.isPattern = definition.body.isPattern
        if body.type === definition.type { body.base = definition.base }
    }
}
