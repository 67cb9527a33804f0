internal import InvivoBase

extension DefinitionCompiler {
    /// Reports a source whose kind does not match its receiver, as far as the kind is known before an object is
    /// created.
    mutating func checkKind(_ source: Recipe.Source, _ wanted: ValueKind, _ what: String) {
        // In a pattern, this source stands for an entry, which is unknown until it exists.
        if case .arguments = source, definition.isAbstract { return }
        guard wanted != .any, let given = source.kind, given != wanted else { return }
        fail(.type, "\(what) is of the kind \(wanted.name); expected the kind \(given.name)")
    }

    /// Reports the default of a runtime argument that does not match the receiver of the argument. `check` throws the
    /// error.
    mutating func checkDefault(
        _ source: Recipe.Source, _ site: String, _ check: (Value) throws(Failure) -> Value
    ) {
        guard case .argument(let index) = source, let parameters = definition.body.parameters?.parameters,
            index < parameters.count, let value = parameters[index].defaultValue
        else { return }
        do throws(Failure) { _ = try check(value) } catch {
            fail(
                error.code,
                "\(site): the default of the runtime argument '\(parameters[index].name)': \(error.message)")
        }
    }

    /// Reports a dependency on an abstract definition. Abstract definitions may have abstract dependencies, which their
    /// children replace.
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

    /// Reports a weak reference to a definition that never keeps an instance.
    mutating func checkKept(_ id: UInt32, _ what: String) {
        guard let target = definitions.final(id), let reason = neverKept(target, []) else { return }
        fail(
            .argument,
            "\(what) is a weak reference to '\(definitions.described(id)?.key ?? target.key)', \(reason): it never finds an instance"
                + "; use a provider, which creates one, or give it a scope that keeps one")
    }

    /// The reason why a weak reference never finds an instance of `target`; nil if it may find one.
    private func neverKept(_ target: Definition, _ seen: Set<UInt32>) -> String? {
        let body = target.body
        if let choice = body.choice {
            let ends = choice.options.allSatisfy { option in
                guard case .reference(let key, _)? = option.use?.kind, let id = definitions.identify(key.text),
                    !seen.contains(id),
                    let chosen = definitions.final(id)
                else { return false }
                return neverKept(chosen, seen.union([target.id, id])) != nil
            }
            return ends && !choice.options.isEmpty ? "a choice of prototypes" : nil
        }
        // Constants have an instance. Dependencies on abstract definitions are reported elsewhere.
        if body.constant != nil || target.isAbstract { return nil }
        guard target.scope.isShared else { return "which has the scope '\(target.scope.name)'" }
        return target.usesAsker ? "which depends on its requester and so is never shared" : nil
    }

    /// Checks that a path begins with a property of its source, where the type of the source is known. The result of a
    /// method, a choice or a constant may have a derived type.
    mutating func checkPath(_ path: [String], of source: Recipe.Source, _ what: String) {
        guard case .object(let id, _, _) = source, let target = definitions.final(id), let type = target.type,
            target.body.maker == nil, target.body.choice == nil, target.body.constant == nil, let first = path.first
        else { return }
        do throws(Failure) { _ = try type.description.property(named: first) } catch {
            fail(error.code, "\(what): \(error.message)")
        }
    }
}

extension Recipe.Source {
    /// The kind of a result that is not null; nil where only its evaluation shows it.
    fileprivate var kind: ValueKind? {
        switch self {
        case .object: .object
        case .all, .arguments, .list, .set: .list
        case .map: .map
        case .deferred, .resolver, .setting: .callable
        case .value, .argument, .path, .asker, .config, .context: nil
        }
    }
}
