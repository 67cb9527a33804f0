/// Makes or finds a `Value` each time it is called; further arguments are those of the definition behind it.
///
/// An initializer that takes a `Provider<Clock>` gets one by its type. What holds a provider follows changes by itself.
public struct Provider<Value>: @unchecked Sendable {
    /// A callable of the runtime's, or the reason why there is none.
    let resolve: ([InvivoValue]) throws(InvivoError) -> Value

    init(_ resolve: @escaping ([InvivoValue]) throws(InvivoError) -> Value) { self.resolve = resolve }

    /// The object; made or found anew.
    public func callAsFunction(_ arguments: any InvivoConvertible...) throws(InvivoError) -> Value {
        try resolve(try arguments.values())
    }
}

/// A `Value` that is resolved when it is first asked for, and again when a reload has changed it.
public struct Lazy<Value>: @unchecked Sendable {
    let resolve: () throws(InvivoError) -> Value

    init(_ resolve: @escaping () throws(InvivoError) -> Value) { self.resolve = resolve }

    /// The object.
    public func callAsFunction() throws(InvivoError) -> Value { try resolve() }
}
