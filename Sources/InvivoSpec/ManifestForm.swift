internal import InvivoBase

/// A value of a manifest that is neither data nor the object of a key: a map with one key that begins with `$`, and its
/// options.
///
///     { $config: voices, default: 8 }          a value of the configuration; `$config.voices` is the same without default
///     { $key: synth.voice, arguments: [60] }   the object of a key with runtime arguments
///     { $new: { type: Quest, scope: graph } }  an inline component, whose key is derived from its position
///     { $type: Clock, optional: true }         the object of a type; `exact`, `greedy`
///     { $all: Filter }                         a list, one of each; `added: plug, removed: unplug`, methods of the component
///                                              that later additions and removals call
///     { $path: theme.name, of: $app.settings } a property of another object
///     { $provider: $synth.voice }              a callable that resolves each time; `$lazy`: once; `$weak`: one that
///                                              returns an existing object, and creates none
///     { $argument: 0 }                         a runtime argument; `$arguments: all`, the list of them
///     { $text: '64 KiB', by: bytes }           a value read from a string; also `$text: $config.limit`
///     { $set: [a, b] }                         a list without duplicates
///     { $entry: note, default: 60 }            in a component with `each`: a value of its entry; also
///                                              `$entry.note`, `$entry`, and `$entry-name`, its name
///     { $context: user, default: guest }       the value of a key of contexts; `kind: session` begins in the nearest context of that
///                                              kind; also `$context.user` and `$context(session).user`
///     { $resolver: any } and { $asker: key }
public struct ManifestForm: Sendable {
    public enum Kind: String, Sendable, CaseIterable {
        case config, key, new, type, all, path, provider, lazy, weak, argument, arguments, text, set, entry, resolver
        case asker, context
        case entryName = "entry-name"

        /// The keys that are allowed beside this one.
        var others: [String] {
            switch self {
            case .config, .entry: ["default", "optional", "on_change", "owns"]
            case .context: ["kind", "default", "optional"]
            case .key: ["arguments", "optional", "on_change", "owns"]
            case .new: ["optional", "on_change", "owns"]
            case .type: ["optional", "exact", "greedy", "on_change", "owns"]
            case .all: ["exact", "added", "removed", "on_change", "owns"]
            case .path: ["of", "optional", "on_change", "owns"]
            case .text: ["by", "on_change"]
            case .provider, .lazy, .weak: ["owns"]
            default: []
            }
        }
    }

    public let kind: Kind
    /// A path, key, type or text.
    public var name = ""
    /// The items, arguments, default value or operand of the form.
    public var items: [ManifestInjection] = []
    public var index = 0
    /// The kind of contexts of a `$context`; nil: any.
    public var contextKind: String?
    public var isOptional = false
    public var isExact = false
    public var isGreedy = false
    /// The inline component. The reader of the outer component derives its key from its position.
    public var components: [ManifestComponent] = []
    /// The converter of a `$text`.
    public var converter: String?
    /// How the holder follows changes of this injection; nil = as the component declares.
    public var onChange: ManifestOnChange?
    /// Whether the holder is set up again when what it receives changes.
    public var owns = false
    /// The methods that an `$all` calls when candidates are added and removed.
    public var listeners: (added: String, removed: String)?
}

extension ManifestChecker {
    mutating func config(of root: SpecNode) -> SpecNode? { TraitDocument.config(of: root, &checker) }

    /// The form that a map is; nil when it is data.
    mutating func form(_ entries: [SpecEntry], path: SpecPath, at location: Location) -> ManifestForm? {
        guard let head = entries.first(where: { $0.key.hasPrefix("$") && !$0.key.hasPrefix("$$") }) else { return nil }
        let names = ManifestForm.Kind.allCases.map { "$" + $0.rawValue }
        guard let kind = ManifestForm.Kind(rawValue: String(head.key.dropFirst())) else {
            let near = suggestion(for: head.key, among: names)
            checker.fail(
                "unknown form \(quotedName(head.key))\(near); double the dollar sign of a key that begins with one",
                path: path, at: head.keyLocation)
            return ManifestForm(kind: .asker)
        }
        for entry in entries where entry.key != head.key && !kind.others.contains(entry.key) {
            let near = suggestion(for: entry.key, among: kind.others)
            checker.fail(
                "unknown key \(quotedName(entry.key)) beside '\(head.key)'\(near)", path: path, at: entry.keyLocation)
        }
        var form = ManifestForm(kind: kind)
        form.isOptional = flag("optional", entries, path)
        form.isExact = flag("exact", entries, path)
        form.isGreedy = flag("greedy", entries, path)
        form.owns = flag("owns", entries, path)
        form.onChange = entries["on_change"].flatMap { checker.onChange($0, path: path.key("on_change")) }
        let inner = path.key(head.key)
        switch kind {
        case .config: form.name = checker.text(head.value, "a path of the configuration", path: inner) ?? ""
        case .entry: form.name = checker.text(head.value, "a path below the entry", path: inner) ?? ""
        case .context:
            form.name = checker.text(head.value, "a key of contexts", path: inner) ?? ""
            form.contextKind = entries["kind"].flatMap {
                checker.text($0, "the name of a kind of contexts", path: path.key("kind"))
            }
        case .key: form.name = checker.text(head.value, "a key", path: inner) ?? ""
        case .new: form.components = standing(head.value, path: inner, at: head.keyLocation)
        case .type, .all: form.name = checker.text(head.value, "the name of a type", path: inner) ?? ""
        case .path: form.name = checker.text(head.value, "a path of properties", path: inner) ?? ""
        case .argument:
            if case .integer(let index) = head.value.content, 0..<256 ~= index {
                form.index = Int(index)
            } else {
                checker.expected("the number of a runtime argument, from 0", head.value, path: inner)
            }
        case .provider, .lazy, .weak: form.items = [injection(head.value, inner)]
        case .set:
            form.items = injections(checker.list(head.value, "of values", path: inner) ?? [], path: inner)
        case .text:
            form.items = [injection(head.value, inner)]
            form.converter = entries["by"].flatMap { checker.text($0, "the name of a converter", path: path.key("by")) }
        case .arguments, .resolver, .asker, .entryName: break
        }
        let listeners = ["added", "removed"].map { name in
            entries[name].flatMap { checker.text($0, "the name of a method", path: path.key(name)) }
        }
        if let added = listeners[0], let removed = listeners[1] {
            form.listeners = (added, removed)
        } else if entries["added"] == nil, listeners[1] != nil {
            checker.fail("'removed' needs 'added' beside it", path: path, at: location)
        } else if entries["removed"] == nil, listeners[0] != nil {
            checker.fail("'added' needs 'removed' beside it", path: path, at: location)
        }
        if let other = entries["default"] { form.items = [injection(other, path.key("default"))] }
        if let arguments = entries["arguments"] {
            let path = path.key("arguments")
            form.items = injections(checker.list(arguments, "of arguments", path: path) ?? [], path: path)
        }
        if kind == .path {
            if let of = entries["of"] {
                form.items = [injection(of, path.key("of"))]
            } else {
                checker.fail("the key 'of' is missing; it says whose property it is", path: path, at: location)
            }
        }
        return form
    }

    private mutating func injection(_ node: SpecNode, _ path: SpecPath) -> ManifestInjection {
        ManifestInjection(
            name: nil, value: value(node, path: path), nameLocation: node.location, location: node.location,
            path: path.text)
    }

    mutating func flag(_ name: String, _ entries: [SpecEntry], _ path: SpecPath) -> Bool {
        guard let node = entries[name] else { return false }
        if case .bool(let flag) = node.content { return flag }
        checker.expected("true or false", node, path: path.key(name))
        return false
    }
}
