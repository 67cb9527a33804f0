public import CInvivo
internal import InvivoBase
public import InvivoGraph

/// Writes definitions as C tables, for the length of a call.
///
/// It owns the memory of the tables, so it must outlive their use.
public final class LentDefinition {
    private let store = CStrings()
    private var tables: [UnsafeMutableRawPointer] = []
    private var values: [invivo_value] = []

    public init() {}

    deinit {
        for index in values.indices { Value.free(&values[index]) }
        for table in tables { table.deallocate() }
    }

    public func lend(_ definition: Definition) -> invivo_definition {
        let body = definition.body
        var lent = invivo_definition()
        lent.struct_size = MemoryLayout<invivo_definition>.size
        lent.key = store.string(definition.key)
        lent.scope = body.scope?.rawValue ?? UInt32(INVIVO_SCOPE_DEFAULT)
        lent.flags = body.flags.rawValue
        lent.type = invivo_type(bits: body.type?.description.handleBits ?? 0)
        lent.factory = body.factory?.function
        lent.inject = body.inject?.function
        lent.user_data = body.inject?.userData ?? body.factory?.userData ?? body.keepAlive?.userData
        (lent.initializer, lent.initializer_count) = injections(body.initializer)
        (lent.properties, lent.property_count) = injections(body.properties)
        lent.alias = text(body.alias)
        lent.parent = text(body.parent)
        lent.file = text(body.location.file.isEmpty ? nil : body.location.file)
        lent.line = body.location.line
        lent.column = body.location.column
        if let signature = body.parameters {
            (lent.parameters, lent.parameter_count) = table(
                signature.parameters.map { parameter in
                    invivo_parameter(
                        name: store.string(parameter.name), kind: parameter.kind.rawValue,
                        flags: parameter.flags, type_name: text(parameter.typeName))
                })
            if signature.parameters.contains(where: { $0.defaultValue != nil }) {
                lent.defaults = table(signature.parameters.map { value($0.defaultValue ?? .null) }).0
            }
        }
        (lent.methods, lent.method_count) = invocations(body.methods)
        (lent.before, lent.before_count) = invocations(body.before)
        (lent.after, lent.after_count) = invocations(body.after)
        (lent.after_all, lent.after_all_count) = invocations(body.afterAll)
        if let maker = body.maker {
            lent.maker_method = UnsafePointer(store.string(maker.invocation.method))
            (lent.maker, lent.maker_count) = injections(
                [Injection(name: nil, maker.object)] + maker.invocation.arguments)
        }
        if let choice = body.choice {
            lent.chooser = table([injection(choice.chooser, name: nil)]).0
            (lent.options, lent.option_count) = table(choice.options.map(option))
        }
        lent.type_name = text(body.typeName)
        lent.each = text(body.each)
        lent.scope_name = text(body.scopeName)
        lent.generic = text(body.generic)
        lent.owner = text(body.owner)
        lent.spec_key = text(body.specKey)
        lent.rank = body.rank
        lent.start_timeout_ms = UInt32(clamping: body.startTimeout / 1_000_000)
        lent.stop_timeout_ms = UInt32(clamping: body.stopTimeout / 1_000_000)
        lent.on_change = body.onChange?.rawValue ?? UInt32(INVIVO_ON_CHANGE_DEFAULT)
        lent.on_change_reason = text(body.onChangeReason)
        lent.constant = invivo_object(bits: body.constant?.bits ?? 0)
        if let image = body.blockImage { lent.block_initial = UnsafeRawPointer(table(image).0) }
        return lent
    }

    private func option(_ option: DefinitionChoice.Option) -> invivo_option {
        var lent = invivo_option()
        switch option.when {
        case .equal(let value):
            lent.when = UInt32(INVIVO_WHEN_EQUAL)
            lent.value = self.value(value)
        case .exact(let name):
            lent.when = UInt32(INVIVO_WHEN_EXACT)
            lent.name = text(name)
        case .kind(let name):
            lent.when = UInt32(INVIVO_WHEN_KIND)
            lent.name = text(name)
        case .named: lent.when = UInt32(INVIVO_WHEN_NAMED)
        case .otherwise: lent.when = UInt32(INVIVO_WHEN_OTHERWISE)
        }
        if let use = option.use { lent.use = injection(use, name: nil) }
        return lent
    }

    /// A borrowed value.
    private func value(_ value: Value) -> invivo_value {
        values.append(value.owned())
        var lent = values[values.count - 1]
        lent.reserved = 0
        return lent
    }

    private func text(_ string: String?) -> UnsafePointer<CChar>? { string.map { store.string($0) } }

    private func table<Element>(_ elements: [Element]) -> (UnsafePointer<Element>?, UInt64) {
        guard !elements.isEmpty else { return (nil, 0) }
        let table = UnsafeMutablePointer<Element>.allocate(capacity: elements.count)
        table.initialize(from: elements, count: elements.count)
        tables.append(UnsafeMutableRawPointer(table))
        return (UnsafePointer(table), UInt64(elements.count))
    }

    private func injections(_ given: [Injection]) -> (UnsafePointer<invivo_injection>?, UInt64) {
        table(
            given.map { given in
                var lent = injection(given.source, name: given.name ?? given.label)
                if given.name == nil, given.label != nil { lent.flags |= UInt32(INVIVO_INJECT_BY_POSITION) }
                lent.added = text(given.listeners?.added)
                lent.removed = text(given.listeners?.removed)
                if given.owns { lent.flags |= UInt32(INVIVO_INJECT_OWNS) }
                switch given.onChange {
                case .keep: lent.flags |= UInt32(INVIVO_INJECT_KEEP)
                case .rebuild: lent.flags |= UInt32(INVIVO_INJECT_REBUILD)
                case .refuse: lent.flags |= UInt32(INVIVO_INJECT_REFUSE)
                case .follow: lent.flags |= UInt32(INVIVO_INJECT_FOLLOW)
                case nil: break
                }
                return lent
            })
    }

    private func invocations(_ given: [Invocation]) -> (UnsafePointer<invivo_invocation>?, UInt64) {
        table(
            given.map { invocation in
                let (arguments, count) = injections(invocation.arguments)
                return invivo_invocation(
                    method: store.string(invocation.method), arguments: arguments, argument_count: count)
            })
    }

    private func injection(_ source: Injection.Source, name: String?) -> invivo_injection {
        let form = SourceForm(of: source)
        var lent = invivo_injection()
        lent.name = text(name)
        lent.how = form.kind.rawValue
        lent.reference = text(form.name)
        if form.isOptional { lent.flags |= UInt32(INVIVO_INJECT_OPTIONAL) }
        if form.isExact { lent.flags |= UInt32(INVIVO_INJECT_EXACT) }
        if form.isGreedy { lent.flags |= UInt32(INVIVO_INJECT_GREEDY) }
        if form.orDefault { lent.flags |= UInt32(INVIVO_INJECT_OR_DEFAULT) }
        lent.index = form.valueKind == .any ? UInt64(form.index) : UInt64(form.valueKind.rawValue)
        if let value = form.value { lent.value = self.value(value) }
        (lent.items, lent.item_count) = table(form.items.map { injection($0.source, name: $0.name) })
        return lent
    }
}
