public import InvivoBase
public import InvivoConfig

/// The converters of a runtime, by name.
public final class ConverterTable: Sendable {
    private let converters: Guarded<NameTable<TextConverter>>
    private let closing: Closing

    /// `monitor` is the runtime's.
    init(_ monitor: Monitor, _ closing: Closing) {
        converters = .init([:], by: monitor)
        self.closing = closing
    }

    public func register(_ converter: TextConverter) throws(Failure) {
        try converters.locked { (converters) throws(Failure) in
            try closing.refuse()
            guard converters[converter.name] == nil else {
                throw Failure(
                    .exists, "the converter '\(converter.name)' is registered already; unregister it first",
                    path: converter.name)
            }
            converters[converter.name] = converter
        }
    }

    /// Registers the converters that every runtime has.
    public func registerStandard(_ all: [TextConverter]) {
        converters.locked { converters in for converter in all { converters[converter.name] = converter } }
    }

    public func unregister(_ name: String) throws(Failure) {
        let former = try converters.locked { (converters) throws(Failure) -> TextConverter in
            guard let former = converters.removeValue(forKey: name) else { throw unknown(name, in: converters) }
            return former
        }
        // Its end may run code of the host, outside of the lock.
        withExtendedLifetime(former) {}
    }

    /// The converter of a name; an unknown one is an error that names the nearest.
    public func converter(_ name: String) throws(Failure) -> TextConverter {
        try converters.locked { (converters) throws(Failure) -> TextConverter in
            guard let found = converters[name] else { throw unknown(name, in: converters) }
            return found
        }
    }

    public func find(_ name: String) -> TextConverter? { converters.locked { $0[name] } }

    public var names: [String] { converters.locked { $0.keys.sorted() } }

    /// Whether a conversion may run code of the host. With the monitor held.
    public var hasHosts: Bool { converters.held { $0.values.contains(where: \.isHosts) } }

    /// Removes all. With the monitor held; the caller drops the result without it.
    func removeAll() -> NameTable<TextConverter> {
        converters.held { converters in
            defer { converters = [:] }
            return converters
        }
    }

    private func unknown(_ name: String, in converters: NameTable<TextConverter>) -> Failure {
        if closing.hasBegun { return Failure(.closed, "the runtime is closed") }
        return Failure(
            .notFound, "there is no converter '\(name)'\(suggestion(for: name, among: converters.keys.sorted()))",
            path: name)
    }
}
