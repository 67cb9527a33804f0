internal import CInvivo

/// Translates the construction steps of a definition to the C ABI.
extension Describer {
    mutating func steps(
        _ definition: inout invivo_definition, _ key: String, _ draft: Draft, _ arena: Arena
    ) throws(InvivoError) {
        var steps = try merged(draft)
        // A step without a name is identified by its number.
        for (number, index) in steps.indices.filter({ !steps[$0].isNamed }).enumerated() where number > 0 {
            steps[index].name += "\(number + 1)"
        }
        var set: Set<AnyKeyPath> = []
        var names: Set<String> = []
        for step in draft.steps {
            let isTwice =
                step.property.map { !set.insert($0).inserted }
                ?? (step.isProperty ? !names.insert(step.name).inserted : false)
            if isTwice { fail(InvivoError(.exists, "the property '\(step.name)' is set twice"), key, draft) }
        }
        var properties: [invivo_injection] = []
        for step in steps where step.isProperty {
            if case .property = step.action, let injection = step.injections.first {
                properties.append(entry(injection, step.name, key, draft, arena, step.name))
            }
        }
        definition.properties = UnsafePointer(arena.table(properties))
        definition.property_count = UInt64(properties.count)
        let calls = steps.filter { if case .property = $0.action { false } else { true } }
        (definition.methods, definition.method_count) = try invocations(calls, key, draft, arena)
        (definition.before, definition.before_count) = try invocations(draft.before, key, draft, arena)
        (definition.after, definition.after_count) = try invocations(draft.after, key, draft, arena)
        (definition.after_all, definition.after_all_count) = try invocations(draft.afterAll, key, draft, arena)
    }

    /// Returns the steps of a definition and of its parent: properties are merged by name; methods are inherited if it has none.
    private func merged(_ draft: Draft, depth: Int = 0) throws(InvivoError) -> [Draft.Step] {
        guard depth < 64, let parent = draft.parent, depth > 0 || !draft.steps.isEmpty else { return draft.steps }
        let definition: AnyDefinition
        switch parent.how {
        case .member(let path, _):
            guard let home else { return draft.steps }
            definition = try path.read(home.assembly)
        case .definition(let given, _): definition = given
        default: return draft.steps
        }
        let above = try merged(definition.draft, depth: depth + 1)
        let own = draft.steps
        var properties = above.filter(\.isProperty)
        for step in own where step.isProperty {
            if let index = properties.firstIndex(where: { $0.isSameProperty(as: step) }) {
                properties[index] = step
            } else {
                properties.append(step)
            }
        }
        let calls = own.filter { !$0.isProperty }
        return properties + (calls.isEmpty ? above.filter { !$0.isProperty } : calls)
    }

    mutating func invocations(
        _ steps: [Draft.Step], _ key: String, _ draft: Draft, _ arena: Arena
    ) throws(InvivoError) -> (UnsafePointer<invivo_invocation>?, UInt64) {
        var calls: [invivo_invocation] = []
        for step in steps {
            var call = invivo_invocation()
            switch step.action {
            case .method, .property:
                call.method = try arena.name(step.name)
                (call.arguments, call.argument_count) = table(step.injections, key, draft, arena) {
                    "\(step.name).\($0)"
                }
            case .code(let code):
                call.method = try arena.name(CodeMethod.name)
                var arguments = [invivo_injection(), invivo_injection()]
                arguments[0].how = UInt32(INVIVO_INJECT_VALUE)
                arguments[0].value = try InvivoValue.callable(Callable(name: step.name, code: code)).borrowed(
                    arena, core)
                arguments[1].how = UInt32(INVIVO_INJECT_LIST)
                let isSingle = step.injections.count == 1
                (arguments[1].items, arguments[1].item_count) = table(step.injections, key, draft, arena) {
                    isSingle ? step.name : "\(step.name).\($0)"
                }
                call.arguments = UnsafePointer(arena.table(arguments))
                call.argument_count = 2
            }
            calls.append(call)
        }
        return (UnsafePointer(arena.table(calls)), UInt64(calls.count))
    }
}

extension Draft.Step {
    var isProperty: Bool {
        if case .property = action { return true }
        return property != nil
    }

    /// Whether both set the same: the key paths decide, where both have one.
    func isSameProperty(as other: Draft.Step) -> Bool {
        if let property, let path = other.property, property == path { return true }
        return isNamed && other.isNamed && name == other.name
    }
}
