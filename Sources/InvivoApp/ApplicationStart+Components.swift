internal import InvivoBase
internal import InvivoReload
internal import InvivoSpec
internal import InvivoTraits
internal import InvivoWiring

/// Components as definitions.
extension ApplicationStart {
    /// The type that a component takes over from its parents in the manifest; nil when that is not known here.
    func type(of component: ManifestComponent) -> ObjectType? {
        var current = component
        for _ in 0..<64 {
            if let name = current.type { return try? engine.container.type(named: name) }
            guard let parent = current.making.parent ?? current.making.alias,
                let next = manifest.components.first(where: { $0.key == parent })
            else { return nil }
            current = next
        }
        return nil
    }

    /// What a component says; of one that says something wrong, what is left without it.
    func definition(
        _ component: ManifestComponent, _ type: ObjectType?, _ failures: inout [Failure]
    ) throws(Failure) -> Definition {
        let making = component.making
        var maker = ComponentMaker(type ?? self.type(of: component))
        var body = Definition.Body()
        body.type = type
        body.place = component.keyPlace
        body.scope = component.scope.map(Scope.init(manifest:))
        if let name = component.scopeName {
            do throws(Failure) {
                _ = try engine.container.scope(named: name)
                (body.scope, body.scopeName) = (.host, name)
            } catch {
                var failure = error
                failure.path = component.path + ".scope"
                failure.place = component.scopePlace
                failures.append(failure)
            }
        }
        body.parent = making.parent
        body.alias = making.alias
        body.rank = making.rank
        body.each = making.each
        if making.isAbstract { body.flags.insert(.abstract) }
        if making.isNullable { body.flags.insert(.nullable) }
        if component.life.isExclusive { body.flags.insert(.exclusive) }
        if component.life.waits { body.flags.insert(.waits) }
        if component.life.isTracked { body.flags.insert(.tracked) }
        body.startTimeout = component.life.startTimeout * 1_000_000
        body.stopTimeout = component.life.stopTimeout * 1_000_000
        if making.isHiddenByClass { body.flags.insert(.hiddenClass) }
        if making.isHiddenByInterface { body.flags.insert(.hiddenInterface) }
        body.parameters = maker.signature(making.parameters, component.key)
        body.initializer = maker.initializer(component.initializer)
        body.properties = maker.properties(component.properties)
        body.methods = maker.invocations(making.methods)
        body.before = maker.invocations(making.before)
        body.after = maker.invocations(making.after)
        body.afterAll = maker.invocations(making.afterAll)
        if let (owner, call) = making.maker, let object = maker.source(owner, .kind(nil)) {
            body.maker = MakerMethod(
                object: object,
                invocation: Invocation(method: call.method, arguments: maker.injections(call.arguments)))
        }
        if let chooser = making.chooser, let source = maker.source(chooser, .kind(nil)) {
            body.choice = DefinitionChoice(chooser: source, options: maker.options(making.options))
        }
        if !maker.wrong.isEmpty {
            // Only looked at for what else is wrong: a prototype need not be given everything.
            if body.choice == nil && body.alias == nil { body.scope = .prototype }
            if body.initializer.count < component.initializer.count {
                body.initializer = body.initializer.filter { $0.name != nil }
            }
            failures += maker.wrong
        }
        return Definition(id: try engine.container.intern(component.key), key: component.key, body)
    }
}

extension Scope {
    fileprivate init(manifest scope: ManifestScope) {
        self =
            switch scope {
            case .prototype: .prototype
            case .graph: .graph
            case .weakSingleton: .weakSingleton
            case .lazySingleton: .lazySingleton
            case .singleton: .singleton
            case .context: .context
            case .thread: .thread
            }
    }
}

/// Turns what a component says into what the engine is told; what is wrong is gathered.
private struct ComponentMaker {
    let type: ObjectType?
    var wrong: [Failure] = []

    init(_ type: ObjectType?) { self.type = type }

    /// What a value of the manifest is for: a text may stand for a number or for bytes.
    enum Wanted {
        case property(Property)
        case parameter(Parameter)
        case kind(ValueKind?)
    }

    private mutating func note(_ error: Failure, _ injection: ManifestInjection) {
        var failure = error
        failure.path = injection.path
        if failure.place.line == 0 {
            failure.place = failure.code == .property ? injection.namePlace : injection.place
        }
        wrong.append(failure)
    }

    mutating func signature(_ given: [ManifestParameter], _ key: String) -> Signature? {
        guard !given.isEmpty else { return nil }
        var parameters: [Parameter] = []
        for parameter in given {
            var kind: ValueKind? = parameter.type == nil ? .any : .object
            if let name = parameter.kind { kind = ValueKind.allCases.first { $0.name == name && $0 != .null } }
            guard let kind else {
                let names = ValueKind.allCases.map(\.name)
                wrong.append(
                    Failure(
                        .spec,
                        "'\(parameter.kind ?? "")' is no kind\(suggestion(for: parameter.kind ?? "", among: names))",
                        path: key, at: parameter.place))
                continue
            }
            if !parameter.isOptional, parameters.last?.isOptional == true {
                wrong.append(
                    Failure(
                        .arity, "the parameter '\(parameter.name)' is needed, but comes after an optional one",
                        path: key,
                        at: parameter.place))
            }
            parameters.append(
                Parameter(
                    name: parameter.name, kind: kind, isOptional: parameter.isOptional, typeName: parameter.type))
        }
        return Signature(name: key, parameters: parameters)
    }

    mutating func initializer(_ given: [ManifestInjection]) -> [Injection] {
        let parameters = type?.description.signature.parameters ?? []
        return given.enumerated().compactMap { position, injection in
            let parameter =
                injection.name.map { name in parameters.first { $0.name == name } }
                ?? parameters.dropFirst(position).first
            return source(injection, parameter.map { .parameter($0) } ?? .kind(nil)).map {
                Injection(name: injection.name, $0)
            }
        }
    }

    mutating func properties(_ given: [ManifestInjection]) -> [Injection] {
        given.compactMap { injection in
            guard let name = injection.name, let type else {
                return source(injection, .kind(nil)).map { Injection(name: injection.name, $0) }
            }
            do throws(Failure) {
                let property = try type.description.property(named: name).property
                guard let source = source(injection, .property(property)) else { return nil }
                if case .value(let value) = source { _ = try property.check(value) }
                return Injection(name: name, source)
            } catch {
                note(error, injection)
                return nil
            }
        }
    }

    mutating func injections(_ given: [ManifestInjection]) -> [Injection] {
        given.compactMap { injection in
            source(injection, .kind(nil)).map { Injection(name: injection.name, $0) }
        }
    }

    mutating func invocations(_ given: [ManifestCall]) -> [Invocation] {
        given.map { call in
            let method = type?.description.methods.first { $0.name == call.method }
            let parameters = method?.signature.parameters ?? []
            var arguments: [Injection] = []
            for (index, argument) in call.arguments.enumerated() {
                let wanted: Wanted = index < parameters.count ? .parameter(parameters[index]) : .kind(nil)
                if let source = source(argument, wanted) { arguments.append(Injection(name: nil, source)) }
            }
            return Invocation(method: call.method, arguments: arguments)
        }
    }

    mutating func options(_ given: [ManifestOption]) -> [DefinitionChoice.Option] {
        given.compactMap { option in
            let use = option.use.flatMap { source($0, .kind(nil)) }
            switch option.when {
            case .equal(let node): return DefinitionChoice.Option(.equal((try? Value(spec: node)) ?? .null), use: use)
            case .kind(let name): return DefinitionChoice.Option(.kind(name), use: use)
            case .exactly(let name): return DefinitionChoice.Option(.exact(name), use: use)
            case .named: return DefinitionChoice.Option(.named, use: nil)
            case .otherwise: return DefinitionChoice.Option(.otherwise, use: use)
            }
        }
    }

    /// Where a value comes from; nil when it is wrong, which is noted.
    mutating func source(_ injection: ManifestInjection, _ wanted: Wanted) -> Injection.Source? {
        switch injection.value {
        case .reference(let key): return .reference(key)
        case .value(let node):
            do throws(Failure) {
                switch wanted {
                case .property(let property): return .value(try Value(spec: node, for: property))
                case .parameter(let parameter):
                    // A text that goes to a place of objects is for the converter of their type.
                    if case .text(let text) = node.content, parameter.kind == .object, parameter.typeName != nil {
                        return .text(.value(.string(text)), converter: nil)
                    }
                    return .value(try Value(spec: node, kind: parameter.kind))
                case .kind(let kind): return .value(try Value(spec: node, kind: kind))
                }
            } catch {
                note(error, injection)
                return nil
            }
        case .list(let items): return .list(items.compactMap { source($0, .kind(nil)) })
        case .map(let pairs):
            return .map(pairs.compactMap { pair in source(pair, .kind(nil)).map { (pair.name ?? "", $0) } })
        case .form(let form): return source(form, wanted)
        }
    }

    private mutating func source(_ form: ManifestForm, _ wanted: Wanted) -> Injection.Source? {
        let items = form.items.compactMap {
            source($0, form.kind == .config || form.kind == .entry ? wanted : .kind(nil))
        }
        guard items.count == form.items.count else { return nil }
        let wish = Injection.TypeWish(
            name: form.name, isExact: form.isExact, isOptional: form.isOptional, isGreedy: form.isGreedy)
        switch form.kind {
        case .config: return .config(form.name, default: items.first, isOptional: form.isOptional, kind: .any)
        case .entry: return .entry(form.name, default: items.first, isOptional: form.isOptional)
        case .entryName: return .entryName
        case .key:
            let key = form.name.hasPrefix("$") ? String(form.name.dropFirst()) : form.name
            return .reference(key, arguments: items, isOptional: form.isOptional)
        case .type: return .type(wish)
        case .all: return .all(wish)
        case .path:
            let names = form.name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
            return items.first.map { .path($0, names, isOptional: form.isOptional) }
        case .provider: return items.first.map { .provider($0) }
        case .lazy: return items.first.map { .lazy($0) }
        case .argument: return .argument(form.index)
        case .arguments: return .arguments
        case .text: return items.first.map { .text($0, converter: form.converter) }
        case .set: return .set(items)
        case .resolver: return .resolver
        case .asker: return .asker
        }
    }
}
