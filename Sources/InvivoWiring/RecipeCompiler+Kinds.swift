internal import InvivoBase

extension RecipeCompiler {
    /// Tells what goes where its kind cannot go, as far as that is known before anything is made.
    mutating func checkKind(_ source: Recipe.Source, _ wanted: ValueKind, _ what: String) {
        // In a pattern this stands for an entry, of which nothing is known before it is there.
        if case .arguments = source, definition.isAbstract { return }
        guard wanted != .any, let given = source.kind, given != wanted else { return }
        fail(.type, "\(what) is of the kind \(wanted.name), and what goes there is of the kind \(given.name)")
    }

    /// Who names what is never made itself cannot be made either. What is abstract as well may leave it to its children.
    mutating func checkMade(_ target: Definition, _ what: String) {
        guard target.isAbstract, !definition.isAbstract else { return }
        if let entries = target.body.each {
            fail(
                .abstract,
                "\(what) needs '\(target.key)', of which there is one for each entry of the configuration '\(entries)': "
                    + "name one of them, '\(target.key)[name]'")
        } else {
            fail(.abstract, "\(what) needs '\(target.key)', which is abstract: name a child of it")
        }
    }

    /// A path begins with a property of the object that it starts from, where it is known which type that has: what a method
    /// answers and what stands for another may be of a derived one.
    mutating func checkPath(_ path: [String], of source: Recipe.Source, _ what: String) {
        guard case .object(let id, _, _) = source, let target = final(id), let type = target.type,
            target.body.maker == nil, target.body.choice == nil, target.body.constant == nil, let first = path.first
        else { return }
        do throws(Failure) { _ = try type.description.property(named: first) } catch {
            fail(error.code, "\(what): \(error.message)")
        }
    }
}

extension Recipe.Source {
    /// The kind of what it gives, when that is not null; nil where only making it says so.
    fileprivate var kind: ValueKind? {
        switch self {
        case .object: .object
        case .all, .arguments, .list, .set: .list
        case .map: .map
        case .provider, .resolver, .setting: .callable
        case .value, .argument, .path, .asker, .config: nil
        }
    }
}
