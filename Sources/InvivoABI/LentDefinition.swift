internal import CInvivo
internal import InvivoBase
internal import InvivoGraph
internal import InvivoWiring

/// A definition as C reads it, for the length of a call: the memory behind it is this object's.
final class LentDefinition {
    private let store = CStrings()
    private var tables: [UnsafeMutableRawPointer] = []
    private var values: [invivo_value] = []

    deinit {
        for index in values.indices { Value.free(&values[index]) }
        for table in tables { table.deallocate() }
    }

    func lend(_ definition: Definition) -> invivo_definition {
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
        lent.file = text(body.place.file.isEmpty ? nil : body.place.file)
        lent.line = body.place.line
        lent.column = body.place.column
        if let signature = body.parameters {
            (lent.parameters, lent.parameter_count) = table(
                signature.parameters.map { parameter in
                    invivo_parameter(
                        name: store.string(parameter.name), kind: parameter.kind.rawValue,
                        flags: parameter.isOptional ? UInt32(INVIVO_PARAMETER_OPTIONAL) : 0,
                        type_name: text(parameter.typeName))
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
            lent.chooser = items([choice.chooser]).0
            (lent.options, lent.option_count) = table(choice.options.map(option))
        }
        lent.type_name = text(body.typeName)
        lent.each = text(body.each)
        lent.scope_name = text(body.scopeName)
        lent.generic = text(body.generic)
        lent.owner = text(body.owner)
        lent.rank = body.rank
        lent.start_timeout_ms = UInt32(clamping: body.startTimeout / 1_000_000)
        lent.stop_timeout_ms = UInt32(clamping: body.stopTimeout / 1_000_000)
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

    /// Lent, not given.
    private func value(_ value: Value) -> invivo_value {
        values.append(value.owned())
        var lent = values[values.count - 1]
        lent.reserved = 0
        return lent
    }

    private func text(_ string: String?) -> UnsafePointer<CChar>? { string.map { store.string($0) } }

    private func table<Element>(_ elements: [Element]) -> (UnsafePointer<Element>?, UInt64) {
        guard !elements.isEmpty else { return (nil, 0) }
        let place = UnsafeMutablePointer<Element>.allocate(capacity: elements.count)
        place.initialize(from: elements, count: elements.count)
        tables.append(UnsafeMutableRawPointer(place))
        return (UnsafePointer(place), UInt64(elements.count))
    }

    private func injections(_ given: [Injection]) -> (UnsafePointer<invivo_injection>?, UInt64) {
        table(
            given.map { given in
                var lent = injection(given.source, name: given.name ?? given.label)
                if given.name == nil, given.label != nil { lent.flags |= UInt32(INVIVO_INJECT_BY_POSITION) }
                lent.added = text(given.hears?.added)
                lent.removed = text(given.hears?.removed)
                return lent
            })
    }

    private func items(_ given: [Injection.Source]) -> (UnsafePointer<invivo_injection>?, UInt64) {
        table(given.map { injection($0, name: nil) })
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
        var lent = invivo_injection()
        lent.name = text(name)
        func say(_ how: Int, _ reference: String? = nil, isOptional: Bool = false) {
            lent.how = UInt32(how)
            lent.reference = text(reference)
            if isOptional { lent.flags |= UInt32(INVIVO_INJECT_OPTIONAL) }
        }
        func say(_ how: Int, _ wish: Injection.TypeWish) {
            say(how, wish.name, isOptional: wish.isOptional)
            if wish.isExact { lent.flags |= UInt32(INVIVO_INJECT_EXACT) }
            if wish.isGreedy { lent.flags |= UInt32(INVIVO_INJECT_GREEDY) }
            if wish.orDefault { lent.flags |= UInt32(INVIVO_INJECT_OR_DEFAULT) }
        }
        var names: [Name] = []
        var lendsItems = true
        switch source.kind {
        case .value(let constant): lent.value = value(constant.value)
        case .config(let path, let isOptional, let kind):
            say(Int(INVIVO_INJECT_CONFIG), path.text, isOptional: isOptional)
            lent.index = kind == .any ? 0 : UInt64(kind.rawValue)
        case .entry(let path, let isOptional):
            say(Int(INVIVO_INJECT_ENTRY), path.text.isEmpty ? nil : path.text, isOptional: isOptional)
        case .entryName: say(Int(INVIVO_INJECT_ENTRY_NAME))
        case .document(let document): lent.value = value(document.node.value)
        case .text(let converter):
            say(Int(INVIVO_INJECT_TEXT), converter?.text)
            if let text = source.parts.first?.constant {
                lent.value = value(text)
                lendsItems = false
            }
        case .reference(let key, let isOptional):
            say(Int(INVIVO_INJECT_REFERENCE), key.text, isOptional: isOptional)
        case .type(let wish): say(Int(INVIVO_INJECT_TYPE), wish)
        case .all(let wish): say(Int(INVIVO_INJECT_ALL), wish)
        case .argument(let index):
            say(Int(INVIVO_INJECT_ARGUMENT))
            lent.index = UInt64(index)
        case .arguments: say(Int(INVIVO_INJECT_ARGUMENTS))
        case .path(let path, let isOptional):
            say(Int(INVIVO_INJECT_PATH), path.map(\.text).joined(separator: "."), isOptional: isOptional)
        case .list: say(Int(INVIVO_INJECT_LIST))
        case .set: say(Int(INVIVO_INJECT_SET))
        case .map(let keys):
            say(Int(INVIVO_INJECT_MAP))
            names = keys
        case .provider: say(Int(INVIVO_INJECT_PROVIDER))
        case .lazy: say(Int(INVIVO_INJECT_LAZY))
        case .weak: say(Int(INVIVO_INJECT_WEAK))
        case .resolver: say(Int(INVIVO_INJECT_RESOLVER))
        case .asker: say(Int(INVIVO_INJECT_ASKER))
        }
        if lendsItems {
            (lent.items, lent.item_count) = table(
                source.parts.enumerated().map { index, part in
                    injection(part, name: names.isEmpty ? nil : names[index].text)
                })
        }
        return lent
    }
}
