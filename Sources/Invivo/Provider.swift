/// Creates or finds a `Value` at each call, with the arguments of the definition behind it.
///
/// An initializer with a `Provider<Clock>` parameter is injected by type. A change of the key does not affect the
/// holder: the next call returns the new object.
public struct Provider<Value>: @unchecked Sendable {
    /// Calls the provider of the runtime, or throws the reason why nothing was injected.
    let resolve: ([InvivoValue]) throws(InvivoError) -> Value

    init(_ resolve: @escaping ([InvivoValue]) throws(InvivoError) -> Value) { self.resolve = resolve }

    /// Creates or finds the object.
    public func callAsFunction(_ arguments: any InvivoConvertible...) throws(InvivoError) -> Value {
        try resolve(try arguments.values())
    }
}

/// A `Value` that is resolved at its first use, and again after a reload has changed it.
public struct Lazy<Value>: @unchecked Sendable {
    let resolve: () throws(InvivoError) -> Value

    init(_ resolve: @escaping () throws(InvivoError) -> Value) { self.resolve = resolve }

    /// The object.
    public func callAsFunction() throws(InvivoError) -> Value { try resolve() }
}

/// The existing `Value` at the time of a call: a built shared object, a weak singleton that is retained, or the current
/// instance of a scope with several instances. Nil if none of them exists.
///
/// It creates nothing and keeps nothing alive. Its arguments are those of the definition behind it. An initializer with
/// a `Weak<Clock>` parameter is injected by type. A weak reference to a prototype never has an instance, so it is an
/// error of the activation. It may be called on any thread, and finds confined objects in their domain only. After
/// close it throws.
public struct Weak<Value>: @unchecked Sendable {
    let find: ([InvivoValue]) throws(InvivoError) -> Value?

    init(_ find: @escaping ([InvivoValue]) throws(InvivoError) -> Value?) { self.find = find }

    /// The object, if there is one.
    public func callAsFunction(_ arguments: any InvivoConvertible...) throws(InvivoError) -> Value? {
        try find(try arguments.values())
    }
}
