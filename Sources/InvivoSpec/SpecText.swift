public import InvivoBase

/// The text of documents, with references to files and environment variables as they were written.
public enum SpecText {
    /// A document as it is written. References and variables are not replaced, and comments are dropped.
    public static func document(
        _ text: [UInt8], file: String, as format: SpecFormat, limits: SpecLimits
    ) throws(Failure) -> String {
        try written(try root(text, file: file, limits: limits), as: format, limits: limits)
    }

    /// The traits of documents as they are written, the first documents below the others. `key` is the target; nil: all
    /// targets.
    public static func traits(
        _ documents: [(text: [UInt8], file: String)], of key: String?, as format: SpecFormat, limits: SpecLimits
    ) throws(Failure) -> String {
        var targets: [(key: String, traits: [SpecNode])] = []
        var indices: NameTable<Int> = [:]
        if let key {
            targets.append((key, []))
            indices[key] = 0
        }
        for document in documents {
            let root = try root(document.text, file: document.file, limits: limits)
            for entry in root[TraitDocument.section(of: root)]?.entries ?? [] {
                if let index = indices[entry.key] {
                    targets[index].traits += entry.value.items ?? []
                } else if key == nil {
                    indices[entry.key] = targets.count
                    targets.append((entry.key, entry.value.items ?? []))
                }
            }
        }
        let map = targets.map { SpecEntry(key: $0.key, value: SpecNode(.list($0.traits))) }
        let root = SpecNode(.map([SpecEntry(key: "traits", value: SpecNode(.map(map)))]))
        return try written(root, as: format, limits: limits)
    }

    private static func root(_ text: [UInt8], file: String, limits: SpecLimits) throws(Failure) -> SpecNode {
        try SpecReader.read(text, file: file, format: .of(fileName: file), limits: limits, .verbatim).root
    }

    /// Writes a tree, and reads the text back to be sure of it.
    private static func written(
        _ root: SpecNode, as format: SpecFormat, limits: SpecLimits
    ) throws(Failure) -> String {
        let text =
            switch format {
            case .yaml: SpecWriter.yaml(root)
            case .json: try SpecWriter.json(root)
            }
        var wide = limits
        wide.bytes = max(limits.bytes, text.utf8.count)
        wide.nodes = .max
        let again = try SpecReader.read(text, file: "", format: format, limits: wide, .verbatim)
        guard again.root.tree.isWritten(like: root.tree) else {
            throw Failure(.internalFault, "the document is not equal to the text that was written for it")
        }
        return text
    }
}
