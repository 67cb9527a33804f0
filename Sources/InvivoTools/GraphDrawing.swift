public import InvivoBase
public import InvivoReload
internal import InvivoSpec

/// The wiring in formats for tools.
extension WiringFacts {
    /// A list with one map for each key.
    public var value: Value {
        .list(
            nodes.map { node in
                var pairs: [(name: String, value: Value)] = [
                    ("key", .string(node.key)), ("type", .string(node.type)), ("scope", .string(node.scope)),
                ]
                if let alias = node.alias { pairs.append(("alias", .string(alias))) }
                if node.isAbstract { pairs.append(("abstract", .bool(true))) }
                if node.rank != 0 { pairs.append(("rank", .int64(Int64(node.rank)))) }
                pairs.append(("generation", .int64(Int64(clamping: node.instances.generation))))
                pairs.append(("live", .int64(Int64(clamping: node.instances.live))))
                if let time = node.instances.buildTime { pairs.append(("built_ns", .int64(Int64(clamping: time)))) }
                if !node.location.file.isEmpty { pairs.append(("file", .string(node.location.file))) }
                if node.location.line > 0 { pairs.append(("line", .int64(Int64(node.location.line)))) }
                if node.location.column > 0 { pairs.append(("column", .int64(Int64(node.location.column)))) }
                if let specKey = node.specKey { pairs.append(("spec_key", .string(specKey))) }
                if node.isWired { pairs.append(("wired", .bool(true))) }
                let needs = node.dependencies.map { dependency in
                    var pairs: [(name: String, value: Value)] = [
                        ("key", .string(dependency.key)), ("how", .string(dependency.how.rawValue)),
                    ]
                    if dependency.onChange != .follow {
                        pairs.append(("on_change", .string("\(dependency.onChange)")))
                    }
                    if let generation = dependency.keptSince {
                        pairs.append(("kept_since", .int64(Int64(clamping: generation))))
                    }
                    if dependency.isSecret { pairs.append(("secret", .bool(true))) }
                    return Value.map(pairs)
                }
                pairs.append(("needs", .list(needs)))
                return .map(pairs)
            })
    }

    /// `value` as JSON on one line.
    public var json: String { Self.json(value) + "\n" }

    private static func json(_ value: Value) -> String {
        switch value {
        case .list(let items): "[" + items.map(json).joined(separator: ", ") + "]"
        case .map(let pairs):
            "{" + pairs.map { SpecWriter.doubleQuoted($0.name) + ": " + json($0.value) }.joined(separator: ", ") + "}"
        case .bool(let flag): flag ? "true" : "false"
        case .int64(let number): "\(number)"
        case .string(let text): SpecWriter.doubleQuoted(text)
        default: "null"
        }
    }

    /// A digraph for Graphviz, with one cluster for each assembly. Shared objects are boxes, all others are ellipses. Injected
    /// dependencies are dashed, deferred ones are dotted, and kept former ones are red.
    public var dot: String {
        let drawing = GraphDrawing(self)
        var out = "digraph wiring {\n    rankdir=LR;\n    fontname=\"sans-serif\";\n"
        out += "    node [fontname=\"sans-serif\", fontsize=10];\n"
        out += "    edge [fontname=\"sans-serif\", fontsize=8];\n"
        for (number, assembly) in drawing.assemblies.enumerated() {
            out += "    subgraph cluster_\(number) {\n        label=\(Self.dotQuoted([assembly.name]));\n"
            out += "        style=rounded;\n        color=gray;\n"
            for index in assembly.nodes {
                let node = nodes[index]
                let shape = node.isShared ? "box" : node.alias == nil ? "ellipse" : "plain"
                let style =
                    node.isAbstract
                    ? ", style=dashed" : node.instances.live > 0 ? ", style=filled, fillcolor=aliceblue" : ""
                out += "        n\(index) [label=\(Self.dotQuoted(node.label)), shape=\(shape)\(style)];\n"
            }
            out += "    }\n"
        }
        for arrow in drawing.arrows {
            let style =
                switch arrow.how {
                case .initializer: "solid"
                case .injection: "dashed"
                case .deferred, .asked, .configuration: "dotted"
                case .alias: "bold"
                }
            let tooltip = Self.dotQuoted([arrow.how.rawValue])
            let kept = arrow.isKept ? ", color=orangered, label=kept" : ""
            out += "    n\(arrow.from) -> n\(arrow.to) [style=\(style)\(kept), tooltip=\(tooltip)];\n"
        }
        return out + "}\n"
    }

    private static func dotQuoted(_ lines: [String]) -> String {
        "\"" + escaped(lines, separator: "\\n") { "\"\\".unicodeScalars.contains($0) ? "\\\($0)" : nil } + "\""
    }

    /// A Mermaid flowchart: one subgraph for each assembly.
    public var mermaid: String {
        let drawing = GraphDrawing(self)
        var out = "flowchart LR\n"
        for (number, assembly) in drawing.assemblies.enumerated() {
            out += "    subgraph a\(number)[\"\(Self.mermaidText([assembly.name]))\"]\n"
            for index in assembly.nodes {
                let text = "\"\(Self.mermaidText(nodes[index].label))\""
                out += "        n\(index)" + (nodes[index].isShared ? "[\(text)]" : "(\(text))") + "\n"
            }
            out += "    end\n"
        }
        for arrow in drawing.arrows {
            let line =
                switch arrow.how {
                case _ where arrow.isKept: "-.->|kept|"
                case .initializer: "-->"
                case .injection: "-->|injected|"
                case .deferred, .asked, .alias, .configuration: "-.->|\(arrow.how.rawValue)|"
                }
            out += "    n\(arrow.from) \(line) n\(arrow.to)\n"
        }
        return out
    }

    /// Characters with a meaning in Mermaid or HTML are written by their number.
    private static func mermaidText(_ lines: [String]) -> String {
        escaped(lines, separator: "<br/>") { "\"#<>&;`\\".unicodeScalars.contains($0) ? "#\($0.value);" : nil }
    }

    /// Joins the lines of a label. Control characters become spaces.
    private static func escaped(
        _ lines: [String], separator: String, _ escape: (Unicode.Scalar) -> String?
    ) -> String {
        let escaped = lines.map { line in
            line.unicodeScalars.reduce(into: "") { out, scalar in
                if scalar.value < 32 || scalar.value == 127 {
                    out += " "
                } else if let text = escape(scalar) {
                    out += text
                } else {
                    out.unicodeScalars.append(scalar)
                }
            }
        }
        return escaped.joined(separator: separator)
    }
}

/// The elements of a drawing, by the index of their nodes.
private struct GraphDrawing {
    /// The assemblies, sorted by name, each with its nodes.
    var assemblies: [(name: String, nodes: [Int])] = []
    /// The dependencies on keys that exist.
    var arrows: [(from: Int, to: Int, how: WiringFacts.How, isKept: Bool)] = []

    init(_ facts: WiringFacts) {
        var numbers: NameTable<Int> = [:]
        var indices: NameTable<Int> = [:]
        for (index, node) in facts.nodes.enumerated() {
            indices[node.key] = index
            if let known = numbers[node.assembly] {
                assemblies[known].nodes.append(index)
            } else {
                numbers[node.assembly] = assemblies.count
                assemblies.append((node.assembly, [index]))
            }
        }
        for (from, node) in facts.nodes.enumerated() {
            for dependency in node.dependencies {
                if dependency.how != .configuration, let to = indices[dependency.key] {
                    arrows.append((from, to, dependency.how, dependency.keptSince != nil))
                }
            }
        }
    }
}

extension WiringFacts.Node {
    fileprivate var isShared: Bool { scope.hasSuffix("singleton") }

    /// The lines of its label.
    fileprivate var label: [String] {
        var lines = [key]
        var second = [type, scope].filter { !$0.isEmpty }
        if isAbstract { second.append("abstract") }
        if !second.isEmpty { lines.append(second.joined(separator: ", ")) }
        var third: [String] = []
        if instances.generation > 0 { third.append("generation \(instances.generation)") }
        if instances.live > 0 { third.append("\(instances.live) live") }
        if let buildTime = instances.buildTime { third.append(Self.duration(buildTime)) }
        if !third.isEmpty { lines.append(third.joined(separator: ", ")) }
        if !location.file.isEmpty { lines.append(location.file + (location.line > 0 ? ":\(location.line)" : "")) }
        return lines
    }

    private static func duration(_ nanoseconds: UInt64) -> String {
        for (size, unit) in [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")] as [(UInt64, String)]
        where nanoseconds >= size {
            let tenths = (nanoseconds * 10 + size / 2) / size
            return "\(tenths / 10).\(tenths % 10) \(unit)"
        }
        return "\(nanoseconds) ns"
    }
}
