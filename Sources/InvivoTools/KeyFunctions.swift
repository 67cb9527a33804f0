public import InvivoBase
public import InvivoReload

/// Generates a typed function for each key, so that compilers check names, arguments and results.
///
/// There are no functions for abstract and inline definitions, or for types that have only a block.
public struct KeyFunctions: Sendable {
    struct Function: Sendable {
        let key: String
        /// The end of the function's comment, such as "prototype" or "stands for KEY".
        let summary: String
        /// The name of the type of the objects; empty if it is unknown.
        let type: String
        let parameters: [Signature.Parameter]
        let isNullable: Bool

        /// The part of the key before its first dot; empty without a dot.
        var assembly: String { key.contains(".") ? String(key.prefix { $0 != "." }) : "" }
        /// The part of the key after the assembly.
        var member: String { assembly.isEmpty ? key : String(key.dropFirst(assembly.count + 1)) }
    }

    let functions: [Function]
    /// The types of the keys' objects, sorted by name.
    let types: [(name: String, members: TypeMembers)]
    /// The names of all types that the functions mention, sorted.
    let typeNames: [String]

    /// Fails with `.exists` where two functions or two types would have the same name.
    public init(_ facts: WiringFacts) throws(Failure) {
        let nodes = Dictionary(facts.nodes.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
        var functions: [Function] = []
        var types: [String: TypeMembers] = [:]
        var names: Set<String> = []
        for node in facts.nodes where !node.isAbstract && !Self.isInline(node, nodes) {
            let (target, parameters) = Self.target(of: node, nodes)
            guard !target.members.isBlockOnly else { continue }
            functions.append(
                Function(
                    key: node.key, summary: node.alias.map { "stands for \($0)" } ?? target.scope, type: target.type,
                    parameters: parameters, isNullable: target.call.isNullable))
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

    /// The final target of an alias, and the runtime arguments that the caller must pass.
    private static func target(of node: WiringFacts.Node, _ nodes: [String: WiringFacts.Node]) -> (
        WiringFacts.Node, [Signature.Parameter]
    ) {
        var (node, bound) = (node, 0)
        var declared = node.call.parameters
        // The loop ends, because the runtime refuses cyclic aliases.
        while let alias = node.alias, let next = nodes[alias] {
            bound += node.call.boundArguments
            node = next
            if declared == nil, let parameters = node.call.parameters { declared = Array(parameters.dropFirst(bound)) }
        }
        return (node, declared ?? [])
    }

    /// Whether a node is defined inline. An alias is inline if the definition that its key extends depends on it.
    private static func isInline(_ node: WiringFacts.Node, _ nodes: [String: WiringFacts.Node]) -> Bool {
        guard node.alias != nil else { return node.isInline }
        var rest = Substring(node.key)
        while let dot = rest.lastIndex(of: ".") {
            rest = rest[..<dot]
            if nodes[String(rest)]?.dependencies.contains(where: { $0.key == node.key }) == true { return true }
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

    /// The name as an identifier: anything but an ASCII letter or digit becomes an underscore.
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
    static func isLiteral(_ parameter: Signature.Parameter) -> Bool {
        switch parameter.defaultValue {
        case .bool, .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64, .string: true
        case .float(let number): number.isFinite
        case .double(let number): number.isFinite
        default: false
        }
    }

    /// The literal of a numeric default value.
    static func number(_ value: Value) -> String {
        switch value {
        case .float(let number): "\(number)"
        case .double(let number): "\(number)"
        default: value.signedInteger.map { "\($0)" } ?? value.unsignedInteger.map { "\($0)" } ?? "0"
        }
    }

    /// Distinct identifiers for the names of the parameters, without reserved words.
    static func names(_ parameters: [Signature.Parameter], reserved: Set<String>) -> [String] {
        var taken = reserved
        return parameters.map { parameter in
            var name = identifier(parameter.name)
            while !taken.insert(name).inserted { name += "_" }
            return name
        }
    }
}
