internal import CInvivo

/// The current wiring: definitions, dependencies and live objects. A copy of one moment.
public struct WiringGraph: Sendable {
    /// The way in which a dependency is injected.
    public enum How: String, Sendable {
        /// Through the initializer: the dependent is rebuilt with it.
        case initializer
        /// Through a property or method: it is injected again.
        case injection
        /// Through a provider or lazy reference.
        case late
        /// Resolved by code during the creation of the shared instance.
        case asked
        /// An alias of the key.
        case alias
        /// A value of the configuration: the key is its path.
        case configuration
    }

    /// A dependency of a key.
    public struct Need: Sendable, Equatable {
        /// The key, or a path of the configuration.
        public let key: String
        public let how: How
        /// How the objects follow its changes.
        public let onChange: OnChange
        /// If the object keeps a former object or value: the generation that first replaced it.
        public let keptSince: Int?
        /// Whether it is a path of the configuration whose value is secret, or a part of it.
        public let isSecret: Bool
    }

    /// A key with its definition and state.
    public struct Node: Sendable {
        /// Its name.
        public let key: String
        /// The name of its object's type.
        public let type: String
        /// `singleton`, `lazy singleton`, ...; empty for an alias.
        public let scope: String
        /// The target of an alias.
        public let alias: String?
        /// Whether it is for children only.
        public let isAbstract: Bool
        /// The rank for lists and lookups by type.
        public let rank: Int
        /// The generation that introduced the current definition of the key.
        public let generation: Int
        /// The number of its live objects.
        public let live: Int
        /// The time of building its shared instance, including its dependencies; nil without an instance.
        public let buildTime: Duration?
        /// The source location of the declaration: the file, or empty, and the line, or 0.
        public let file: String, line: Int
        /// The key whose traits apply to its objects, "none" for no traits; nil if it is its own key.
        public let specKey: String?
        /// Whether a document has decided about the definition (`wiring:`), at this location.
        public let isWired: Bool
        /// The dependencies of the key.
        public let needs: [Need]
    }

    /// The nodes, sorted by key.
    public let nodes: [Node]

    init(_ facts: InvivoValue) throws(InvivoError) {
        var nodes: [Node] = []
        for node in try facts.get([InvivoValue].self) { nodes.append(try Node(node.get([String: InvivoValue].self))) }
        self.nodes = nodes
    }

    /// The text formats of the graph.
    public enum Format: UInt32, Sendable, CaseIterable {
        /// The nodes as a list.
        case json = 1
        /// For Graphviz.
        case dot = 2
        /// A Mermaid flowchart.
        case mermaid = 3
        /// A C header with a function for each key.
        case keysC = 16
        /// Key functions as a Swift file.
        case keysSwift = 17
        /// Key functions as a Python module.
        case keysPython = 18
        /// The JSON Schema of the spec files of the application.
        case schema = 24
        /// The values of the configuration that nothing reads, a line each; of `Application.check` alone.
        case unread = 32
    }
}

extension WiringGraph.Node {
    fileprivate init(_ facts: [String: InvivoValue]) throws(InvivoError) {
        func text(_ name: String) throws(InvivoError) -> String { try facts[name]?.get(String.self) ?? "" }
        func number(_ name: String) throws(InvivoError) -> Int { try facts[name]?.get(Int.self) ?? 0 }
        key = try text("key")
        type = try text("type")
        scope = try text("scope")
        alias = facts["alias"] == nil ? nil : try text("alias")
        isAbstract = facts["abstract"] != nil
        rank = try number("rank")
        generation = try number("generation")
        live = try number("live")
        buildTime = facts["built_ns"] == nil ? nil : .nanoseconds(try number("built_ns"))
        file = try text("file")
        line = try number("line")
        specKey = facts["spec_key"] == nil ? nil : try text("spec_key")
        isWired = facts["wired"] != nil
        var needs: [WiringGraph.Need] = []
        for need in try facts["needs"]?.get([[String: InvivoValue]].self) ?? [] {
            guard let key = try need["key"]?.get(String.self),
                let how = WiringGraph.How(rawValue: try need["how"]?.get(String.self) ?? "")
            else { continue }
            needs.append(
                WiringGraph.Need(
                    key: key, how: how, onChange: OnChange(named: try need["on_change"]?.get(String.self)),
                    keptSince: try need["kept_since"]?.get(Int.self), isSecret: need["secret"] != nil))
        }
        self.needs = needs
    }
}

extension Runtime {
    /// The wiring of the newest generation.
    public var wiring: WiringGraph {
        get throws(InvivoError) {
            var facts = invivo_value()
            try core.call { $0.pointee.graph_describe(core.handle, UInt32(INVIVO_GRAPH_FACTS), &facts, $1) }
            return try WiringGraph(InvivoValue(taking: &facts, core))
        }
    }

    /// The wiring graph in a text format.
    public func wiring(as format: WiringGraph.Format) throws(InvivoError) -> String {
        var text = invivo_value()
        try core.call { $0.pointee.graph_describe(core.handle, format.rawValue, &text, $1) }
        return try InvivoValue(taking: &text, core).get()
    }

    /// The JSON Schema of the spec files that the runtime accepts, for editors and checks.
    public func schemaText() throws(InvivoError) -> String { try wiring(as: .schema) }
}

extension Application {
    /// Checks a manifest without creating an object: modules are loaded, but no factory or initializer is run. Returns
    /// the described wiring in a text format. Throws all errors that a start would find.
    ///
    /// - Parameters:
    ///   - waiting: Accepts invalid documents, and does not read them.
    ///   - withoutModules: Loads no module, so that no code of the manifest runs. Only the form of the manifest and of
    ///     its documents is checked.
    @discardableResult
    public static func check(
        _ manifest: String, _ options: Runtime.Options = .application, waiting: Bool = false,
        withoutModules: Bool = false,
        as format: WiringGraph.Format = .json
    ) throws(InvivoError) -> String {
        let table = try Core.own()
        var text = invivo_value()
        try withArena { arena throws(InvivoError) in
            var app = invivo_app_options()
            app.struct_size = MemoryLayout<invivo_app_options>.size
            app.manifest = try arena.name(manifest)
            if waiting { app.flags |= UInt32(INVIVO_APP_WAIT) }
            if withoutModules { app.flags |= UInt32(INVIVO_APP_WITHOUT_MODULES) }
            try options.opening(arena, table) { raw throws(InvivoError) in
                app.runtime = raw
                try Core.call(table) { $0.pointee.app_check(&app, format.rawValue, &text, $1) }
            }
        }
        defer { table.pointee.value_clear(&text) }
        let bytes = UnsafeBufferPointer(start: text.as.string.data, count: Int(text.as.string.length))
        return bytes.withMemoryRebound(to: UInt8.self) { String(decoding: $0, as: UTF8.self) }
    }
}
