import InvivoBase
import InvivoSpec

/// A tree without source locations, for comparisons. NaN equals itself.
indirect enum Bare: Equatable, CustomStringConvertible {
    case leaf(String)
    case list([Bare])
    case map([String], [Bare])

    init(_ node: SpecNode) {
        switch node.content {
        case .null: self = .leaf("null")
        case .bool(let value): self = .leaf("bool \(value)")
        case .integer(let value): self = .leaf("int \(value)")
        case .unsigned(let value): self = .leaf("uint \(value)")
        case .number(let value): self = .leaf("double \(value)")
        // Scalars, because equal strings may be only canonically equivalent.
        case .text(let text): self = .leaf("text \(text.unicodeScalars.map(\.value))")
        case .list(let items): self = .list(items.map(Bare.init))
        case .map(let entries): self = .map(entries.map(\.key), entries.map { Bare($0.value) })
        }
    }

    var description: String {
        switch self {
        case .leaf(let text): text
        case .list(let items): "\(items)"
        case .map(let keys, let values): "{\(zip(keys, values).map { "\($0): \($1)" }.joined(separator: ", "))}"
        }
    }
}

func yaml(_ text: String, limits: SpecLimits = SpecLimits()) throws(Failure) -> SpecNode {
    try SpecReader.read(text, file: "t.yaml", format: .yaml, limits: limits).root
}

func json(_ text: String, limits: SpecLimits = SpecLimits()) throws(Failure) -> SpecNode {
    try SpecReader.read(text, file: "t.json", format: .json, limits: limits).root
}

/// The failure of the closure, if there is one.
func failure(_ work: () throws(Failure) -> some Any) -> Failure? {
    do throws(Failure) {
        _ = try work()
        return nil
    } catch {
        return error
    }
}

/// "line:column" of the node at that path of keys and indices.
func position(_ root: SpecNode, _ path: String...) -> String {
    var node = root
    for step in path {
        guard let next = node[step] ?? Int(step).flatMap({ node.items?[$0] }) else { return "no \(step)" }
        node = next
    }
    return "\(node.location.line):\(node.location.column)"
}
