public import InvivoBase

/// A holder of a context, such as the object that it is attached to.
public final class HeldContext: Sendable {
    public let context: ContextHandle

    public init(_ context: ContextHandle) throws(Failure) {
        try Contexts.retain(context)
        self.context = context
    }

    deinit { ending { [context] in try? Contexts.release(context) } }
}
