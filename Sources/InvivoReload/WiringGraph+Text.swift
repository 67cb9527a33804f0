public import InvivoBase
internal import InvivoSpec

/// The graph as values and as the texts that tools read.
extension WiringGraph {
    public var facts: Value {
        .list(
            nodes.map { node in
                var pairs: [(name: String, value: Value)] = [
                    ("key", .string(node.key)), ("type", .string(node.type)), ("scope", .string(node.scope)),
                ]
                if let alias = node.alias { pairs.append(("alias", .string(alias))) }
                if node.isAbstract { pairs.append(("abstract", .bool(true))) }
                if node.rank != 0 { pairs.append(("rank", .int64(Int64(node.rank)))) }
                pairs.append(("generation", .int64(Int64(clamping: node.generation))))
                pairs.append(("live", .int64(Int64(clamping: node.live))))
                if let time = node.buildTime { pairs.append(("built_ns", .int64(Int64(clamping: time)))) }
                if !node.place.file.isEmpty { pairs.append(("file", .string(node.place.file))) }
                if node.place.line > 0 { pairs.append(("line", .int64(Int64(node.place.line)))) }
                if node.place.column > 0 { pairs.append(("column", .int64(Int64(node.place.column)))) }
                let needs = node.needs.map { need in
                    Value.map([("key", .string(need.key)), ("how", .string(need.how.rawValue))])
                }
                pairs.append(("needs", .list(needs)))
                return .map(pairs)
            })
    }

    public var json: String { Self.json(facts) + "\n" }

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

    // MARK: pictures

    /// The assemblies in the order of their names, each with its nodes.
    private var assemblies: [(name: String, nodes: [Int])] {
        var found: [(name: String, nodes: [Int])] = []
        for (index, node) in nodes.enumerated() {
            if let known = found.firstIndex(where: { $0.name == node.assembly }) {
                found[known].nodes.append(index)
            } else {
                found.append((node.assembly, [index]))
            }
        }
        return found
    }

    /// The lines of a node's label.
    private func label(_ node: Node) -> [String] {
        var lines = [node.key]
        var second = [node.type, node.scope].filter { !$0.isEmpty }
        if node.isAbstract { second.append("abstract") }
        if !second.isEmpty { lines.append(second.joined(separator: ", ")) }
        var third: [String] = []
        if node.generation > 0 { third.append("generation \(node.generation)") }
        if node.live > 0 { third.append("\(node.live) live") }
        if let time = node.buildTime { third.append(Self.duration(time)) }
        if !third.isEmpty { lines.append(third.joined(separator: ", ")) }
        if !node.place.file.isEmpty {
            lines.append(node.place.file + (node.place.line > 0 ? ":\(node.place.line)" : ""))
        }
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

    private func index(of key: String) -> Int? {
        var low = 0
        var high = nodes.count
        while low < high {
            let middle = (low + high) / 2
            if nodes[middle].key < key { low = middle + 1 } else { high = middle }
        }
        return low < nodes.count && nodes[low].key == key ? low : nil
    }

    /// For Graphviz. What is shared is a box, the rest is round; what comes late is dotted, what is injected afterwards dashed.
    public var dot: String {
        var out = "digraph wiring {\n    rankdir=LR;\n    fontname=\"sans-serif\";\n"
        out += "    node [fontname=\"sans-serif\", fontsize=10];\n"
        out += "    edge [fontname=\"sans-serif\", fontsize=8];\n"
        for (number, assembly) in assemblies.enumerated() {
            out += "    subgraph cluster_\(number) {\n        label=\(Self.dotQuoted([assembly.name]));\n"
            out += "        style=rounded;\n        color=gray;\n"
            for index in assembly.nodes {
                let node = nodes[index]
                let shape = node.scope.hasSuffix("singleton") ? "box" : node.alias == nil ? "ellipse" : "plain"
                let style =
                    node.isAbstract ? ", style=dashed" : node.live > 0 ? ", style=filled, fillcolor=aliceblue" : ""
                out += "        n\(index) [label=\(Self.dotQuoted(label(node))), shape=\(shape)\(style)];\n"
            }
            out += "    }\n"
        }
        for (from, node) in nodes.enumerated() {
            for need in node.needs {
                guard let to = index(of: need.key) else { continue }
                let style =
                    switch need.how {
                    case .initializer: "solid"
                    case .injection: "dashed"
                    case .late, .asked: "dotted"
                    case .alias: "bold"
                    }
                out += "    n\(from) -> n\(to) [style=\(style), tooltip=\(Self.dotQuoted([need.how.rawValue]))];\n"
            }
        }
        return out + "}\n"
    }

    private static func dotQuoted(_ lines: [String]) -> String {
        let escaped = lines.map { line in
            line.unicodeScalars.reduce(into: "") { out, scalar in
                switch scalar {
                case "\"", "\\": out += "\\\(scalar)"
                case "\0"..<" ", "\u{7F}": out += " "
                default: out.unicodeScalars.append(scalar)
                }
            }
        }
        return "\"" + escaped.joined(separator: "\\n") + "\""
    }

    public var mermaid: String {
        var out = "flowchart LR\n"
        for (number, assembly) in assemblies.enumerated() {
            out += "    subgraph a\(number)[\"\(Self.mermaidText([assembly.name]))\"]\n"
            for index in assembly.nodes {
                let node = nodes[index]
                let text = "\"\(Self.mermaidText(label(node)))\""
                out += "        n\(index)" + (node.scope.hasSuffix("singleton") ? "[\(text)]" : "(\(text))") + "\n"
            }
            out += "    end\n"
        }
        for (from, node) in nodes.enumerated() {
            for need in node.needs {
                guard let to = index(of: need.key) else { continue }
                switch need.how {
                case .initializer: out += "    n\(from) --> n\(to)\n"
                case .injection: out += "    n\(from) -->|injected| n\(to)\n"
                case .late, .asked, .alias: out += "    n\(from) -.->|\(need.how.rawValue)| n\(to)\n"
                }
            }
        }
        return out
    }

    /// What means something to Mermaid or HTML goes by its number.
    private static func mermaidText(_ lines: [String]) -> String {
        let escaped = lines.map { line in
            line.unicodeScalars.reduce(into: "") { out, scalar in
                switch scalar {
                case "\"", "#", "<", ">", "&", ";", "`", "\\": out += "#\(scalar.value);"
                case "\0"..<" ", "\u{7F}": out += " "
                default: out.unicodeScalars.append(scalar)
                }
            }
        }
        return escaped.joined(separator: "<br/>")
    }
}
