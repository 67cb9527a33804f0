public import InvivoBase

/// The two front ends, which produce the same tree.
public enum SpecFormat: Sendable {
    case yaml
    case json

    /// The format by the extension: `.json` is JSON, everything else YAML.
    public static func of(fileName: String) -> SpecFormat {
        fileName.lowercased().hasSuffix(".json") ? .json : .yaml
    }

    /// The end of an error message for a file whose extension names an unsupported format; else "".
    public static func hint(fileName: String) -> String {
        let name = fileName.lowercased()
        let others = [".toml", ".ini", ".cfg", ".conf", ".xml", ".plist", ".properties", ".env", ".jsonc", ".json5"]
        guard let other = others.first(where: name.hasSuffix) else { return "" }
        return "; '\(other)' is not a supported format and is read as YAML. Write YAML, or JSON in a '.json' file"
    }
}

/// Parses a document into a tree. A pure function: no I/O, no state, any thread. Input may be hostile: the result is a
/// tree within the limits, or a failure with a source location.
public enum SpecReader {
    /// Reads one document. The bytes are borrowed for the call.
    ///
    /// Fails with `.tooLarge` (a limit), `.encoding` (not UTF-8), `.empty` (blanks and comments only), `.syntax` (not
    /// well-formed, or a construct that is refused here), or `.range` (a number that no 64 bits hold). A variable that is not
    /// set, or that the document must not use, is `.spec`.
    public static func read(
        _ bytes: UnsafeRawBufferPointer, file: String, format: SpecFormat, limits: SpecLimits = SpecLimits(),
        _ expansion: Expansion = .none
    ) throws(Failure) -> SpecDocument {
        guard bytes.count <= limits.bytes else {
            throw Failure(
                .tooLarge,
                "the document has \(bytes.count) bytes, more than the \(limits.bytes) allowed; "
                    + "max_document_bytes permits more",
                at: Location(file: file))
        }
        let text = try SourceText(bytes, file: file)
        let document: SpecDocument?
        do throws(Failure) {
            document =
                try ContentQuoting.allowed(ContentQuoting.isAllowedForForm) { () throws(Failure) in
                    switch format {
                    case .yaml: try YamlReader.read(text, limits: limits, expansion)
                    case .json: try JsonReader.read(text, limits: limits, expansion)
                    }
                }
        } catch {
            guard error.code == .syntax else { throw error }
            var failure = error
            failure.message += SpecFormat.hint(fileName: file)
            throw failure
        }
        guard let document else {
            let comments = format == .yaml ? " or comments" : ""
            throw Failure(
                .empty,
                "the document is empty (no text, or only blanks\(comments)); write {} for a document without content",
                at: Location(file: file))
        }
        let hint = SpecFormat.hint(fileName: file)
        guard hint.isEmpty || document.root.entries != nil else {
            throw Failure(.syntax, "the document is not a map\(hint)", at: Location(file: file))
        }
        return document
    }

    public static func read(
        _ bytes: [UInt8], file: String, format: SpecFormat, limits: SpecLimits = SpecLimits(),
        _ expansion: Expansion = .none
    ) throws(Failure) -> SpecDocument {
        try bytes.span.withUnsafeBytes { bytes throws(Failure) in
            try read(bytes, file: file, format: format, limits: limits, expansion)
        }
    }

    public static func read(
        _ text: String, file: String, format: SpecFormat, limits: SpecLimits = SpecLimits(),
        _ expansion: Expansion = .none
    ) throws(Failure) -> SpecDocument {
        try read(Array(text.utf8), file: file, format: format, limits: limits, expansion)
    }
}
