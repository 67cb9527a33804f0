import CInvivo
import Glibc
import InvivoBase
import InvivoConfig
@testable import InvivoGraph

/// Definitions and types in dictionaries: everything that the compiler needs, without a runtime.
final class Definitions {
    let names = KeyNames()
    private(set) var all: [UInt32: Definition] = [:]
    private(set) var index = TypeIndex()
    private var types: [String: ObjectType] = [:]
    private let owner = KeyTable(owner: 1)
    private var order: UInt64 = 0
    var config = ConfigTree()
    var blocked: [String: [String]] = [:]

    /// Registers a type whose initializer takes the parameters, with properties of the kind double.
    @discardableResult
    func type(
        _ name: String, _ parameters: [(name: String, kind: Int, type: String?)] = [], supertypes: [String] = [],
        properties: [String] = []
    ) throws -> ObjectType {
        var strings: [UnsafeMutablePointer<CChar>] = []
        func string(_ text: String) -> UnsafePointer<CChar>? {
            guard let copy = strdup(text) else { return nil }
            strings.append(copy)
            return UnsafePointer(copy)
        }
        defer { for each in strings { free(each) } }
        let listed = parameters.map {
            invivo_parameter(
                name: string($0.name), kind: invivo_kind($0.kind), flags: 0, type_name: $0.type.flatMap(string))
        }
        let others = supertypes.map(string)
        let fields = properties.enumerated().map { index, name in
            var field = invivo_property()
            field.struct_size = MemoryLayout<invivo_property>.size
            field.name = string(name)
            field.kind = invivo_kind(INVIVO_KIND_DOUBLE)
            (field.offset, field.size) = (UInt64(index * 8), 8)
            return field
        }
        let type = try listed.withUnsafeBufferPointer { listed in
            try others.withUnsafeBufferPointer { others in
                try fields.withUnsafeBufferPointer { fields in
                    var options = invivo_type_options()
                    options.struct_size = MemoryLayout<invivo_type_options>.size
                    options.name = string(name)
                    (options.size, options.alignment) = (UInt64(max(1, fields.count) * 8), 8)
                    (options.properties, options.property_count) = (
                        fields.isEmpty ? nil : fields.baseAddress, UInt64(fields.count)
                    )
                    options.concurrency = UInt32(INVIVO_SHARED)
                    (options.parameters, options.parameter_count) = (listed.baseAddress, UInt64(listed.count))
                    (options.supertypes, options.supertype_count) = (others.baseAddress, UInt64(others.count))
                    return ObjectType(try TypeTables.type(&options), owner: owner, keys: names, access: nil)
                }
            }
        }
        types[name] = type
        return type
    }

    /// Adds a definition that `line` of the file "app.yaml" declares.
    @discardableResult
    func define(
        _ key: String, _ type: String? = nil, line: UInt32 = 0, _ change: (inout Definition.Body) -> Void = { _ in }
    ) throws -> Definition {
        var body = Definition.Body()
        body.scope = .singleton
        body.type = type.flatMap { types[$0] }
        if line > 0 { body.location = Location(file: "app.yaml", line: line, column: 3) }
        order += 1
        body.order = DefinitionOrder(number: order)
        change(&body)
        let definition = Definition(id: try names.intern(key), key: key, body)
        let former = all.updateValue(definition, forKey: definition.id)
        _ = index.set([TypeIndex.Change(id: definition.id, definition: definition, former: former)])
        return definition
    }

    func compiler() -> RecipeCompiler {
        let (all, names, blocked, config) = (all, names, blocked, config)
        let definitions = DefinitionLookup(
            described: { all[$0] }, identify: names.id(of:), knownKeys: { all.values.map(\.key).sorted() },
            missingDependencies: { blocked[names.name($0)] })
        let lookup = ConfigLookup(
            tree: config, placeOfNull: { _ in nil }, intern: { (try? names.intern(config: $0)) ?? .max },
            converter: { _ in nil }, converters: { [] })
        return RecipeCompiler(.init(definitions: definitions, types: index, config: lookup))
    }

    /// Compiles one definition. Returns its compiled form and the errors.
    func compile(_ key: String, former: Recipe? = nil) -> (recipe: Recipe?, failures: [Failure]) {
        var compiler = compiler()
        guard let id = names.id(of: key), let definition = all[id] else { return (nil, []) }
        let recipe = compiler.compile(definition, former: former)
        return (recipe, compiler.ownFailures)
    }

    func id(_ key: String) -> UInt32 { names.id(of: key) ?? .max }
}

extension Failure {
    /// The error as a tool prints it: location, key and message.
    var line: String { "\(location.text): \(path): \(message)" }
}
