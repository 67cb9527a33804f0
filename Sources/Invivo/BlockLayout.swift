/// A type that may be a field of a block: it is the same bytes in every language.
///
/// Booleans, integers, `Float` and `Double` are; an enumeration without payloads becomes one by naming the protocol:
/// `enum Wave: String, CaseIterable, InvivoField { case sine, saw }`.
public protocol InvivoField: InvivoConvertible, BitwiseCopyable {
    /// The declaration of a field of this type. The numbers of an enumeration are those that represent its cases in
    /// memory.
    static var invivoFieldShape: InvivoShape { get }
}

extension InvivoField {
    public static var invivoFieldShape: InvivoShape { invivoShape }
}

extension InvivoField where Self: CaseIterable {
    public static var invivoFieldShape: InvivoShape {
        let names = invivoShape.choices.map(\.name)
        let choices = zip(names, allCases).map { InvivoShape.Choice($0, Enumeration<Self>.tag($1) ?? -1) }
        return InvivoShape(MemoryLayout<Self>.size == 1 ? .uint8 : .uint16, choices: choices)
    }
}

extension Bool: InvivoField {}
extension Int: InvivoField {}
extension UInt: InvivoField {}
extension Int8: InvivoField {}
extension Int16: InvivoField {}
extension Int32: InvivoField {}
extension Int64: InvivoField {}
extension UInt8: InvivoField {}
extension UInt16: InvivoField {}
extension UInt32: InvivoField {}
extension UInt64: InvivoField {}
extension Float: InvivoField {}
extension Double: InvivoField {}

/// The tunable fields of a plain struct, with their names and limits.
public struct BlockLayout<Content: BitwiseCopyable>: Sendable where Content: Sendable {
    /// The initial content of the block.
    public let initial: Content
    var fields: [Property] = []
    var problems: [InvivoError] = []

    init(_ initial: Content) { self.initial = initial }

    /// The bytes with which the block begins, also between the tunable fields.
    var image: [UInt8] { withUnsafeBytes(of: initial) { Array($0) } }

    /// Makes a field tunable.
    ///
    /// - Parameters:
    ///   - name: The name in documents.
    ///   - path: The stored property.
    ///   - range: The allowed values; both ends are included.
    ///   - step: A hint for editors.
    ///   - unit: The unit. With `"Hz"`, a document may contain `1.2 kHz`.
    ///   - codec: The text form of its values in documents.
    ///   - text: A one-line description.
    ///   - was: Former names, accepted with a warning.
    ///   - secret: Whether messages do not show its values.
    public mutating func field<Value: InvivoField>(
        _ name: String, _ path: any KeyPath<Content, Value> & Sendable, in range: ClosedRange<Double>? = nil,
        step: Double? = nil, unit: String? = nil, codec: PropertyCodec = .none, text: String? = nil,
        was: [String] = [], secret: Bool = false
    ) {
        guard let offset = MemoryLayout<Content>.offset(of: path) else {
            problems.append(
                InvivoError(
                    .argument, "field '\(name)' of \(Content.self) is computed; a field must be a stored property"))
            return
        }
        let about = Property.About(
            range: range, step: step, unit: unit, codec: codec, text: text, was: was, secret: secret)
        fields.append(
            Property(
                name: name, shape: { Value.invivoFieldShape }, about: about,
                place: .field(offset: offset, size: MemoryLayout<Value>.size)))
    }
}

/// A key that is nothing but a block: a plain struct whose fields are tuned by documents and read through views.
///
///     struct Tuning { var gain = 1.0; var cutoff = 800.0 }
///     let lead = try runtime.define(Block("synth.lead", Tuning()) {
///         $0.field("gain", \.gain, in: 0...2)
///         $0.field("cutoff", \.cutoff, in: 20...20000, unit: "Hz")
///     })
///     runtime[lead].gain
public struct Block<Content: BitwiseCopyable & Sendable>: Sendable {
    /// The key's name.
    public let key: String
    var typeName: String
    var layout: BlockLayout<Content>

    /// Describes a block.
    ///
    /// - Parameters:
    ///   - key: `"assembly.name"`.
    ///   - initial: The initial content.
    ///   - typeName: The name of its type; by default the struct's.
    public init(
        _ key: String, _ initial: Content, typeName: String? = nil, _ describe: (inout BlockLayout<Content>) -> Void
    ) {
        self.key = key
        self.typeName = typeName ?? String(reflecting: Content.self)
        layout = BlockLayout(initial)
        describe(&layout)
    }
}
