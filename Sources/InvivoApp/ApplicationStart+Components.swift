internal import InvivoBase
internal import InvivoGraph
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
                let next = manifest.components.first(where: { $0.key.isSameName(as: parent) })
            else { return nil }
            current = next
        }
        return nil
    }

    /// Whether it names a type that nobody knows, or its parents do: what else there is to say of it follows from that.
    func lacksType(_ component: ManifestComponent) -> Bool {
        var current = component
        for _ in 0..<64 {
            if let name = current.type { return (try? engine.container.type(named: name)) == nil }
            guard let parent = current.making.parent,
                let next = manifest.components.first(where: { $0.key.isSameName(as: parent) })
            else { return false }
            current = next
        }
        return false
    }

    /// What a component says; of one that says something wrong, what is left without it. `standing` receives what stands in it;
    /// `place` is the key of one that stands in another.
    func definition(
        _ component: ManifestComponent, _ type: ObjectType?, _ failures: inout [Failure],
        _ standing: inout [Definition],
        at place: String? = nil
    ) throws(Failure) -> Definition {
        let making = component.making
        let key = place ?? component.key
        var maker = ComponentMaker(type ?? self.type(of: component), self, key, component.path)
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
        body.parameters = maker.signature(making.parameters, key)
        maker.parameters = body.parameters
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
            // Only looked at for what else is wrong.
            body.isPartial = true
            if body.initializer.count < component.initializer.count {
                body.initializer = body.initializer.filter { $0.name != nil }
            }
            failures += maker.wrong
        }
        standing += maker.standing
        return Definition(id: try engine.container.intern(key), key: key, body)
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
    /// The runtime arguments of the component, which what stands in it may use.
    var parameters: Signature?
    /// What stands in it.
    var standing: [Definition] = []
    private let start: ApplicationStart
    private let key: String
    private let path: String

    init(_ type: ObjectType?, _ start: ApplicationStart, _ key: String, _ path: String) {
        (self.type, self.start, self.key, self.path) = (type, start, key, path)
    }

    /// The key of what stands at a place in it: `camelot.knight.quest`, `camelot.knight.0`, `camelot.knight.ride.0`.
    private func key(at place: String) -> String {
        let inside = place.hasPrefix(path) ? place.dropFirst(path.count) : place[...]
        var parts = inside.split(whereSeparator: { $0 == "." || $0 == "[" || $0 == "]" }).map(String.init)
        let calls = ["methods", "before", "after", "after-all"]
        if parts.first == "choose" {
            parts[0] = "chooser"
        } else if parts.first == "options" {
            parts = parts.dropFirst().filter { $0 != "use" && $0 != "otherwise" }
        } else if let first = parts.first {
            parts.removeFirst(calls.contains(first) && parts.count > 1 ? 2 : 1)
        }
        return ([key] + parts.filter { !$0.hasPrefix("$") }).joined(separator: ".")
    }

    /// A component that stands in this one: it goes with it, is not found by type, and may use its runtime arguments.
    private mutating func stand(_ component: ManifestComponent, at place: String, isOptional: Bool) -> Injection.Source?
    {
        let place = key(at: place)
        do throws(Failure) {
            let type = try component.type.map { name throws(Failure) in
                do throws(Failure) { return try start.engine.container.type(named: name) } catch {
                    throw Failure(error.code, error.message, path: component.path, at: component.typePlace)
                }
            }
            let own = try start.definition(component, type, &wrong, &standing, at: place)
            let passed = own.body.parameters == nil && own.usesArguments ? parameters : nil
            standing.append(
                own.with { body in
                    body.owner = key
                    body.parameters = body.parameters ?? passed
                    body.flags.formUnion([.hiddenClass, .hiddenInterface])
                })
            let arguments = (passed?.parameters ?? []).indices.map { Injection.Source.argument($0) }
            return .reference(place, arguments: arguments, isOptional: isOptional)
        } catch {
            wrong.append(error)
            return nil
        }
    }

    /// What a value of the manifest is for: a text may stand for a number or for bytes.
    enum Wanted {
        case property(Property)
        case parameter(Signature.Parameter)
        case kind(ValueKind?)

        var isObject: Bool {
            switch self {
            case .property(let property): property.kind == .object
            case .parameter(let parameter): parameter.kind == .object
            case .kind(let kind): kind == .object
            }
        }
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
        var parameters: [Signature.Parameter] = []
        for parameter in given {
            var kind: ValueKind? = parameter.type == nil ? .any : .object
            if let name = parameter.kind {
                kind = ValueKind.allCases.first { $0.name.isSameName(as: name) && $0 != .null }
            }
            guard let kind else {
                let names = ValueKind.allCases.map(\.name)
                wrong.append(
                    Failure(
                        .spec,
                        "'\(parameter.kind ?? "")' is no kind\(suggestion(for: parameter.kind ?? "", among: names))",
                        path: key, at: parameter.place))
                continue
            }
            let declared = self.parameter(parameter, kind, key)
            if !declared.mayBeLeftOut, parameters.last?.mayBeLeftOut == true {
                wrong.append(
                    Failure(
                        .arity, "the parameter '\(parameter.name)' is needed, but comes after one that may be left out",
                        path: key,
                        at: parameter.place))
            }
            parameters.append(declared)
        }
        return Signature(name: key, parameters: parameters)
    }

    /// A runtime argument, with its default in its kind.
    private mutating func parameter(_ given: ManifestParameter, _ kind: ValueKind, _ key: String) -> Signature.Parameter
    {
        var made = Signature.Parameter(name: given.name, kind: kind, isOptional: given.isOptional, typeName: given.type)
        guard let node = given.defaultValue, !node.isNull else { return made }
        do throws(Failure) {
            let value = try Signature(name: key, parameters: [made]).checked(try Value(spec: node), made)
            made = Signature.Parameter(
                name: given.name, kind: kind, isOptional: given.isOptional, typeName: given.type, defaultValue: value)
        } catch {
            wrong.append(Failure(.spec, "the default: \(error.message)", path: key, at: node.place))
        }
        return made
    }

    mutating func initializer(_ given: [ManifestInjection]) -> [Injection] {
        let parameters = type?.description.signature.parameters ?? []
        return given.enumerated().compactMap { position, injection in
            let parameter =
                injection.name.map { name in parameters.first { $0.name.isSameName(as: name) } }
                ?? parameters.dropFirst(position).first
            return source(injection, parameter.map { .parameter($0) } ?? .kind(nil)).map {
                Injection(name: injection.name, $0)
            }
        }
    }

    mutating func properties(_ given: [ManifestInjection]) -> [Injection] {
        given.compactMap { injection in
            guard let name = injection.name, let type else {
                return source(injection, .kind(nil)).map {
                    Injection(name: injection.name, $0, hears: hears(injection))
                }
            }
            do throws(Failure) {
                let property = try type.description.property(named: name).property
                guard let source = source(injection, .property(property)) else { return nil }
                if let value = source.constant { _ = try property.check(value) }
                return Injection(name: name, source, hears: hears(injection))
            } catch {
                note(error, injection)
                return nil
            }
        }
    }

    /// The methods that hear of candidates of a list.
    private func hears(_ injection: ManifestInjection) -> Injection.Hears? {
        guard case .form(let form) = injection.value, let hears = form.hears else { return nil }
        return Injection.Hears(added: hears.added, removed: hears.removed)
    }

    mutating func injections(_ given: [ManifestInjection]) -> [Injection] {
        given.compactMap { injection in
            source(injection, .kind(nil)).map { Injection(name: injection.name, $0) }
        }
    }

    mutating func invocations(_ given: [ManifestCall]) -> [Invocation] {
        given.map { call in
            let method = type?.description.methods.first { $0.name.isSameName(as: call.method) }
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
                if case .text(let text) = node.content, wanted.isObject, start.hasComponent(text) {
                    throw Failure(.type, "expected an object, got the text '\(text)', which is a key: write $\(text)")
                }
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
        case .form(let form):
            if form.kind == .new {
                return form.components.first.flatMap {
                    stand($0, at: injection.path, isOptional: form.isOptional)
                }
            }
            return source(form, wanted)
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
        case .new: return nil
        case .type: return .type(wish)
        case .all: return .all(wish)
        case .path:
            let names = form.name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
            return items.first.map { .path($0, names, isOptional: form.isOptional) }
        case .provider: return items.first.map { .provider($0) }
        case .lazy: return items.first.map { .lazy($0) }
        case .weak: return items.first.map { .weak($0) }
        case .argument: return .argument(form.index)
        case .arguments: return .arguments
        case .text: return items.first.map { .text($0, converter: form.converter) }
        case .set: return .set(items)
        case .resolver: return .resolver
        case .asker: return .asker
        }
    }
}
