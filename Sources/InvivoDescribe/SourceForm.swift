internal import InvivoBase
internal import InvivoConfig
internal import InvivoGraph
internal import InvivoSpec
internal import InvivoWiring

/// A source in neutral form, independent of its notation in a C table or a manifest.
///
/// `source()` checks the parts and combines them; `init(_:)` splits a source into its parts. Each kind of source occurs
/// once here, and once in each notation.
struct SourceForm {
    /// Numbered as `INVIVO_INJECT_...` of wiring.h.
    enum Kind: UInt32, CaseIterable {
        case value, reference, type, all, argument, arguments, path, list, set, map, provider, lazy, resolver, asker
        case config, text, weak
        case entry = 20
        case entryName
        case context

        var hasName: Bool {
            switch self {
            case .reference, .type, .all, .path, .config, .text, .entry, .context: true
            default: false
            }
        }
    }

    /// A part, with its name where it is an entry of a map.
    typealias Item = (name: String?, source: Injection.Source)

    var kind: Kind
    /// A key, type, path or converter.
    var name: String?
    /// Runtime arguments, elements, the default, or the one source that this one wraps.
    var items: [Item] = []
    /// The constant, or the string that is converted.
    var value: Value?
    /// The number of a runtime argument.
    var index = 0
    /// The kind of a configuration value.
    var valueKind = ValueKind.any
    var isOptional = false
    var isExact = false
    var isGreedy = false
    var orDefault = false

    init(_ kind: Kind, name: String? = nil) {
        self.kind = kind
        self.name = name
    }

    // MARK: putting together

    func source() throws(Failure) -> Injection.Source {
        switch kind {
        case .value: return .value(value ?? .null)
        case .reference: return .reference(try needed(), arguments: items.map(\.source), isOptional: isOptional)
        case .type: return .type(try typeQuery())
        case .all: return .all(try typeQuery())
        case .argument:
            guard 0..<256 ~= index else { throw fail("index is \(index); it must be less than 256") }
            return .argument(index)
        case .arguments: return .arguments
        case .path:
            let path = try needed()
            let names = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
            guard !names.contains("") else { throw fail("'\(path)' is not a property path") }
            return .path(try only(), names, isOptional: isOptional)
        case .list: return .list(items.map(\.source))
        case .set: return .set(items.map(\.source))
        case .map: return .map(try pairs())
        case .provider: return .provider(try only())
        case .lazy: return .lazy(try only())
        case .weak: return .weak(try only())
        case .resolver: return .resolver
        case .asker: return .asker
        case .config: return .config(try needed(), default: try first(), isOptional: isOptional, kind: valueKind)
        case .entry: return .entry(try ConfigPath.checked(name ?? ""), default: try first(), isOptional: isOptional)
        case .entryName: return .entryName
        case .context:
            return .context(try contextKey(), kind: try contextKind(), default: try first(), isOptional: isOptional)
        case .text: return .text(items.isEmpty ? .value(value ?? .null) : try only(), converter: name)
        }
    }

    private func fail(_ message: String) -> Failure { Failure(.argument, message) }

    private func needed() throws(Failure) -> String {
        guard let name else { throw fail("reference is NULL") }
        return name
    }

    private func contextKey() throws(Failure) -> String {
        let key = try needed()
        guard !key.isEmpty else { throw fail("reference is empty; a key of contexts has a name") }
        return key
    }

    /// The name of a kind of contexts in `value`; nil for any.
    private func contextKind() throws(Failure) -> String? {
        switch value {
        case .null?, nil: return nil
        case .string(let kind)?: return kind
        case let other?: throw fail("value is \(other.withKind); expected the name of a kind of contexts, or nothing")
        }
    }

    private func typeQuery() throws(Failure) -> Injection.TypeQuery {
        Injection.TypeQuery(
            name: try needed(), isExact: isExact, isOptional: isOptional, isGreedy: isGreedy, orDefault: orDefault)
    }

    private func only() throws(Failure) -> Injection.Source {
        guard let first = items.first, items.count == 1 else {
            throw fail("items has \(items.count) entries; expected 1")
        }
        return first.source
    }

    /// The default, or nil.
    private func first() throws(Failure) -> Injection.Source? {
        guard items.count < 2 else { throw fail("items has \(items.count) entries; expected at most 1, the default") }
        return items.first?.source
    }

    private func pairs() throws(Failure) -> [(name: String, source: Injection.Source)] {
        var names: NameSet = []
        var pairs: [(name: String, source: Injection.Source)] = []
        for item in items {
            guard let name = item.name, names.insert(name).inserted else {
                throw fail("each item of a map needs a name, and all names must differ")
            }
            pairs.append((name, item.source))
        }
        return pairs
    }

    // MARK: splitting

    init(of source: Injection.Source) {
        switch source.kind {
        case .value(let constant): self.init(.value, constant: constant.value)
        case .document(let document): self.init(.value, constant: document.node.value)
        case .reference(let key, let isOptional): self.init(.reference, name: key.text, isOptional: isOptional)
        case .type(let query): self.init(.type, query)
        case .all(let query): self.init(.all, query)
        case .argument(let index):
            self.init(.argument)
            self.index = index
        case .arguments: self.init(.arguments)
        case .path(let path, let isOptional):
            self.init(.path, name: path.map(\.text).joined(separator: "."), isOptional: isOptional)
        case .list: self.init(.list)
        case .set: self.init(.set)
        case .map(let names):
            self.init(.map)
            items = zip(names, source.parts).map { ($0.text, $1) }
            return
        case .provider: self.init(.provider)
        case .lazy: self.init(.lazy)
        case .weak: self.init(.weak)
        case .resolver: self.init(.resolver)
        case .asker: self.init(.asker)
        case .config(let path, let isOptional, let kind):
            self.init(.config, name: path.text, isOptional: isOptional)
            valueKind = kind
        case .entry(let path, let isOptional):
            self.init(.entry, name: path.text.isEmpty ? nil : path.text, isOptional: isOptional)
        case .entryName: self.init(.entryName)
        case .context(let key, let kind, let isOptional):
            self.init(.context, name: key.text, isOptional: isOptional)
            value = kind.map { .string($0.text) }
        case .text(let converter):
            self.init(.text, name: converter?.text)
            if let text = source.parts.first?.constant {
                value = text
                return
            }
        }
        items = source.parts.map { (nil, $0) }
    }

    private init(_ kind: Kind, name: String? = nil, isOptional: Bool) {
        self.init(kind, name: name)
        self.isOptional = isOptional
    }

    private init(_ kind: Kind, constant value: Value) {
        self.init(kind)
        self.value = value
    }

    private init(_ kind: Kind, _ query: Injection.TypeQuery) {
        self.init(kind, name: query.name)
        (isExact, isOptional, isGreedy, orDefault) = (query.isExact, query.isOptional, query.isGreedy, query.orDefault)
    }
}

extension SourceForm.Kind {
    /// The kind that a manifest spells. Nil for an inline component.
    init?(manifest kind: ManifestForm.Kind) {
        switch kind {
        case .new: return nil
        case .config: self = .config
        case .key: self = .reference
        case .type: self = .type
        case .all: self = .all
        case .path: self = .path
        case .provider: self = .provider
        case .lazy: self = .lazy
        case .weak: self = .weak
        case .argument: self = .argument
        case .arguments: self = .arguments
        case .text: self = .text
        case .set: self = .set
        case .entry: self = .entry
        case .entryName: self = .entryName
        case .context: self = .context
        case .resolver: self = .resolver
        case .asker: self = .asker
        }
    }
}
