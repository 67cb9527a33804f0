public import CInvivo
internal import InvivoBase
public import InvivoGraph

/// A condition over values of the configuration and of objects, which each generation satisfies. Immutable; `destroy` is
/// called with the last reference to it.
public final class Rule: Named {
    /// Checks the values of the inputs, in their order. May set the index of the input at fault.
    public typealias Check =
        @convention(c) (
            UnsafePointer<invivo_value>?, Int, UnsafeMutablePointer<Int>?, UnsafeMutableRawPointer?,
            UnsafeMutablePointer<OpaquePointer?>?
        ) -> invivo_status

    public let name: String
    /// Each is the property of a key, or a configuration path.
    public let inputs: [String]
    private let check: Check
    /// Holds the host's data.
    private let owner: Factory

    public init(name: String, inputs: [String], check: @escaping Check, owner: Factory) {
        self.name = name
        self.inputs = inputs
        self.check = check
        self.owner = owner
    }

    /// Leaves the user data with the host, because the call that received the rule fails.
    public func disown() { owner.disown() }

    /// Calls the function with copies of the values. Returns its refusal with the index of the input at fault, by default
    /// `changed`; nil if the values are good.
    func run(_ values: [Value], changed: Int) -> (failure: Failure, at: Int)? {
        var copies = values.map { $0.owned() }
        defer { for index in copies.indices { Value.free(&copies[index]) } }
        var at = changed
        let data = owner.userData
        do throws(Failure) {
            try copies.withUnsafeBufferPointer { (copies) throws(Failure) in
                try CallbackResult.run("the function") { check(copies.baseAddress, copies.count, &at, data, $0) }
            }
            return nil
        } catch { return (error, values.indices.contains(at) ? at : changed) }
    }
}
