internal import InvivoBase

extension Definition {
    /// The same under another key, what it names renamed: references, parent, alias, the definition it stands in.
    public func renamed(id: UInt32, key: String, _ rename: (String) -> String) -> Definition {
        var body = body
        body.initializer = body.initializer.map { $0.renamed(rename) }
        body.properties = body.properties.map { $0.renamed(rename) }
        body.methods = body.methods.map { $0.renamed(rename) }
        body.before = body.before.map { $0.renamed(rename) }
        body.after = body.after.map { $0.renamed(rename) }
        body.afterAll = body.afterAll.map { $0.renamed(rename) }
        body.maker = body.maker.map {
            MakerMethod(object: $0.object.renamed(rename), invocation: $0.invocation.renamed(rename))
        }
        body.alias = body.alias.map(rename)
        body.choice = body.choice.map { choice in
            DefinitionChoice(
                chooser: choice.chooser.renamed(rename),
                options: choice.options.map { DefinitionChoice.Option($0.when, use: $0.use?.renamed(rename)) })
        }
        if key != self.key { body.origin = body.origin ?? self.key }
        body.parent = body.parent.map(rename)
        body.owner = body.owner.map(rename)
        return Definition(id: id, key: key, body)
    }

    /// Every key that it names.
    public var names: [String] {
        var found: [String] = []
        _ = renamed(id: id, key: key) { name in
            found.append(name)
            return name
        }
        return found
    }

    /// Whether something in it is a runtime argument.
    public var usesArguments: Bool { says(\.usesArguments) }

    /// Whether something in it is the key for which it is made.
    var usesAsker: Bool { says(\.usesAsker) }

    /// Whether it has a path of the configuration, spelled so.
    public func reads(config path: String) -> Bool { body.each == path || says { $0.reads(config: path) } }

    private func says(_ what: (Injection.Source) -> Bool) -> Bool {
        let given = body.initializer + body.properties
        let calls = body.methods + body.before + body.after + body.afterAll + (body.maker.map { [$0.invocation] } ?? [])
        let chosen = (body.choice?.options ?? []).compactMap(\.use) + (body.choice.map { [$0.chooser] } ?? [])
        return (given + calls.flatMap(\.arguments)).contains { what($0.source) }
            || chosen.contains(where: what)
            || body.maker.map { what($0.object) } == true
    }
}

extension Injection {
    func renamed(_ rename: (String) -> String) -> Injection {
        Injection(name: name, source.renamed(rename), hears: hears, label: label)
    }
}

extension Invocation {
    func renamed(_ rename: (String) -> String) -> Invocation {
        Invocation(method: method, arguments: arguments.map { $0.renamed(rename) })
    }
}

extension Injection.Source {
    /// The same, each key in it renamed.
    func renamed(_ rename: (String) -> String) -> Injection.Source {
        let inner = mapParts { $0.renamed(rename) }
        guard case .reference(let key, let arguments, let isOptional) = inner else { return inner }
        return .reference(rename(key), arguments: arguments, isOptional: isOptional)
    }

    var usesArguments: Bool {
        contains { source in
            switch source {
            case .argument, .arguments: true
            default: false
            }
        }
    }

    fileprivate func reads(config path: String) -> Bool {
        contains { if case .config(path, _, _, _) = $0 { true } else { false } }
    }

    var usesAsker: Bool { contains { if case .asker = $0 { true } else { false } } }
}
