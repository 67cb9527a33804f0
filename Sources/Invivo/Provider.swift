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

/// The `Value` that there is when it is asked for: a shared one that is built, a weak singleton that somebody holds, the
/// calling place's one of a scope with places; nil when there is none. It makes nothing and keeps nothing alive; further
/// arguments are those of the definition behind it.
///
/// An initializer that takes a `Weak<Clock>` gets one by its type. What is made anew each time has none: that is an error of
/// the activation. It answers on any thread, of what is confined in its domain alone; after close it throws.
public struct Weak<Value>: @unchecked Sendable {
    let find: ([InvivoValue]) throws(InvivoError) -> Value?

    init(_ find: @escaping ([InvivoValue]) throws(InvivoError) -> Value?) { self.find = find }

    /// The object, if there is one.
    public func callAsFunction(_ arguments: any InvivoConvertible...) throws(InvivoError) -> Value? {
        try find(try arguments.values())
    }
}
