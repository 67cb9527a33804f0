public import InvivoBase

/// What a trait document says: for each target, the traits that are to hold, in order. Only the form is checked here;
/// which trait types and properties there are is known to the traits room.
///
///     traits:
///       synth.lead:
///         - Set: { gain: 0.5, cutoff: 1.2 kHz }
///         - { type: Set, wave: saw }
public struct TraitDocument: Sendable {
    public let entries: [TraitEntry]
    /// What stands under `config:`, a map whose values may be anything.
    public let config: SpecNode?
    public let file: String

    /// Reports all that is wrong at once, as `.spec`.
    public init(_ document: SpecDocument) throws(Failure) {
        var checker = DocumentChecker()
        entries = try Self.entries(of: document.root, &checker)
        config = Self.config(of: document.root, &checker)
        file = document.file
        try checker.failures.throwIfAny()
    }

    public static func read(
        _ bytes: UnsafeRawBufferPointer, file: String, format: SpecFormat, limits: SpecLimits = SpecLimits()
    ) throws(Failure) -> TraitDocument {
        try TraitDocument(SpecReader.read(bytes, file: file, format: format, limits: limits))
    }
}

/// The traits of one target.
public struct TraitEntry: Sendable {
    public let target: String
    public let targetPlace: Place
    public let traits: [TraitSpec]
}

/// One trait: its type and its parameters, the same for the short and the long form.
public struct TraitSpec: Sendable {
    public let type: String
    public let typePlace: Place
    public let parameters: [SpecEntry]
    public let place: Place
    /// Its key path in the document, "traits.synth.lead[0]", and that of the map of its parameters, which the short form
    /// has under the trait's name, for errors found later.
    public let path: String
    public let parametersPath: String

    /// Whether another version of the same document has the same trait at the same line and column.
    public func isSame(as other: TraitSpec) -> Bool {
        place.isSamePosition(as: other.place) && typePlace.isSamePosition(as: other.typePlace)
            && type.isSameName(as: other.type) && path.isSameName(as: other.path)
            && parametersPath.isSameName(as: other.parametersPath)
            && parameters.elementsEqual(other.parameters) { $0.isSame(as: $1) }
    }

    /// The key path of a parameter, or of what is nested in it.
    public func path(of keys: [String]) -> String {
        keys.reduce(SpecPath(text: parametersPath)) { $0.key($1) }.text
    }
}

extension TraitDocument {
    private static func entries(
        of root: SpecNode, _ checker: inout DocumentChecker
    ) throws(Failure) -> [TraitEntry] {
        let known = ["traits", "config"]
        let path = SpecPath()
        guard let map = checker.map(root, "with the keys 'traits' and 'config'", path: path) else { return [] }
        checker.refuseUnknownKeys(map, known: known, path: path)
        guard let traits = map["traits"] else {
            // An unknown key is most likely a misspelt one, and then already noted.
            if !map.isEmpty && map["config"] == nil && checker.failures.isEmpty {
                checker.fail("the key 'traits' is missing", path: path, at: root.place)
            }
            return []
        }
        let all = path.key("traits")
        let hint = "write {} if no trait is to hold"
        let targets = checker.map(traits, "of targets and their lists of traits", path: all, hint: hint) ?? []
        var found: [TraitEntry] = []
        for target in targets {
            if let entry = try entry(target, path: all, &checker) { found.append(entry) }
        }
        return found
    }

    /// Each is a map around what follows.
    private static let mostNames = 64

    static func config(of root: SpecNode, _ checker: inout DocumentChecker) -> SpecNode? {
        guard let node = root["config"] else { return nil }
        let path = SpecPath().key("config")
        let hint = "write {} if nothing is configured"
        guard let entries = checker.map(node, "of assemblies and their values", path: path, hint: hint) else {
            return nil
        }
        for entry in entries {
            guard checker.checkName(entry, "the name of an assembly", path: path) else { continue }
            let names = entry.key.split(separator: ".", omittingEmptySubsequences: false)
            if names.contains("") {
                checker.fail(
                    "expected names joined by dots, found \(quoted(entry.key))", path: path, at: entry.keyPlace)
            } else if names.count > mostNames {
                checker.fail(
                    "a path leads through at most \(mostNames) names, not \(names.count)", path: path,
                    at: entry.keyPlace)
            }
        }
        return node
    }

    private static func entry(
        _ entry: SpecEntry, path: SpecPath, _ checker: inout DocumentChecker
    ) throws(Failure) -> TraitEntry? {
        guard checker.checkName(entry, "the key of a target", path: path) else { return nil }
        let path = path.key(entry.key)
        let hint = "write [] if no trait is to hold for it"
        if let value = entry.value.entries {
            let first = value.first.map { ", as in '- \(SpecPath().key($0.key).text): ...'" } ?? ""
            let message = "expected a list of traits, found a map; begin each trait with '- '\(first)"
            checker.fail(message, path: path, at: entry.value.place)
            return nil
        }
        guard let items = checker.list(entry.value, "of traits", path: path, hint: hint) else { return nil }
        var traits: [TraitSpec] = []
        for (index, item) in items.enumerated() {
            try Loading.check()
            if let trait = trait(item, path: path.item(index), &checker) { traits.append(trait) }
        }
        return TraitEntry(target: entry.key, targetPlace: entry.keyPlace, traits: traits)
    }

    private static func trait(_ item: SpecNode, path: SpecPath, _ checker: inout DocumentChecker) -> TraitSpec? {
        let form = "such as 'Set: { gain: 0.5 }'"
        guard let entries = item.entries, let first = entries.first else {
            checker.expected("a trait \(form)", item, path: path)
            return nil
        }
        if let type = entries.first(where: { $0.key == "type" }) {
            guard let name = checker.text(type.value, "the name of a trait", path: path.key("type")) else { return nil }
            return TraitSpec(
                type: name, typePlace: type.value.place, parameters: entries.filter { $0.key != "type" },
                place: item.place, path: path.text, parametersPath: path.text)
        }
        guard entries.count == 1 else {
            var message = "expected one trait \(form), found the keys \(shown(entries))"
            message +=
                first.value.isNull
                ? "; indent the parameters deeper than the trait's name"
                : "; begin each trait with '- ', or give its name by 'type:'"
            checker.fail(message, path: path, at: entries[1].keyPlace)
            return nil
        }
        guard checker.checkName(first, "the name of the trait", path: path) else { return nil }
        if !first.value.isNull && first.value.entries == nil {
            checker.expected("the parameters as a map, \(form)", first.value, path: path.key(first.key))
            return nil
        }
        return TraitSpec(
            type: first.key, typePlace: first.keyPlace, parameters: first.value.entries ?? [], place: item.place,
            path: path.text, parametersPath: path.key(first.key).text)
    }

    private static func shown(_ entries: [SpecEntry]) -> String {
        let names = entries.prefix(4).map { quoted($0.key) }.joined(separator: ", ")
        return entries.count > 4 ? names + ", ..." : names
    }
}
