public import InvivoBase

/// What a type says of itself, copied: it outlives the runtime.
public struct TypeMembers: Sendable {
    public var supertypes: [String] = []
    public var properties: [(name: String, kind: ValueKind, isReadOnly: Bool)] = []
    public var methods: [(name: String, parameters: [Parameter], result: ValueKind)] = []
    /// Nothing but a block, which is read through views.
    public var isBlockOnly = false

    init() {}

    init(_ type: TypeDescription) {
        supertypes = type.supertypes
        // A name that no language can write is its face's own affair.
        properties = type.properties.filter { !$0.name.contains(":") }.map { ($0.name, $0.kind, $0.isReadOnly) }
        methods = type.methods.filter { !$0.name.contains(":") }.map { ($0.name, $0.signature.parameters, $0.result) }
        isBlockOnly = type.size == 0 && type.functions.make == nil && type.blockSize > 0
    }
}

/// A function for each key, as the languages write one: names, arguments and results are then checked by their compilers.
public struct KeyFunctions: Sendable {
    struct Function: Sendable {
        let key: String
        /// "a prototype", for the comment.
        let what: String
        /// What it makes, a type's name; "" where that is open.
        let type: String
        let parameters: [Parameter]
        let isNullable: Bool

        /// What is before the first dot of the key; "" where there is none.
        var assembly: String { key.contains(".") ? String(key.prefix { $0 != "." }) : "" }
        /// The rest.
        var member: String { assembly.isEmpty ? key : String(key.dropFirst(assembly.count + 1)) }
    }

    let functions: [Function]
    /// Of the types that are made, by name.
    let types: [(name: String, members: TypeMembers)]
    /// All types that come up, sorted.
    let typeNames: [String]

    public init(_ graph: WiringGraph) throws(Failure) {
        let nodes = Dictionary(graph.nodes.map { ($0.key, $0) }, uniquingKeysWith: { a, _ in a })
        var functions: [Function] = []
        var types: [String: TypeMembers] = [:]
        var names: Set<String> = []
        for node in graph.nodes where !node.isAbstract && !Self.isInline(node, nodes) {
            let (target, parameters) = Self.target(of: node, nodes)
            guard !target.members.isBlockOnly else { continue }
            functions.append(
                Function(
                    key: node.key, what: node.alias.map { "stands for \($0)" } ?? target.scope, type: target.type,
                    parameters: parameters, isNullable: target.isNullable))
            if !target.type.isEmpty { types[target.type] = target.members }
            names.formUnion(parameters.compactMap(\.typeName))
        }
        names.formUnion(types.keys)
        for members in types.values { names.formUnion(members.supertypes) }
        self.functions = functions
        self.types = types.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        typeNames = names.sorted()
        try Self.checkNames(functions.map(\.key), "the keys")
        try Self.checkNames(typeNames, "the types")
    }

    /// What an alias stands for in the end, and the arguments that are left to be given to it.
    private static func target(of node: WiringGraph.Node, _ nodes: [String: WiringGraph.Node]) -> (
        WiringGraph.Node, [Parameter]
    ) {
        var (node, bound) = (node, 0)
        var declared = node.declares ? node.parameters : nil
        // There are no circles of them.
        while let alias = node.alias, let next = nodes[alias] {
            bound += node.bound
            node = next
            if declared == nil && node.declares { declared = Array(node.parameters.dropFirst(bound)) }
        }
        return (node, declared ?? [])
    }

    /// Whether it stands in another definition. A name alone says nothing of itself: then one before a dot refers to it.
    private static func isInline(_ node: WiringGraph.Node, _ nodes: [String: WiringGraph.Node]) -> Bool {
        guard node.alias != nil else { return node.isInline }
        var rest = Substring(node.key)
        while let dot = rest.lastIndex(of: ".") {
            rest = rest[..<dot]
            if nodes[String(rest)]?.needs.contains(where: { $0.key == node.key }) == true { return true }
        }
        return false
    }

    private static func checkNames(_ names: [String], _ what: String) throws(Failure) {
        var seen: [String: String] = [:]
        for name in names {
            if let other = seen.updateValue(name, forKey: identifier(name)) {
                throw Failure(
                    .exists,
                    "\(what) '\(other)' and '\(name)' would both be '\(identifier(name))'; name one of them otherwise",
                    path: name)
            }
        }
    }

    /// A name as an identifier: what is no letter, digit or underscore becomes an underscore.
    static func identifier(_ name: String) -> String {
        var text = ""
        for scalar in name.unicodeScalars {
            text +=
                scalar.isASCII && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)) ? "\(scalar)" : "_"
        }
        if let first = text.unicodeScalars.first, !("0"..."9").contains(first) { return text }
        return "_" + text
    }

    /// Whether the default of a parameter can be written as a literal in every language.
    static func isLiteral(_ parameter: Parameter) -> Bool {
        switch parameter.defaultValue {
        case .bool, .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64, .string: true
        case .float(let number): number.isFinite
        case .double(let number): number.isFinite
        default: false
        }
    }

    /// The literal of a default that is a number.
    static func number(_ value: Value) -> String {
        switch value {
        case .float(let number): "\(number)"
        case .double(let number): "\(number)"
        default: value.signedInteger.map { "\($0)" } ?? value.unsignedInteger.map { "\($0)" } ?? "0"
        }
    }

    /// The parameters' names as identifiers that are neither reserved nor twice.
    static func names(_ parameters: [Parameter], reserved: Set<String>) -> [String] {
        var taken = reserved
        return parameters.map { parameter in
            var name = identifier(parameter.name)
            while !taken.insert(name).inserted { name += "_" }
            return name
        }
    }
}
