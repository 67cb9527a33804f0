internal import InvivoBase
internal import InvivoConfig

/// Compiles the sources of injections.
extension DefinitionCompiler {
    mutating func source(
        _ given: Injection.Source, _ edge: Edge, _ site: String, _ taker: Taker = .any,
        given argumentEdge: Edge? = nil, orMore: Bool = false
    ) -> Recipe.Source {
        let parts = given.parts
        switch given.kind {
        case .value(let constant): return .value(constant.value)
        case .reference(let name, let isOptional):
            let key = name.text
            guard let id = definitions.present(key) else {
                if isOptional {
                    references.undefinedKeys.insert(key)
                } else {
                    lack(key, isKey: true, "\(site) needs \(definitions.missing(key, besides: definition.key))")
                }
                return .value(.null)
            }
            references.add(id, edge)
            let target = definitions.whole(id)
            if let target { checkMade(target, site) }
            let wanted = target?.body.parameters
            let arguments = parts.enumerated().map { index, argument in
                self.argument(argument, index, of: wanted, argumentEdge ?? edge, "\(site), argument \(index)")
            }
            if let target { check(arguments.count, target, site, orMore: orMore) }
            return .object(id, arguments: arguments, isOptional: isOptional)
        case .type(let query): return byType(query, edge, site, orMore: orMore)
        case .all(let query):
            references.typeQueries.insert(query.name)
            let ids = types.all(query.name, isExact: query.isExact).map(\.id)
            if ids.isEmpty && query.orDefault { isLeftOut = true }
            references.bindings[lookup(site)] = ids
            for id in ids {
                references.add(id, edge)
                if let target = definitions.whole(id) { check(0, target, site) }
            }
            return .all(ids)
        case .argument(let index):
            let count = definition.body.parameters?.parameters.count ?? 0
            if index >= count {
                fail(
                    .arity,
                    "\(site) needs runtime argument \(index), and the definition declares \(count == 0 ? "none" : "\(count)")"
                )
            }
            return .argument(index)
        case .arguments: return .arguments
        case .path(let names, let isOptional):
            let path = names.map(\.text)
            let object = source(parts[0], edge, site)
            checkPath(path, of: object, site)
            return .path(object, path, isOptional: isOptional)
        case .list: return .list(parts.enumerated().map { source($1, edge, "\(site)[\($0)]") })
        case .set: return .set(parts.enumerated().map { source($1, edge, "\(site)[\($0)]") })
        case .map(let names):
            return .map(zip(names, parts).map { ($0.text, source($1, edge, "\(site).\($0.text)")) })
        case .provider: return deferred(.provider, parts[0], edge, site)
        case .lazy: return deferred(.lazy, parts[0], edge, site)
        case .weak: return deferred(.weak, parts[0], edge, site)
        case .config(let path, let isOptional, let kind):
            return setting(path.text, parts.first, isOptional, edge, site, taker.orKind(kind))
        case .text(let converter): return text(parts[0], converter?.text, edge, site, taker)
        case .document(let value): return document(value.node, site, taker)
        case .entry, .entryName:
            if !definition.isAbstract {
                fail(.argument, "\(site) needs an entry, and '\(definition.key)' is not one for each of them")
            }
            return .arguments
        case .context(let key, let kind, let isOptional):
            let value = Recipe.ContextValue(key: key.text, id: definitions.identify(key.text), kind: kind?.text)
            return contextValue(value, parts.first, isOptional, edge, site, taker)
        case .resolver: return .resolver
        case .asker:
            references.includesRequester = true
            return .asker
        }
    }

    /// A value of contexts. The default, or the value of an optional receiver, is checked here; the value where it is found.
    private mutating func contextValue(
        _ value: Recipe.ContextValue, _ other: Injection.Source?, _ isOptional: Bool, _ edge: Edge, _ site: String,
        _ taker: Taker
    ) -> Recipe.Source {
        references.readsContexts = true
        if let kind = value.kind, let failure = context.scopeFailure(.context, kind) {
            fail(failure.code, "\(site): \(failure.message)")
            return .arguments
        }
        let before = wrong
        var otherwise = other.map { source($0, edge, "\(site), the default", taker) }
        if otherwise == nil, isOptional {
            guard let nothing = taker.valueForNothing else {
                fail(
                    .null,
                    "\(site) cannot be without a value, and a context may have none for '\(value.key)': give a default")
                return .arguments
            }
            otherwise = .value(nothing)
        }
        guard wrong == before, let compiled = otherwise else { return .context(value, otherwise: nil) }
        do throws(Failure) {
            return .context(
                value, otherwise: try compiled.constant { value throws(Failure) in try taker.checked(value) })
        } catch {
            fail(error.code, "\(site), the default: \(error.message)")
            return .arguments
        }
    }

    /// Compiles a deferred reference. It resolves when it is called, but its arguments are evaluated at the injection.
    mutating func deferred(
        _ kind: Recipe.Deferred, _ target: Injection.Source, _ edge: Edge, _ site: String
    ) -> Recipe.Source {
        if case .config(let path, let isOptional, _) = target.kind, kind != .weak {
            return reader(of: path.text, target.parts.first, isOptional, site)
        }
        // A lazy is called without arguments.
        switch source(target, edge.deferred, site, given: edge, orMore: kind != .lazy) {
        case .object(let id, let arguments, _):
            if kind == .lazy { references.lazyKeys.insert(id) }
            if kind == .weak { checkKept(id, site) }
            return .deferred(id, arguments: arguments, kind)
        case .value(.null): return .deferred(nil, arguments: [], kind)
        default:
            let name =
                switch kind {
                case .provider: "provider"
                case .lazy: "lazy"
                case .weak: "weak reference"
                }
            fail(
                .argument,
                "\(site): a \(name) resolves a key or a type; a list of them is asked for by a resolver")
            return .value(.null)
        }
    }

    /// The argument for a runtime argument of another definition, checked as far as it is known now.
    mutating func argument(
        _ given: Injection.Source, _ index: Int, of wanted: Signature?, _ edge: Edge, _ site: String
    ) -> Recipe.Source {
        let before = wrong
        let compiled = source(given, edge, site, wanted.taker(of: index))
        guard let wanted, index < wanted.parameters.count, wrong == before else { return compiled }
        let parameter = wanted.parameters[index]
        if let value = compiled.constant {
            do throws(Failure) { _ = try wanted.checked(value, parameter) } catch {
                fail(error.code, "\(site): \(error.message)")
            }
        }
        checkKind(compiled, parameter.kind, site)
        checkType(compiled, parameter.typeName, site)
        checkDefault(compiled, site) { value throws(Failure) in try wanted.checked(value, parameter) }
        return compiled
    }

    /// Checks that a definition receives as many runtime arguments as it declares. With `orMore`, a caller gives the
    /// rest. An alias that declares none passes on those that it receives.
    mutating func check(_ count: Int, _ target: Definition, _ site: String, orMore: Bool = false) {
        var (target, given) = (target, count)
        var seen: Set<UInt32> = [target.id]
        while target.body.parameters == nil, let alias = target.alias {
            guard let id = definitions.identify(alias), seen.insert(id).inserted, let next = definitions.whole(id)
            else { return }
            given += target.body.initializer.count
            target = next
        }
        let gives = "\(site) gives \(count) argument\(count == 1 ? "" : "s") to"
        guard let parameters = target.body.parameters else {
            if given > 0 && !target.isAbstract {
                fail(.arity, "\(gives) '\(target.key)', which declares no runtime arguments (parameters)")
            }
            return
        }
        let least = orMore ? 0 : parameters.leastCount
        if given < least || given > parameters.parameters.count {
            let missing = given < least ? ": '\(parameters.parameters[given].name)' is missing" : ""
            fail(.arity, "\(gives) \(parameters.text)\(missing)")
        }
    }

    /// Whether a definition is of the same mount or assembly.
    private func isOfOwnAssembly(_ id: UInt32) -> Bool {
        guard let assembly = definition.body.assembly else { return false }
        return definitions.described(id)?.body.assembly == assembly
    }

    /// The name under which the binding of a lookup is kept: its index in the definition.
    mutating func lookup(_ site: String) -> String {
        lookups[site, default: 0] += 1
        let number = lookups[site] ?? 1
        return number == 1 ? site : "\(site) (\(number))"
    }

    mutating func byType(
        _ query: Injection.TypeQuery, _ edge: Edge, _ site: String, orMore: Bool = false
    ) -> Recipe.Source {
        let name = types.plain(query.name)
        references.typeQueries.formUnion([name, query.name])
        // The former binding of a list at the same index is no selection of one definition.
        let lookup = lookup("one of \(site)")
        let all = types.all(query.name, isExact: query.isExact)
        // The definition itself is a candidate only for a deferred reference, and only if it is the only one: a decorator of a type
        // may look up the type.
        let others = all.filter { $0.id != definition.id }
        let list = others.isEmpty && edge.isDeferred ? all : others
        var chosen: UInt32?
        if !query.isGreedy, let bound = former?.references.bindings[lookup]?.first,
            list.contains(where: { $0.id == bound })
        {
            // A working binding stays.
            chosen = bound
        } else {
            switch types.best(of: list, for: query.name, near: isOfOwnAssembly) {
            case .one(let id): chosen = id
            case .none:
                if query.orDefault {
                    isLeftOut = true
                } else if !query.isOptional {
                    lack(
                        name, isKey: false,
                        "\(site) needs a '\(query.name)', and no definition creates one\(suggestion(for: name, among: types.names))"
                    )
                }
            case .several(let ids):
                let names = ids.compactMap { definitions.described($0)?.key }.listed(most: 8)
                fail(
                    .ambiguous,
                    "\(site) needs a '\(query.name)', and several definitions create one: \(names); name one, or give one a higher rank"
                )
            }
        }
        guard let chosen else { return .value(.null) }
        references.bindings[lookup] = [chosen]
        references.add(chosen, edge)
        if let target = definitions.whole(chosen) { check(0, target, site, orMore: orMore) }
        return .object(chosen, arguments: [], isOptional: query.isOptional)
    }
}
