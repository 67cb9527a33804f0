internal import CPlatform
public import InvivoBase

/// One layer as `invivo_trait.layers` declares it.
public struct LayerDeclaration: Sendable {
    public let operation: DeclaredLayer.Operation
    public let property: String
    public let amount: Value
}

/// The layers that a trait type declares. Used by the one thread that runs its function.
public final class LayerDeclarations {
    public private(set) var all: [LayerDeclaration] = []

    private static let most = 10_000

    /// Runs `body` with a pointer for the host, which is valid during the call, on this thread.
    func collecting(_ body: (OpaquePointer) throws(Failure) -> Void) throws(Failure) {
        let raw = Unmanaged.passUnretained(self).toOpaque()
        let thread = currentThread()
        let former = thread.pointee.declarations
        thread.pointee.declarations = raw
        defer { thread.pointee.declarations = former }
        try body(OpaquePointer(raw))
    }

    /// Returns the object behind a pointer that a host function on this thread has received.
    public static func find(_ pointer: OpaquePointer?) throws(Failure) -> LayerDeclarations {
        guard let pointer else { throw Failure(.argument, "layers is NULL") }
        let raw = UnsafeMutableRawPointer(pointer)
        guard raw == currentThread().pointee.declarations else {
            throw Failure(
                .handle,
                "these layers are not declared now: use the pointer during the call of the layers function, on its thread"
            )
        }
        return Unmanaged<LayerDeclarations>.fromOpaque(raw).takeUnretainedValue()
    }

    public func add(_ operation: DeclaredLayer.Operation, _ property: String, _ amount: Value) throws(Failure) {
        guard all.count < Self.most else {
            throw Failure(.tooLarge, "a trait declares at most \(Self.most) layers")
        }
        all.append(LayerDeclaration(operation: operation, property: property, amount: amount))
    }
}
