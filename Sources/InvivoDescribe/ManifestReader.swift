public import InvivoBase
public import InvivoConfig
public import InvivoSpec
internal import InvivoTraits
public import InvivoGraph
internal import InvivoWiring

/// Converts the components and decorators of a manifest into definitions and processors.
public struct ManifestReader {
    public let manifest: AppManifest
    fileprivate let registry: any DefinitionRegistry
    /// The secret paths of the configuration, whoever declares them: a default that stands for one of them is secret, too.
    public var secrets: SecretPaths

    public init(_ manifest: AppManifest, in registry: any DefinitionRegistry) {
        self.manifest = manifest
        self.registry = registry
        secrets = SecretPaths(manifest.secrets.map { ConfigPath.whole($0.name) })
    }

    public func hasComponent(_ key: String) -> Bool { component(key) != nil }

    /// Whether a value that the definition of `key` reads at a path may be one of the declared secrets.
    fileprivate func declaresSecret(_ path: String, for key: String) -> Bool {
        guard !secrets.isEmpty else { return false }
        let candidates = ConfigPath.candidates(path, for: Definition(id: 0, key: key, Definition.Body()))
        return candidates.contains(where: secrets.touches)
    }

    private func component(_ key: String) -> ManifestComponent? {
        manifest.components.first { $0.key.isSameName(as: key) }
    }

    /// The type of a component, which it may have from its parents in the manifest; nil where it is unknown.
    public func type(of component: ManifestComponent) -> ObjectType? {
        guard let name = typeName(of: component, throughAlias: true) else { return nil }
        return try? registry.type(named: name)
    }

    /// Whether the type that a component or one of its parents names is unknown. Other errors follow from that one.
    public func lacksType(_ component: ManifestComponent) -> Bool {
        guard let name = typeName(of: component, throughAlias: false) else { return false }
        return (try? registry.type(named: name)) == nil
    }

    /// The name of the type that a component or the nearest of its parents has.
    private func typeName(of component: ManifestComponent, throughAlias: Bool) -> String? {
        var current = component
        for _ in 0..<64 {
            if let name = current.type { return name }
            guard let parent = current.making.parent ?? (throughAlias ? current.making.alias : nil),
                let next = self.component(parent)
            else { return nil }
            current = next
        }
        return nil
    }

    /// Reads a component. Appends all errors to `failures` and leaves out the wrong parts.
    ///
    /// - Parameters:
    ///   - inlines: receives the inline definitions of the component.
    ///   - inlineKey: the key of an inline definition, which has none of its own.
    public func definition(
        _ component: ManifestComponent, _ type: ObjectType?, _ failures: inout [Failure], _ inlines: InlineDefinitions,
        at inlineKey: String? = nil
    ) throws(Failure) -> Definition {
        let making = component.making
        let key = inlineKey ?? component.key
        var reader = ComponentReader(self, type ?? self.type(of: component), key, component.path, inlines)
        var body = Definition.Body()
        body.type = type
        body.location = component.keyLocation
        body.scope = component.scope.map(Scope.init(manifest:))
        if let name = component.scopeName {
            do throws(Failure) {
                let scope = component.scope == .context ? Scope.context : .host
                try registry.requireScope(scope, named: name)
                (body.scope, body.scopeName) = (scope, name)
            } catch {
                var failure = error
                failure.path = component.path + ".scope"
                failure.location = component.scopeLocation
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
        if component.life.restarts { body.flags.insert(.restart) }
        body.startTimeout = component.life.startTimeout * 1_000_000
        body.stopTimeout = component.life.stopTimeout * 1_000_000
        body.onChange = component.life.onChange.map(OnChange.init(manifest:))
        body.specKey = component.life.specKey
        body.onChangeReason = component.life.onChangeReason
        if making.isHiddenByClass { body.flags.insert(.hiddenClass) }
        if making.isHiddenByInterface { body.flags.insert(.hiddenInterface) }
        body.parameters = reader.signature(making.parameters)
        body.initializer = reader.initializer(component.initializer)
        body.properties = reader.properties(component.properties)
        body.methods = reader.invocations(making.methods)
        body.before = reader.invocations(making.before)
        body.after = reader.invocations(making.after)
        body.afterAll = reader.invocations(making.afterAll)
        if let (owner, call) = making.maker, let object = reader.source(owner) {
            body.maker = MakerMethod(
                object: object,
                invocation: Invocation(method: call.method, arguments: reader.injections(call.arguments)))
        }
        if let chooser = making.chooser, let source = reader.source(chooser) {
            body.choice = DefinitionChoice(chooser: source, options: reader.options(making.options))
        }
        if !reader.failures.isEmpty {
            // Only examined for other errors.
            body.isPartial = true
            if body.initializer.count < component.initializer.count {
                body.initializer = body.initializer.filter { $0.name != nil }
            }
            failures += reader.failures
        }
        return Definition(id: try registry.intern(key), key: key, body)
    }

    /// Reads a decorator as a processor.
    public func processor(_ decorator: ManifestDecorator) throws(Failure) -> Processor {
        var key: (id: UInt32, name: String)?
        if let name = decorator.key { key = (try registry.intern(name), name) }
        return Processor(
            name: decorator.name, key: key, type: decorator.type, priority: decorator.priority, process: nil,
            decorator: .component(
                try registry.intern(decorator.component), name: decorator.component, method: decorator.method),
            owner: Factory(nil, userData: nil, destroy: nil), location: decorator.location)
    }
}

/// Reads the parts of one component and gathers their errors.
private struct ComponentReader {
    let type: ObjectType?
    var failures: [Failure] = []
    /// The runtime arguments of the component, which inline definitions may use.
    private var parameters: Signature?
    private let inlines: InlineDefinitions
    /// Whether the values that are read now stand for a secret of the configuration.
    private var isSecret = false
    private let manifest: ManifestReader
    private let key: String
    private let path: String

    init(
        _ manifest: ManifestReader, _ type: ObjectType?, _ key: String, _ path: String, _ inlines: InlineDefinitions
    ) {
        (self.manifest, self.type, self.key, self.path, self.inlines) = (manifest, type, key, path, inlines)
    }

    /// The key of the inline definition at a path of the manifest: `camelot.knight.quest`, `camelot.knight.0`,
    /// `camelot.knight.ride.0`.
    private func key(at inlinePath: String) -> String {
        let inside = inlinePath.hasPrefix(path) ? inlinePath.dropFirst(path.count) : inlinePath[...]
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

    /// Reads an inline component.
    private mutating func inline(
        _ component: ManifestComponent, at path: String, isOptional: Bool
    ) -> Injection.Source? {
        do throws(Failure) {
            let type = try component.type.map { name throws(Failure) in
                do throws(Failure) { return try manifest.registry.type(named: name) } catch {
                    throw Failure(error.code, error.message, path: component.path, at: component.typeLocation)
                }
            }
            let inlineKey = key(at: path)
            let definition = try manifest.definition(component, type, &failures, inlines, at: inlineKey)
            return inlines.add(definition, owner: key, parameters: parameters, isOptional: isOptional)
        } catch {
            failures.append(error)
            return nil
        }
    }

    /// The destination of a value, whose kind decides how a string is read.
    enum Destination {
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

        /// A failure without the value, if that is secret.
        func masked(_ failure: Failure, isSecret: Bool) -> Failure {
            let (ownSecret, kind): (Bool, ValueKind) =
                switch self {
                case .property(let property): (property.origin(nil) != nil, property.kind)
                case .parameter(let parameter): (parameter.isSecret, parameter.kind)
                case .kind(let kind): (false, kind ?? .any)
                }
            guard isSecret || ownSecret else { return failure }
            let expected = kind == .any ? "another kind of value" : kind.withArticle
            return VariableText.secret.masking(failure, expected: expected)
        }
    }

    private mutating func note(_ error: Failure, _ injection: ManifestInjection) {
        var failure = error
        failure.path = injection.path
        if failure.location.line == 0 {
            failure.location = failure.code == .property ? injection.nameLocation : injection.location
        }
        failures.append(failure)
    }

    /// The declared runtime arguments; nil where there are none.
    mutating func signature(_ given: [ManifestParameter]) -> Signature? {
        guard !given.isEmpty else { return nil }
        var builder = SignatureBuilder(key)
        for parameter in given {
            var kind: ValueKind? = parameter.type == nil ? .any : .object
            if let name = parameter.kind {
                kind = ValueKind.allCases.first { $0.name.isSameName(as: name) && $0 != .null }
            }
            guard let kind else {
                let names = ValueKind.allCases.map(\.name)
                failures.append(
                    Failure(
                        .spec,
                        "'\(parameter.kind ?? "")' is no kind\(suggestion(for: parameter.kind ?? "", among: names))",
                        path: key, at: parameter.location))
                continue
            }
            var value: Value?
            do throws(Failure) {
                value = try parameter.defaultValue.map { node throws(Failure) in try Value(spec: node) }
            } catch {
                noteDefault(parameter, error)
            }
            let declared = Signature.Parameter(
                name: parameter.name, kind: kind, isOptional: parameter.isOptional, typeName: parameter.type)
            for problem in builder.add(declared, default: value) {
                switch problem {
                case .defaultValue(let error): noteDefault(parameter, error)
                case .order:
                    failures.append(
                        Failure(
                            .arity, SignatureBuilder.orderMessage(parameter.name), path: key, at: parameter.location))
                // Reported already, as an error in the form of the manifest.
                case .repeatedName: break
                }
            }
        }
        parameters = builder.signature
        return parameters
    }

    private mutating func noteDefault(_ parameter: ManifestParameter, _ error: Failure) {
        let location = parameter.defaultValue?.location ?? parameter.location
        failures.append(Failure(.spec, "the default: \(error.message)", path: key, at: location))
    }

    mutating func initializer(_ given: [ManifestInjection]) -> [Injection] {
        let parameters = type?.description.signature.parameters ?? []
        return given.enumerated().compactMap { position, injection in
            let parameter =
                injection.name.map { name in parameters.first { $0.name.isSameName(as: name) } }
                ?? parameters.dropFirst(position).first
            return source(injection, parameter.map { .parameter($0) } ?? .kind(nil)).map {
                Injection(name: injection.name, $0, onChange: onChange(injection), owns: owns(injection))
            }
        }
    }

    mutating func properties(_ given: [ManifestInjection]) -> [Injection] {
        given.compactMap { injection in
            guard let name = injection.name, let type else {
                return source(injection).map {
                    Injection(
                        name: injection.name, $0, listeners: listeners(injection), onChange: onChange(injection),
                        owns: owns(injection))
                }
            }
            do throws(Failure) {
                let property = try type.description.property(named: name).property
                guard let source = source(injection, .property(property)) else { return nil }
                if let value = source.constant { _ = try property.check(value) }
                return Injection(
                    name: name, source, listeners: listeners(injection), onChange: onChange(injection),
                    owns: owns(injection))
            } catch {
                note(error, injection)
                return nil
            }
        }
    }

    /// Reports items that declare how they follow changes.
    private mutating func refuseOnChange(inside items: [ManifestInjection]) {
        for item in items where onChange(item) != nil || owns(item) {
            note(
                Failure(
                    .argument,
                    "\(owns(item) ? "owns" : "on_change") is for an injection as a whole, not for an item of it: write it at the outer one"
                ),
                item)
        }
    }

    /// How an injection follows changes; nil = as its component declares.
    private func onChange(_ injection: ManifestInjection) -> OnChange? {
        guard case .form(let form) = injection.value else { return nil }
        return form.onChange.map(OnChange.init(manifest:))
    }

    /// Whether an injection sets its holder up again when what it receives changes.
    private func owns(_ injection: ManifestInjection) -> Bool {
        guard case .form(let form) = injection.value else { return false }
        return form.owns
    }

    /// The methods that are called when candidates of a list are added or removed.
    private func listeners(_ injection: ManifestInjection) -> Injection.Listeners? {
        guard case .form(let form) = injection.value, let listeners = form.listeners else { return nil }
        return Injection.Listeners(added: listeners.added, removed: listeners.removed)
    }

    mutating func injections(_ given: [ManifestInjection]) -> [Injection] {
        given.compactMap { injection in
            source(injection).map {
                Injection(name: injection.name, $0, onChange: onChange(injection), owns: owns(injection))
            }
        }
    }

    mutating func invocations(_ given: [ManifestCall]) -> [Invocation] {
        given.map { call in
            let method = type?.description.methods.first { $0.name.isSameName(as: call.method) }
            let parameters = method?.signature.parameters ?? []
            var arguments: [Injection] = []
            for (index, argument) in call.arguments.enumerated() {
                let destination: Destination = index < parameters.count ? .parameter(parameters[index]) : .kind(nil)
                if let source = source(argument, destination) {
                    arguments.append(Injection(name: nil, source, onChange: onChange(argument), owns: owns(argument)))
                }
            }
            return Invocation(method: call.method, arguments: arguments)
        }
    }

    mutating func options(_ given: [ManifestOption]) -> [DefinitionChoice.Option] {
        given.compactMap { option in
            let use = option.use.flatMap { source($0) }
            switch option.when {
            case .equal(let node): return DefinitionChoice.Option(.equal((try? Value(spec: node)) ?? .null), use: use)
            case .kind(let name): return DefinitionChoice.Option(.kind(name), use: use)
            case .exactly(let name): return DefinitionChoice.Option(.exact(name), use: use)
            case .named: return DefinitionChoice.Option(.named, use: nil)
            case .otherwise: return DefinitionChoice.Option(.otherwise, use: use)
            }
        }
    }

    /// Reads a source. Returns nil for a wrong one, whose error is gathered.
    mutating func source(_ injection: ManifestInjection, _ destination: Destination = .kind(nil)) -> Injection.Source? {
        do throws(Failure) {
            switch injection.value {
            case .reference(let key): return .reference(key)
            case .value(let node): return try value(node, destination)
            case .list(let items):
                refuseOnChange(inside: items)
                return .list(items.compactMap { source($0) })
            case .map(let pairs):
                refuseOnChange(inside: pairs)
                return .map(pairs.compactMap { pair in source(pair).map { (pair.name ?? "", $0) } })
            case .form(let form):
                guard form.kind == .new else { return try source(form, destination) }
                return form.components.first.flatMap {
                    inline($0, at: injection.path, isOptional: form.isOptional)
                }
            }
        } catch {
            note(destination.masked(error, isSecret: isSecret), injection)
            return nil
        }
    }

    private func value(_ node: SpecNode, _ destination: Destination) throws(Failure) -> Injection.Source {
        if case .text(let text) = node.content, destination.isObject, manifest.hasComponent(text) {
            throw Failure(.type, "expected an object, got the string '\(text)', which is a key: write $\(text)")
        }
        switch destination {
        case .property(let property): return .value(try Value(spec: node, for: property))
        case .parameter(let parameter):
            // A string for an object is read by the converter of the object's type.
            if case .text(let text) = node.content, parameter.kind == .object, parameter.typeName != nil {
                return .text(.value(.string(text)), converter: nil)
            }
            return .value(try Value(spec: node, kind: parameter.kind))
        case .kind(let kind): return .value(try Value(spec: node, kind: kind))
        }
    }

    private mutating func source(
        _ form: ManifestForm, _ destination: Destination
    ) throws(Failure) -> Injection.Source? {
        guard let kind = SourceForm.Kind(manifest: form.kind) else { return nil }
        let inner: Destination = kind == .config || kind == .entry || kind == .context ? destination : .kind(nil)
        refuseOnChange(inside: form.items)
        let former = isSecret
        if kind == .config { isSecret = isSecret || manifest.declaresSecret(form.name, for: key) }
        defer { isSecret = former }
        let items = form.items.compactMap { source($0, inner) }
        guard items.count == form.items.count else { return nil }
        var neutral = SourceForm(kind, name: form.name)
        if kind == .reference, form.name.hasPrefix("$") { neutral.name = String(form.name.dropFirst()) }
        if kind == .text { neutral.name = form.converter }
        neutral.items = items.map { (nil, $0) }
        neutral.index = form.index
        neutral.value = form.contextKind.map(Value.string)
        (neutral.isOptional, neutral.isExact, neutral.isGreedy) = (form.isOptional, form.isExact, form.isGreedy)
        return try neutral.source()
    }
}

extension OnChange {
    fileprivate init(manifest declared: ManifestOnChange) {
        switch declared {
        case .follow: self = .follow
        case .keep: self = .keep
        case .rebuild: self = .rebuild
        case .refuse: self = .refuse
        }
    }
}
