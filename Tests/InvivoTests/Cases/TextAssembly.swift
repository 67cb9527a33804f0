import Invivo

/// An assembly of a case: Swift finds its members by reflection, like the properties of others.
final class TextAssembly: Assembly, CustomReflectable {
    /// Its description, including inherited parts.
    private let lines: [Script.Line]
    private let members: [(label: String?, value: Any)]
    private let says: [String]
    override var kinds: [String] { says }

    convenience init(
        _ line: Script.Line, base: TextAssembly?, recipe: (Script.Line) throws -> Recipe
    ) throws {
        let own = Set(line.below.filter { $0.words.count > 1 }.map { $0.verb + " " + $0.words[1].text })
        let above = (base?.lines ?? []).filter { !own.contains($0.verb + " " + $0.words[1].text) }
        try self.init(
            line.labelled("name") ?? base?.name ?? line.words[1].text,
            above + line.below.filter { $0.verb != "base" && $0.words.count > 1 },
            is: base.map { [$0.name] } ?? [], recipe)
    }

    /// An equal one.
    convenience init(_ other: TextAssembly, recipe: (Script.Line) throws -> Recipe) throws {
        try self.init(other.name, other.lines, is: other.says, recipe)
    }

    private init(
        _ name: String, _ lines: [Script.Line], is says: [String], _ recipe: (Script.Line) throws -> Recipe
    ) throws {
        self.lines = lines
        members = try lines.compactMap { line in
            let name = line.words[1].text
            switch line.verb {
            case "define": return (name, try recipe(line).member)
            case "collaborator":
                let isOptional = line.says("optional", from: 2)
                return (name, collaborator(named: name, of: line.labelled("is"), isOptional: isOptional))
            case "is", "fails", "finds": return nil
            default: throw Script.Problem(description: "an assembly has no part '\(line.verb)'")
            }
        }
        self.says = says + lines.filter { $0.verb == "is" }.map { $0.words[1].text }
        super.init(name: name)
    }

    var customMirror: Mirror { Mirror(self, children: members) }
}
