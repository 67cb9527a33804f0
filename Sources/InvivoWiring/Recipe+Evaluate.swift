internal import CPlatform
public import InvivoBase
public import InvivoGraph

/// Parts of the evaluation that need no build.
extension Recipe {
    /// A step with the name under which its object remembers the injected value.
    struct NamedStep {
        let step: Step
        let name: String
    }

    func named(_ index: Int, in steps: [Step], _ list: String) -> NamedStep {
        Recipe.NamedStep(step: steps[index], name: name(of: index, in: steps, list))
    }

    /// Fails if this definition cannot inject into objects of a type.
    func checkKind(of object: ObjectType) throws(Failure) {
        guard let wanted = type, object.description.isKind(of: wanted.name) else {
            throw Failure(
                .type, "'\(key)' injects into a '\(type?.name ?? "?")', the object is a '\(object.name)'",
                path: key, at: definition.location)
        }
    }

    /// The number of first steps, the needs of the type, to skip for an object: all if the object has another
    /// definition, or received its needs when it was created; otherwise none.
    func skippedNeeds(of record: Record, again: Bool = false) -> Int {
        guard needCount > 0 else { return 0 }
        guard record.pointee.key == 0 || record.pointee.key == id &+ 1 else { return needCount }
        return !again && takesForeignObjects && ObjectExtra.of(record).hasNeeds ? needCount : 0
    }

    /// Throws unless its objects can be children: others may have objects that are shared.
    public func requireChild(_ key: String) throws(Failure) {
        guard scope != .prototype else { return }
        throw Failure(
            .argument,
            "a child belongs to one owner, and '\(key)' has the scope \(scope.name): define a prototype, or resolve it",
            path: key, at: definition.location)
    }

    /// Checks runtime arguments for this definition, converts them, and adds defaults.
    func checked(_ arguments: [Value]) throws(Failure) -> [Value] {
        guard let parameters = definition.body.parameters else {
            guard arguments.isEmpty else {
                throw Failure(
                    .arity,
                    "'\(key)' declares no runtime arguments, got \(arguments.count); declare them (parameters)",
                    path: key, at: definition.location)
            }
            return []
        }
        do throws(Failure) {
            return try parameters.completed(arguments)
        } catch {
            throw Failure(error.code, error.message, path: key, at: definition.location)
        }
    }

    /// The property at a path of an object, as "theme.name" of settings.
    func follow(_ path: [String], from start: Value, isOptional: Bool) throws(Failure) -> Value {
        var value = start
        for (index, name) in path.enumerated() {
            if value.isNull && isOptional { return .null }
            if let found = value[name] {
                value = found
                continue
            }
            guard case .object(let lease) = value, let record = ObjectTable.record(lease.bits),
                let instance = record.pointee.instance
            else {
                let whole = path[...index].joined(separator: ".")
                throw Failure(
                    .null, "'\(whole)' cannot be read: \(value.withKind) has no properties", path: key,
                    at: definition.location)
            }
            let type = ObjectType.of(record)
            try checkReadable(type)
            do throws(Failure) {
                value = try type.description.property(named: name).property.get(instance)
            } catch {
                let whole = path[...index].joined(separator: ".")
                throw Failure(
                    error.code, "'\(whole)' cannot be read: \(error.message)", path: key,
                    at: definition.location, cause: error.cause.first)
            }
        }
        return value
    }

    private func checkReadable(_ type: ObjectType) throws(Failure) {
        guard let domain = type.domain, !domain.isCurrent else { return }
        throw Failure(
            .domain,
            "an object of the confined type '\(type.name)' belongs to the domain '\(domain.name)' and cannot be read on this thread",
            path: key, at: definition.location)
    }
}

extension Value {
    /// The values without repetitions.
    static func distinct(_ values: [Value]) -> [Value] {
        var distinct: [Value] = []
        for value in values where !distinct.contains(where: { $0.isSame(as: value) }) { distinct.append(value) }
        return distinct
    }
}

extension ObjectType {
    /// The property of this type in an object of a definition of this type. The object's own type may be a subtype with
    /// functions of its own, where a factory or a method returned it.
    func property(_ index: Int, for record: Record) -> Property {
        let declared = description.properties[index]
        guard record.pointee.type != raw else { return declared }
        return (try? ObjectType.of(record).description.property(named: declared.name).property) ?? declared
    }

    /// The same for a method.
    func method(_ index: Int, for record: Record) -> Method {
        let declared = description.methods[index]
        guard record.pointee.type != raw else { return declared }
        return (try? ObjectType.of(record).description.method(named: declared.name)) ?? declared
    }
}
