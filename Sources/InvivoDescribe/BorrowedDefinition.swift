public import CInvivo
internal import InvivoBase
public import InvivoGraph

/// Writes definitions as C tables, for the length of a call.
///
/// It owns the memory of the tables, so it must outlive their use.
public final class BorrowedDefinition {
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
        var borrowed = invivo_definition()
        borrowed.struct_size = MemoryLayout<invivo_definition>.size
        borrowed.key = store.string(definition.key)
        borrowed.scope = body.scope?.rawValue ?? UInt32(INVIVO_SCOPE_DEFAULT)
        borrowed.flags = body.flags.rawValue
        borrowed.type = invivo_type(bits: body.type?.description.handleBits ?? 0)
        borrowed.factory = body.factory?.function
        borrowed.inject = body.inject?.function
        borrowed.user_data = body.inject?.userData ?? body.factory?.userData ?? body.keepAlive?.userData
        (borrowed.initializer, borrowed.initializer_count) = injections(body.initializer)
        (borrowed.properties, borrowed.property_count) = injections(body.properties)
        borrowed.alias = text(body.alias)
        borrowed.parent = text(body.parent)
        borrowed.file = text(body.location.file.isEmpty ? nil : body.location.file)
        borrowed.line = body.location.line
        borrowed.column = body.location.column
        if let signature = body.parameters {
            (borrowed.parameters, borrowed.parameter_count) = table(
                signature.parameters.map { parameter in
                    invivo_parameter(
                        name: store.string(parameter.name), kind: parameter.kind.rawValue,
                        flags: parameter.flags, type_name: text(parameter.typeName))
                })
            if signature.parameters.contains(where: { $0.defaultValue != nil }) {
                borrowed.defaults = table(signature.parameters.map { value($0.defaultValue ?? .null) }).0
            }
        }
        (borrowed.methods, borrowed.method_count) = invocations(body.methods)
        (borrowed.before, borrowed.before_count) = invocations(body.before)
        (borrowed.after, borrowed.after_count) = invocations(body.after)
        (borrowed.after_all, borrowed.after_all_count) = invocations(body.afterAll)
        if let maker = body.maker {
            borrowed.maker_method = UnsafePointer(store.string(maker.invocation.method))
            (borrowed.maker, borrowed.maker_count) = injections(
                [Injection(name: nil, maker.object)] + maker.invocation.arguments)
        }
        if let choice = body.choice {
            borrowed.chooser = table([injection(choice.chooser, name: nil)]).0
            (borrowed.options, borrowed.option_count) = table(choice.options.map(option))
        }
        borrowed.type_name = text(body.typeName)
        borrowed.each = text(body.each)
        borrowed.scope_name = text(body.scopeName)
        borrowed.generic = text(body.generic)
        borrowed.owner = text(body.owner)
        borrowed.spec_key = text(body.specKey)
        borrowed.rank = body.rank
        borrowed.start_timeout_ms = UInt32(clamping: body.startTimeout / 1_000_000)
        borrowed.stop_timeout_ms = UInt32(clamping: body.stopTimeout / 1_000_000)
        borrowed.on_change = body.onChange?.rawValue ?? UInt32(INVIVO_ON_CHANGE_DEFAULT)
        borrowed.on_change_reason = text(body.onChangeReason)
        borrowed.constant = invivo_object(bits: body.constant?.bits ?? 0)
        if let image = body.blockImage { borrowed.block_initial = UnsafeRawPointer(table(image).0) }
        return borrowed
    }

    private func option(_ option: DefinitionChoice.Option) -> invivo_option {
        var borrowed = invivo_option()
        switch option.when {
        case .equal(let value):
            borrowed.when = UInt32(INVIVO_WHEN_EQUAL)
            borrowed.value = self.value(value)
        case .exact(let name):
            borrowed.when = UInt32(INVIVO_WHEN_EXACT)
            borrowed.name = text(name)
        case .kind(let name):
            borrowed.when = UInt32(INVIVO_WHEN_KIND)
            borrowed.name = text(name)
        case .named: borrowed.when = UInt32(INVIVO_WHEN_NAMED)
        case .otherwise: borrowed.when = UInt32(INVIVO_WHEN_OTHERWISE)
        }
        if let use = option.use { borrowed.use = injection(use, name: nil) }
        return borrowed
    }

    /// A borrowed value.
    private func value(_ value: Value) -> invivo_value {
        values.append(value.owned())
        var borrowed = values[values.count - 1]
        borrowed.reserved = 0
        return borrowed
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
                var borrowed = injection(given.source, name: given.name ?? given.label)
                if given.name == nil, given.label != nil { borrowed.flags |= UInt32(INVIVO_INJECT_BY_POSITION) }
                borrowed.added = text(given.listeners?.added)
                borrowed.removed = text(given.listeners?.removed)
                if given.owns { borrowed.flags |= UInt32(INVIVO_INJECT_OWNS) }
                switch given.onChange {
                case .keep: borrowed.flags |= UInt32(INVIVO_INJECT_KEEP)
                case .rebuild: borrowed.flags |= UInt32(INVIVO_INJECT_REBUILD)
                case .refuse: borrowed.flags |= UInt32(INVIVO_INJECT_REFUSE)
                case .follow: borrowed.flags |= UInt32(INVIVO_INJECT_FOLLOW)
                case nil: break
                }
                return borrowed
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
        var borrowed = invivo_injection()
        borrowed.name = text(name)
        borrowed.how = form.kind.rawValue
        borrowed.reference = text(form.name)
        if form.isOptional { borrowed.flags |= UInt32(INVIVO_INJECT_OPTIONAL) }
        if form.isExact { borrowed.flags |= UInt32(INVIVO_INJECT_EXACT) }
        if form.isGreedy { borrowed.flags |= UInt32(INVIVO_INJECT_GREEDY) }
        if form.orDefault { borrowed.flags |= UInt32(INVIVO_INJECT_OR_DEFAULT) }
        borrowed.index = form.valueKind == .any ? UInt64(form.index) : UInt64(form.valueKind.rawValue)
        if let value = form.value { borrowed.value = self.value(value) }
        (borrowed.items, borrowed.item_count) = table(form.items.map { injection($0.source, name: $0.name) })
        return borrowed
    }
}
