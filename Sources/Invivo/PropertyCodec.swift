internal import CInvivo

/// The text form of the values of a property, which documents may contain.
///
///     type.property("gain", \.gain, in: 0...2, codec: .decibel)   // gain: -6 dB
public enum PropertyCodec: UInt32, Sendable, CaseIterable {
    case none
    /// A map of `width` and `height`: `640 x 480`.
    case size
    /// A map of `x` and `y`: `10, 20`.
    case point
    /// A linear factor: `-6 dB`.
    case decibel
    /// A fraction: `50 %` is 0.5.
    case percent
    /// An integer 0xRRGGBBAA, or a map of `red`, `green`, `blue` and `alpha`: `#ff8800`, `#ff8800cc`, `red`.
    case color
    /// A number in a unit of time, by default seconds: `250 ms`, `1 h 30 min`.
    case duration
}

extension TypeReference {
    /// Writes a value of a property as text: by its codec, with its unit, or by the name of a choice. `value(_:of:)` reads an
    /// equal value from it.
    ///
    /// - Parameter property: The name of a property; `frame.width` is a field of a nested struct.
    public func text(of value: some InvivoConvertible, as property: String) throws(InvivoError) -> String {
        let value = try value.asInvivo()
        var text = invivo_null()
        try withArena { arena throws(InvivoError) in
            var given = try value.borrowed(arena, core)
            try core.call(naming: property) { $0.pointee.property_text(handle, $1, &given, &text, $2) }
        }
        return try InvivoValue(taking: &text, core).get(String.self)
    }

    /// Reads a value of a property from text, as a document does.
    public func value<Value: InvivoConvertible>(
        _ text: String, of property: String, as type: Value.Type = Value.self
    ) throws(InvivoError) -> Value {
        var value = invivo_null()
        try withArena { arena throws(InvivoError) in
            let (data, length) = arena.data(text)
            try core.call(naming: property) { $0.pointee.property_read(handle, $1, data, length, &value, $2) }
        }
        return try Value.fromInvivo(try InvivoValue(taking: &value, core))
    }
}
