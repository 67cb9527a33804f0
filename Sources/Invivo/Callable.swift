internal import CInvivo

/// A function of any language: a Swift closure for the other languages, or a function of theirs to call from Swift.
///
/// A Swift closure that returns from another language is the identical `Callable`. It runs on the calling thread.
public final class Callable: Sendable {
    private enum Body: Sendable {
        case swift(@Sendable ([InvivoValue]) throws -> InvivoValue)
        case foreign(Core, invivo_callable)
        /// A step on an object that is being created.
        case code(@Sendable (AnyObject, inout Arguments) throws -> Void)
    }

    private let name: String
    private let body: Body

    /// A closure over values of any kinds and number.
    public init(name: String = "", _ body: @escaping @Sendable ([InvivoValue]) throws -> InvivoValue) {
        self.name = name
        self.body = .swift(body)
    }

    /// A closure with typed parameters: `Callable { (note: Int, level: Double) in Double(note) * level }`.
    public convenience init<each Parameter: InvivoConvertible, Result: InvivoConvertible>(
        name: String = "", _ body: @escaping @Sendable (repeat each Parameter) throws -> Result
    ) {
        self.init(name: name) { (values: [InvivoValue]) throws -> InvivoValue in
            var arguments = ArgumentReader(values)
            let result = try body(repeat try arguments.next((each Parameter).self))
            try arguments.end()
            return try result.asInvivo()
        }
    }

    /// A closure with typed parameters and no result.
    public convenience init<each Parameter: InvivoConvertible>(
        name: String = "", _ body: @escaping @Sendable (repeat each Parameter) throws -> Void
    ) {
        self.init(name: name) { (values: [InvivoValue]) throws -> InvivoValue in
            var arguments = ArgumentReader(values)
            try body(repeat try arguments.next((each Parameter).self))
            try arguments.end()
            return .null
        }
    }

    /// The code of a definition for its objects; called by the engine only.
    init(name: String, code: @escaping @Sendable (AnyObject, inout Arguments) throws -> Void) {
        self.name = name
        body = .code(code)
    }

    /// Runs the step on an object that is being created.
    func run(on instance: AnyObject, _ arguments: inout Arguments) throws {
        guard case .code(let code) = body else {
            throw InvivoError(.argument, "the callable is no step of a definition")
        }
        try code(instance, &arguments)
    }

    private init(taking handle: invivo_callable, _ core: Core) {
        name = ""
        body = .foreign(core, handle)
    }

    deinit {
        if case .foreign(let core, let handle) = body { _ = core.table.pointee.callable_release(handle) }
    }

    /// Calls it.
    @discardableResult
    public func callAsFunction(_ arguments: any InvivoConvertible...) throws(InvivoError) -> InvivoValue {
        try call(with: arguments)
    }

    /// Calls it with arguments that are in an array.
    @discardableResult
    public func call(with arguments: [any InvivoConvertible]) throws(InvivoError) -> InvivoValue {
        let values = try arguments.values()
        switch body {
        case .swift(let body):
            do { return try body(values) } catch { throw InvivoError(error) }
        case .code: throw InvivoError(.argument, "the callable is a step of a definition; it is called by the runtime")
        case .foreign(let core, let handle):
            var result = invivo_null()
            try withArena { arena throws(InvivoError) in
                let table = try InvivoValue.table(values, arena, core)
                try core.call { $0.pointee.callable_call(handle, table, values.count, &result, $1) }
            }
            return try InvivoValue(taking: &result, core)
        }
    }
}

extension Callable {
    /// Calls a callable of the runtime that returns an object.
    func call<Value>(_ arguments: [InvivoValue], _ core: Core, as type: Value.Type) throws(InvivoError) -> Value {
        guard case .foreign(_, let handle) = body else {
            throw InvivoError(.type, "a callable that resolves is expected here")
        }
        var result = invivo_null()
        try withArena { arena throws(InvivoError) in
            let table = try InvivoValue.table(arguments, arena, core)
            try core.call { $0.pointee.callable_call(handle, table, arguments.count, &result, $1) }
        }
        defer { core.table.pointee.value_clear(&result) }
        return try core.take(result, as: type)
    }
}

extension Callable: InvivoConvertible {
    public static var invivoShape: InvivoShape { InvivoShape(.callable) }
    public static func fromInvivo(_ value: InvivoValue) throws(InvivoError) -> Self {
        guard case .callable(let callable) = value, let callable = callable as? Self else {
            throw value.mismatch("a callable")
        }
        return callable
    }
    public func asInvivo() throws(InvivoError) -> InvivoValue { .callable(self) }
}

/// Equal when it is the same function.
extension Callable: Equatable {
    public static func == (left: Callable, right: Callable) -> Bool {
        if left === right { return true }
        guard case .foreign(_, let a) = left.body, case .foreign(_, let b) = right.body else { return false }
        return a.bits == b.bits
    }
}

// MARK: - The border

/// The user data of a Swift closure in a callable of the C ABI.
private final class CallableBox: Sendable {
    let callable: Callable
    let core: Core

    init(_ callable: Callable, _ core: Core) {
        self.callable = callable
        self.core = core
    }

    typealias Invoke =
        @convention(c) (
            UnsafeMutableRawPointer?, UnsafePointer<invivo_value>?, Int, UnsafeMutablePointer<invivo_value>?, ErrorOut?
        ) -> invivo_status

    /// One function for all Swift closures, by whose address they are recognized.
    static let invoke: Invoke = { data, arguments, count, result, error in
        guard let data else { return InvivoError.Code.internal.rawValue }
        let box = Unmanaged<CallableBox>.fromOpaque(data).takeUnretainedValue()
        return answering(box.core, error) {
            let values = try InvivoValue.array(arguments, count, box.core, .program)
            try box.callable.call(with: values).answered(result, box.core)
        }
    }
}

extension Callable {
    /// The callable of a Swift closure that returns from another language, or a lease on a foreign one.
    static func known(_ handle: invivo_callable, _ core: Core) throws(InvivoError) -> Callable {
        if let data = core.table.pointee.callable_user_data(handle, CallableBox.invoke) {
            return Unmanaged<CallableBox>.fromOpaque(data).takeUnretainedValue().callable
        }
        let status = core.table.pointee.callable_retain(handle)
        guard status == 0 else { throw InvivoError(taking: nil, status: status, table: core.table) }
        return Callable(taking: handle, core)
    }

    /// Its handle for one call.
    func borrowed(_ arena: Arena, _ core: Core) throws(InvivoError) -> invivo_callable {
        if case .foreign(let owner, let handle) = body {
            if owner === core { return handle }
            throw InvivoError(.handle, "the callable belongs to another runtime; wrap it in a closure to pass it on")
        }
        var options = invivo_callable_options()
        options.struct_size = MemoryLayout<invivo_callable_options>.size
        options.name = try arena.name(name)
        options.invoke = CallableBox.invoke
        options.destroy = { data in if let data { Unmanaged<CallableBox>.fromOpaque(data).release() } }
        let box = Unmanaged.passRetained(CallableBox(self, core))
        options.user_data = box.toOpaque()
        var handle = invivo_callable()
        do throws(InvivoError) {
            try core.call { $0.pointee.callable_make(core.handle, &options, &handle, $1) }
        } catch {
            box.release()
            throw error
        }
        arena.atEnd { _ = core.table.pointee.callable_release(handle) }
        return handle
    }
}

/// Reads the arguments of a call one after the other.
struct ArgumentReader {
    private let values: [InvivoValue]
    private var index = 0

    init(_ values: [InvivoValue]) { self.values = values }

    mutating func next<Value: InvivoConvertible>(_ type: Value.Type) throws(InvivoError) -> Value {
        index += 1
        guard index <= values.count else {
            if Value.invivoShape.isOptional { return try Value.fromInvivo(.null) }
            throw InvivoError(.arity, "argument \(index) (\(Value.invivoShape.kind)) is missing, got \(values.count)")
        }
        do { return try Value.fromInvivo(values[index - 1]) } catch {
            var error = error
            error.message = "argument \(index): \(error.message)"
            throw error
        }
    }

    func end() throws(InvivoError) {
        guard index >= values.count else {
            throw InvivoError(.arity, "expected \(index) arguments, got \(values.count)")
        }
    }
}
