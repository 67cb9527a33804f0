internal import InvivoBase
internal import InvivoConfig
internal import InvivoSpec

/// The environment as a layer of the configuration: with the prefix `INVIVO__`, the variable `INVIVO__audio__rate` sets the path
/// `audio.rate`.
enum EnvironmentLayer {
    /// Returns the values that the variables with the prefix give to paths; nil if there are none. A value has the name of its
    /// variable as the file of its location. Throws all errors.
    static func node(
        _ environment: Environment, _ prefix: String?, _ limits: SpecLimits
    ) throws(Failure) -> ConfigNode? {
        guard let prefix else { return nil }
        let names = environment.names(after: prefix)
        var failures = environment.unreadableNames.filter { $0.rest(after: prefix) != nil }.map { name in
            Failure(.encoding, "the name of an environment variable is not UTF-8: \(quoted(name))")
        }
        let root = GrowingMap(at: Location())
        var room = Room(bytes: limits.bytes, nodes: limits.nodes)
        for name in names {
            try Loading.check()
            do throws(Failure) {
                let path = try path(of: name, after: prefix)
                let node = try value(of: name, environment[name] ?? [], limits, &room)
                let shown = path.joined(separator: ".")
                do throws(Failure) {
                    try root.add(
                        node, at: path[...],
                        SpecEntry(key: shown, keyLocation: Location(file: name), value: SpecNode(.null)))
                } catch {
                    throw Failure(
                        .spec,
                        "the path is set twice: by another variable, too, or as a part of its value; give each path once",
                        path: "config.\(shown)", at: Location(file: name))
                }
            } catch { failures.append(error) }
        }
        if let failure = Failure.gathered(failures) { throw failure }
        return names.isEmpty ? nil : root.node(like: nil)
    }

    /// The limits that are left for all variables together: those of one document.
    private struct Room {
        var bytes: Int
        var nodes: Int
    }

    /// The names of the path that a variable sets: its name after the prefix, separated by two underscores.
    private static func path(of name: String, after prefix: String) throws(Failure) -> [String] {
        var names: [String] = []
        var part: [UInt8] = []
        var bytes = Array(name.utf8.dropFirst(prefix.utf8.count))[...]
        while let byte = bytes.popFirst() {
            if byte == UInt8(ascii: "_"), bytes.first == byte {
                bytes.removeFirst()
                names.append(String(decoding: part, as: UTF8.self))
                part = []
            } else {
                part.append(byte)
            }
        }
        names.append(String(decoding: part, as: UTF8.self))
        let form = "expected \(prefix)NAME or \(prefix)NAME__NAME"
        guard !names.contains("") else {
            throw Failure(
                .spec, "a part of the name is empty; \(form), such as \(prefix)audio__rate for the path audio.rate",
                at: Location(file: name))
        }
        guard !names.contains(where: { $0.contains(byte: UInt8(ascii: ".")) }) else {
            throw Failure(
                .spec, "the name contains a dot; \(form): write two underscores between the names of the path",
                at: Location(file: name))
        }
        guard names.count <= ConfigPath.deepest else {
            throw Failure(
                .tooLarge, "a path leads through at most \(ConfigPath.deepest) names, not \(names.count)",
                at: Location(file: name))
        }
        return names
    }

    /// A value by the rules of a plain scalar of YAML, or a list or map in flow form.
    private static func value(
        of name: String, _ bytes: [UInt8], _ limits: SpecLimits, _ room: inout Room
    ) throws(Failure) -> ConfigNode {
        let location = Location(file: name)
        room.bytes -= bytes.count
        guard room.bytes >= 0 else {
            throw Failure(
                .tooLarge,
                "the variables have more than \(limits.bytes) bytes together; max_document_bytes permits more",
                at: location)
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Failure(.encoding, "the value of the environment variable is not UTF-8", at: location)
        }
        guard let first = bytes.first, first == UInt8(ascii: "[") || first == UInt8(ascii: "{") else {
            try take(1, &room, limits, location)
            let content = try scalar(text, location)
            return ConfigNode(
                .value(try Value(spec: SpecNode(content))), at: location, variables: VariableText([name], text: text))
        }
        let document: SpecDocument
        do throws(Failure) {
            document = try SpecReader.read(text, file: name, format: .yaml, limits: limits)
        } catch {
            try Loading.check()
            guard error.code != .tooLarge else {
                throw Failure(.tooLarge, error.message, at: location)
            }
            let column = error.location.line == 1 ? " at column \(error.location.column)" : ""
            throw Failure(
                error.code,
                "the value is not a list or map of YAML in flow form: error\(column); expected such as [1, 2] or {a: 1}",
                at: location)
        }
        return try node(document.root, VariableText([name], text: nil), limits, location, &room)
    }

    private static func scalar(_ text: String, _ location: Location) throws(Failure) -> SpecNode.Content {
        guard !text.isEmpty else { return .text("") }
        do throws(Failure) { return try TextReader.scalar(text) } catch {
            throw Failure(.range, "the value is a number that is too large; expected one of 64 bits", at: location)
        }
    }

    private static func node(
        _ spec: SpecNode, _ variables: VariableText, _ limits: SpecLimits, _ location: Location, _ room: inout Room
    ) throws(Failure) -> ConfigNode {
        try take(1, &room, limits, location)
        switch spec.content {
        case .list(let items):
            var nodes: [ConfigNode] = []
            for item in items { nodes.append(try node(item, variables, limits, location, &room)) }
            return ConfigNode(.list(nodes), at: location, variables: variables)
        case .map(let entries):
            var nodes: [ConfigNode] = []
            for entry in entries { nodes.append(try node(entry.value, variables, limits, location, &room)) }
            return ConfigNode(names: entries.map(\.key), nodes: nodes, at: location)
        default:
            return ConfigNode(.value(try Value(spec: spec)), at: location, variables: variables)
        }
    }

    private static func take(
        _ count: Int, _ room: inout Room, _ limits: SpecLimits, _ location: Location
    ) throws(Failure) {
        room.nodes -= count
        guard room.nodes < 0 else { return }
        throw Failure(
            .tooLarge, "the variables have more than \(limits.nodes) values together; max_document_nodes permits more",
            at: location)
    }
}
