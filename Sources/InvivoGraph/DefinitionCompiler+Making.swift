internal import InvivoBase

/// Compiles the arguments of initializers, and the injections after them.
extension DefinitionCompiler {
    /// Matches arguments by name or position: an argument without a name fills the first free position.
    mutating func initializer(_ type: ObjectType) -> [Recipe.Slot] {
        let parameters = type.description.signature.parameters
        var slots: [Recipe.Slot] = []
        var taken = Set<Int>()
        for injection in definition.body.initializer {
            let position: Int
            if let name = injection.name {
                guard let index = parameters.firstIndex(where: { $0.name.isSameName(as: name) }) else {
                    fail(
                        .arity,
                        "'\(type.name)' has no initializer parameter '\(name)'\(suggestion(for: name, among: parameters.map(\.name)))"
                    )
                    _ = source(injection.source, edge(.initializer, of: injection), "initializer parameter '\(name)'")
                    continue
                }
                position = index
            } else {
                var gap = 0
                while taken.contains(gap) { gap += 1 }
                position = gap
            }
            guard taken.insert(position).inserted else {
                fail(.arity, "the initializer parameter '\(injection.name ?? "\(position)")' is given twice")
                continue
            }
            guard definition.body.factory != nil || position < parameters.count else {
                fail(
                    .arity,
                    "'\(type.name)' takes \(parameters.count) initializer argument\(parameters.count == 1 ? "" : "s"), "
                        + "got \(definition.body.initializer.count)")
                break
            }
            let parameter = position < parameters.count ? parameters[position] : nil
            isLeftOut = false
            let slot = slot(injection, position, definition.body.factory == nil ? parameter : nil, type)
            if !isLeftOut { slots.append(slot) }
            isLeftOut = false
        }
        if definition.body.factory == nil && !definition.isAbstract && !definition.body.isPartial {
            for (index, parameter) in parameters.enumerated() where !parameter.isOptional && !taken.contains(index) {
                fail(
                    .arity,
                    "no argument for the initializer parameter '\(parameter.name)' (\(parameter.wanted)) of "
                        + "'\(type.name)': inject a value, or declare a runtime argument (parameters) and inject that")
            }
        }
        return slots.sorted { $0.position < $1.position }
    }

    /// The method of an object, if the object's type or a supertype of it is known.
    func method(_ name: String, of object: Recipe.Source) -> Signature? {
        guard case .object(let id, _, _) = object, let type = definitions.final(id)?.type else { return nil }
        return (try? type.description.method(named: name))?.signature
    }

    /// The arguments of the method that creates the instance. All are required.
    mutating func makerSlots(_ call: Invocation, _ signature: Signature?) -> [Recipe.Slot] {
        var slots: [Recipe.Slot] = []
        for (index, injection) in call.arguments.enumerated() {
            let what = "argument \(index) of the maker"
            let compiled = argument(
                injection.source, index, of: signature, edge(.initializer, of: injection), what)
            slots.append(Recipe.Slot(position: index, source: compiled, parameter: nil))
        }
        guard let signature else { return slots }
        if slots.count > signature.parameters.count {
            fail(.arity, "\(signature.text) of the maker is called with \(slots.count) arguments")
        }
        for parameter in signature.parameters.dropFirst(slots.count) where !parameter.isOptional {
            fail(
                .arity,
                "no argument for the parameter '\(parameter.name)' (\(parameter.wanted)) of the maker's method "
                    + "'\(signature.name)': inject a value, or declare a runtime argument (parameters) and inject that")
        }
        return slots
    }

    mutating func slot(
        _ injection: Injection, _ position: Int, _ parameter: Signature.Parameter?, _ type: ObjectType
    ) -> Recipe.Slot {
        let what = "initializer parameter '\(parameter?.name ?? injection.label ?? "\(position)")'"
        let before = wrong
        let signature = type.description.signature
        var compiled = source(
            injection.source, edge(.initializer, of: injection), what,
            parameter.map { .parameter(signature, $0) } ?? .any)
        // Errors that follow from a reported error are not reported.
        if let parameter, wrong == before {
            do throws(Failure) {
                compiled = try compiled.constant { value throws(Failure) in try signature.checked(value, parameter) }
            } catch { fail(error.code, error.message) }
            checkKind(compiled, parameter.kind, what)
            checkType(compiled, parameter.typeName, what)
            checkDefault(compiled, what) { value throws(Failure) in try signature.checked(value, parameter) }
        }
        return Recipe.Slot(position: position, source: compiled, parameter: parameter)
    }

    mutating func checkType(_ source: Recipe.Source, _ wanted: String?, _ what: String) {
        guard let wanted, case .object(let id, _, _) = source, let target = definitions.final(id),
            let type = target.type
        else {
            return
        }
        if !type.description.isKind(of: wanted) {
            fail(
                .type,
                "\(what) needs an object of type '\(wanted)', and "
                    + "'\(definitions.described(id)?.key ?? target.key)' is of type '\(type.name)'"
            )
        }
    }

    // MARK: properties and methods

    mutating func property(_ injection: Injection, _ type: ObjectType, _ set: inout NameSet) -> Recipe.Step? {
        guard let name = injection.name else {
            fail(.argument, "a property injection needs the property's name")
            return nil
        }
        do throws(Failure) {
            let property = try type.description.property(named: name).property
            if property.isReadOnly { throw Failure(.readOnly, "\(type.name).\(name) cannot be set: it is read only") }
            if !set.insert(property.name).inserted { throw Failure(.exists, "the property '\(name)' is set twice") }
            if injection.onChange != nil && (property.isInBlock || injection.listeners != nil)
                || injection.owns && property.isInBlock
            {
                throw Failure(
                    .argument,
                    "the property '\(name)' declares how it follows changes, but "
                        + (property.isInBlock
                            ? "a field of a block always follows them"
                            : "the methods '\(injection.listeners?.added ?? "")' and "
                                + "'\(injection.listeners?.removed ?? "")' receive them"))
            }
            let before = wrong
            var compiled = source(
                injection.source, property.isInBlock ? .deferred : edge(.injection, of: injection),
                "the property '\(name)'",
                .property(property)
            )
            guard wrong == before else { return nil }
            if let listeners = injection.listeners {
                guard case .all(let ids) = compiled else {
                    throw Failure(.argument, "only a list of all of a type has candidates that are added and removed")
                }
                references.notifiedLists.insert("the property '\(name)'")
                return .candidates(
                    property: type.description.index(of: property), ids, added: try listener(listeners.added, type),
                    removed: try listener(listeners.removed, type))
            }
            compiled = try compiled.constant { value throws(Failure) in
                do throws(Failure) { return try property.check(value) } catch {
                    // A field of a nested struct has its own path.
                    let site = error.path.isEmpty ? name : error.path
                    throw Failure(error.code, "the property '\(site)': \(error.message)")
                }
            }
            if property.isInBlock {
                guard let value = compiled.constant else {
                    throw Failure(.type, "the block property '\(name)' cannot hold an object")
                }
                keepInBlock(name, value)
                return nil
            }
            checkKind(compiled, property.kind, "the property '\(name)'")
            checkDefault(compiled, "the property '\(name)'") { value throws(Failure) in try property.check(value) }
            return .property(index: type.description.index(of: property), compiled)
        } catch {
            fail(error.code, error.message)
            return nil
        }
    }

    /// A method that takes one object.
    func listener(_ name: String, _ type: ObjectType) throws(Failure) -> Int {
        let method = try type.description.method(named: name)
        guard method.signature.parameters.count == 1 else {
            throw Failure(
                .arity, "'\(name)' must take one object, to be notified of candidates: \(method.signature.text)")
        }
        return type.description.methods.firstIndex { $0 === method } ?? 0
    }

    mutating func invocations(_ given: [Invocation], _ type: ObjectType) -> [Recipe.Step] {
        var steps: [Recipe.Step] = []
        for invocation in given {
            do throws(Failure) {
                let method = try type.description.method(named: invocation.method)
                let parameters = method.signature.parameters
                let least = parameters.prefix { !$0.isOptional }.count
                guard invocation.arguments.count >= least, invocation.arguments.count <= parameters.count else {
                    throw Failure(
                        .arity, "\(method.signature.text) is called with \(invocation.arguments.count) arguments")
                }
                var sources: [Recipe.Source] = []
                for (parameter, injection) in zip(parameters, invocation.arguments) {
                    let what = "the argument '\(parameter.name)' of '\(invocation.method)'"
                    let before = wrong
                    let signature = method.signature
                    var compiled = source(
                        injection.source, edge(.injection, of: injection), what, .parameter(signature, parameter))
                    if wrong == before {
                        compiled = try compiled.constant { value throws(Failure) in
                            try signature.checked(value, parameter)
                        }
                        checkKind(compiled, parameter.kind, what)
                        checkDefault(compiled, what) { value throws(Failure) in
                            try signature.checked(value, parameter)
                        }
                    }
                    checkType(compiled, parameter.typeName, what)
                    sources.append(compiled)
                }
                let index = type.description.methods.firstIndex { $0 === method } ?? 0
                steps.append(.method(index: index, sources))
            } catch { fail(error.code, error.message) }
        }
        return steps
    }
}
