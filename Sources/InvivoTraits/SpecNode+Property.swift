internal import InvivoBase
internal import InvivoSpec

extension SpecNode {
    /// The content for a property or kind: a string with environment variables has the content that is requested.
    func content(for property: Property?, _ kind: ValueKind?) -> Content {
        guard let text = variables?.text, let kind = property?.kind ?? kind else { return content }
        switch content {
        case .text where kind.isNumber || kind == .bool: return TextReader.plain(text) ?? content
        case .text, .list, .map: return content
        default: return kind == .string || kind == .bytes || property?.choices.isEmpty == false ? .text(text) : content
        }
    }

    /// A time in nanoseconds: seconds, or a quantity. Nil if it is none, negative, or longer than a day.
    var duration: UInt64? {
        let seconds: Double? =
            switch content(for: nil, .double) {
            case .integer(let number): Double(number)
            case .unsigned(let number): Double(number)
            case .number(let number): number
            case .text(let text): TextReader.quantity(text, unit: "s")
            default: nil
            }
        guard let seconds, seconds >= 0, seconds <= Double(Ramp.longest) else { return nil }
        return UInt64((seconds * 1e9).rounded())
    }

    /// The failure without the values of environment variables. Its path leads to the wrong part of the value.
    func masked(_ failure: Failure, for property: Property) -> Failure {
        guard hasVariables || property.origin(nil) != nil else { return failure }
        var (node, field) = (self, property)
        for name in failure.path.split(separator: ".").dropFirst().map(String.init) {
            guard let inner = node[name] else { break }
            node = inner
            field = field.fields.property(named: name) ?? field
        }
        return field.origin(node.anyVariables)?.masking(failure, expected: field.wanted) ?? failure
    }
}
