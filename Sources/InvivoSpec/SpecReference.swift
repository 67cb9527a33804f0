public import InvivoBase

/// The path of a file in a document, with its source location.
public struct SpecReference: Sendable {
    /// The path as the document has it; of a value, the text behind `file:`.
    public let text: String
    public let location: Location
    /// The key path of the reference: "include[0]", "config.synth.password".
    public let path: String
    /// The part that environment variables have in the path.
    private let variables: VariableText?
    /// The index of a value in its tree.
    let index: Int

    init(_ node: SpecNode, _ text: String, path: SpecPath) {
        self.text = text
        location = node.location
        self.path = path.text
        variables = node.variables
        index = node.index
    }

    /// Whether environment variables are a part of the path.
    public var hasVariables: Bool { variables != nil }

    /// The path as an error may show it.
    public var shown: String { variables?.describedValue ?? quoted(text) }

    /// The entries under `include:`: a list of paths, or one path.
    static func includes(of root: SpecNode, _ checker: inout DocumentChecker) -> [SpecReference] {
        guard let node = root["include"] else { return [] }
        let path = SpecPath().key("include")
        if let text = node.text, !text.isEmpty { return [SpecReference(node, text, path: path)] }
        guard let items = node.items else {
            checker.expected("a path or a list of paths", node, path: path, hint: "write [] if no file is included")
            return []
        }
        return items.enumerated().compactMap { number, item in
            let path = path.item(number)
            return checker.text(item, "the path of a file", path: path).map { SpecReference(item, $0, path: path) }
        }
    }
}

extension SpecDocument {
    private static let mark = Array("file:".utf8)

    /// The values that stand for the content of a file: strings of `config:` and of the parameters of traits that begin with `file:`,
    /// except addresses (`file://`). The value of an environment variable is no reference. A value `file::rest` is the literal text `file:rest`, and becomes it here.
    public mutating func takeFileReferences() -> [SpecReference] {
        guard root.tree.hasText(beginningWith: Self.mark) else { return [] }
        var found: [SpecReference] = []
        var literals: [(index: Int, text: [UInt8])] = []
        func visit(_ node: SpecNode, _ path: SpecPath) {
            if let items = node.items {
                for (number, item) in items.enumerated() { visit(item, path.item(number)) }
            } else if let entries = node.entries {
                for entry in entries { visit(entry.value, path.key(entry.key)) }
            } else if let rest = node.text?.rest(after: "file:"), rest.rest(after: "//") == nil,
                node.variables.map({ $0.literalPrefix >= Self.mark.count }) ?? true
            {
                if let literal = rest.rest(after: ":") {
                    literals.append((node.index, Self.mark + Array(literal.utf8)))
                } else {
                    found.append(SpecReference(node, rest, path: path))
                }
            }
        }
        for entry in root["config"]?.entries ?? [] { visit(entry.value, SpecPath().key("config").key(entry.key)) }
        let section = TraitDocument.section(of: root)
        let traits = SpecPath().key(section)
        for target in root[section]?.entries ?? [] {
            for (number, trait) in (target.value.items ?? []).enumerated() {
                let isLong = trait["type"] != nil
                for entry in trait.entries ?? [] where isLong ? entry.key != "type" : entry.value.isMap {
                    visit(entry.value, traits.key(target.key).item(number).key(entry.key))
                }
            }
        }
        self = replacing(literals, origin: nil)
        return found
    }

    /// Returns the document with the contents of the referenced files.
    public func replacing(_ contents: [(reference: SpecReference, text: [UInt8])]) -> SpecDocument {
        replacing(contents.map { ($0.reference.index, $0.text) }, origin: .fileContent)
    }

    private func replacing(_ texts: [(index: Int, text: [UInt8])], origin: VariableText?) -> SpecDocument {
        guard !texts.isEmpty else { return self }
        return SpecDocument(root: SpecNode(root.tree.replacing(texts, origin: origin), root.index), file: file)
    }

    /// The number of its values of all kinds, lists and maps included.
    public var valueCount: Int { root.tree.valueCount }
}
