internal import CInvivo

/// The values of a rule's inputs, in their order.
public struct RuleValues {
    /// All values. One that is absent is `.null`: a configuration path that is not set, or a property without a trait.
    public let all: [InvivoValue]

    /// Returns a value as a Swift type; nil if it is absent. Throws if it does not convert.
    public func value<Value: InvivoConvertible>(_ index: Int, as type: Value.Type = Value.self)
        throws(InvivoError) -> Value?
    {
        guard all.indices.contains(index) else {
            throw InvivoError(.argument, "the rule has \(all.count) inputs, and none at \(index)")
        }
        if case .null = all[index] { return nil }
        return try Value.fromInvivo(all[index])
    }
}

/// An error to throw from a rule: the values do not satisfy it. Any other error refuses them, too.
public struct RuleRefusal: Error {
    /// Why.
    public var message: String
    /// The index of the input at fault, whose source location the error has; nil: the first input that changes.
    public var input: Int?

    public init(_ message: String, input: Int? = nil) {
        self.message = message
        self.input = input
    }
}

extension ChangeSet {
    /// Adds a rule, or replaces the one with the same name. The values that the commit makes current must satisfy it.
    ///
    /// `check` receives the values of the inputs whenever a reload changes one of them. It refuses them by throwing; the error of
    /// the reload has the source location of the value. It runs on a thread of the library, must not wait, and must not call this
    /// runtime. A rule that does not return in time is given up: see `Runtime.Options.ruleTimeout`.
    ///
    /// - Parameters:
    ///   - inputs: Configuration paths, `audio.rate`, and properties of keys, `synth.lead.gain`.
    public func addRule(
        _ name: String, over inputs: [String], _ check: @escaping @Sendable (RuleValues) throws -> Void
    ) throws(InvivoError) {
        try withArena { arena throws(InvivoError) in
            var options = invivo_rule()
            options.struct_size = MemoryLayout<invivo_rule>.size
            options.name = try arena.name(name)
            var names: [UnsafePointer<CChar>?] = []
            for input in inputs { names.append(try arena.name(input)) }
            options.inputs = UnsafePointer(arena.table(names))
            options.input_count = UInt64(inputs.count)
            let pointer = Unmanaged.passRetained(RuleBox(core, check))
            options.user_data = pointer.toOpaque()
            options.destroy = { data in if let data { Unmanaged<RuleBox>.fromOpaque(data).release() } }
            options.check = { values, count, at, data, error in
                guard let data else { return InvivoError.Code.internal.rawValue }
                return Unmanaged<RuleBox>.fromOpaque(data).takeUnretainedValue().run(values, count, at, error)
            }
            do throws(InvivoError) {
                try core.call { $0.pointee.changes_add_rule(handle, &options, $1) }
            } catch {
                pointer.release()
                throw error
            }
        }
    }

    /// Removes a rule by its name.
    public func removeRule(_ name: String) throws(InvivoError) {
        try core.call(naming: name) { $0.pointee.changes_remove_rule(handle, $1, $2) }
    }
}

extension Runtime {
    /// Adds or replaces a rule, as one reload: see `ChangeSet.addRule`.
    public func addRule(
        _ name: String, over inputs: [String], _ check: @escaping @Sendable (RuleValues) throws -> Void
    ) throws {
        try changes { try $0.addRule(name, over: inputs, check) }
    }

    /// Removes a rule by its name, as one reload.
    public func removeRule(_ name: String) throws { try changes { try $0.removeRule(name) } }
}

/// A Swift closure that is a rule, as the C side holds it.
private final class RuleBox: Sendable {
    private let core: Core
    private let check: @Sendable (RuleValues) throws -> Void

    init(_ core: Core, _ check: @escaping @Sendable (RuleValues) throws -> Void) {
        self.core = core
        self.check = check
    }

    func run(
        _ values: UnsafePointer<invivo_value>?, _ count: Int, _ at: UnsafeMutablePointer<Int>?, _ error: ErrorOut?
    ) -> invivo_status {
        answering(core, error) {
            let values = RuleValues(all: try InvivoValue.array(values, count, core, .program))
            do { try check(values) } catch let refusal as RuleRefusal {
                if let input = refusal.input, input >= 0 { at?.pointee = input }
                throw InvivoError(.host, refusal.message)
            }
        }
    }
}
