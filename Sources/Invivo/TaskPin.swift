public import CInvivo
internal import Synchronization

/// A pin that follows a task. It belongs to no thread: each read enters it for its own duration.
final class TaskPin: Sendable {
    /// The innermost one of the task. Nil in code that the library calls: that reads what the library's thread reads.
    @TaskLocal static var current: TaskPin?

    private let core: Core
    private let pin: invivo_pin
    private let outer: TaskPin?

    init(_ core: Core, _ pin: invivo_pin) {
        (self.core, self.pin, outer) = (core, pin, Self.current)
        core.taskPins.add(1, ordering: .relaxed)
    }

    func end() {
        _ = core.table.pointee.pin_end(pin)
        core.taskPins.subtract(1, ordering: .relaxed)
    }

    /// The innermost pin of the task in a runtime.
    fileprivate static func innermost(_ core: Core) -> TaskPin? {
        var next = current
        while let pin = next, pin.core !== core { next = pin.outer }
        return next
    }

    /// Runs a call of the library in the pin. Not in it if the pin has ended.
    fileprivate func within<Result>(_ body: () -> Result) -> Result {
        var inside = invivo_pin()
        _ = core.table.pointee.pin_enter(pin, &inside, nil)
        defer { _ = core.table.pointee.pin_end(inside) }
        return Self.$current.withValue(nil, operation: body)
    }
}

extension Core {
    /// Runs a call of the library in the pin of the task, if it is in one.
    func inTaskPin<Result>(_ body: () -> Result) -> Result {
        guard mayBeInTaskPin, let pin = TaskPin.innermost(self) else { return body() }
        return pin.within(body)
    }

    /// Whether the code is in the pin of a task.
    var isInTaskPin: Bool { mayBeInTaskPin && TaskPin.innermost(self) != nil }

    /// The view stays valid without the pin.
    @usableFromInline
    func beginViewInTaskPin() -> invivo_view { inTaskPin { table.pointee.view_begin(handle) } }
}
