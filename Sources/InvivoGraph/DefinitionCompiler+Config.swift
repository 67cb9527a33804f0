public import InvivoBase
internal import InvivoConfig

/// Compiles configuration values and strings into constants of the definition.
///
/// The paths of the values are edges of the compiled definition. A changed value therefore updates its dependents in
/// the same way as a changed key.
extension DefinitionCompiler {
    /// The result of a search for a path.
    private struct Found {
        /// The paths that were searched. A value that is added or removed at one of them causes a new search.
        var ids: [UInt32] = []
        var candidates: [String]
        var node: ConfigNode?
    }

    private mutating func find(_ path: String, _ edge: Edge) -> Found {
        var found = Found(candidates: ConfigPath.candidates(path, for: definition))
        for candidate in found.candidates {
            let id = config.intern(candidate)
            found.ids.append(id)
            references.add(id, edge)
            found.node = config.tree.find(candidate)
            if found.node != nil { break }
        }
        return found
    }

    /// A value of the configuration; constant until the configuration changes.
    mutating func setting(
        _ path: String, _ other: Injection.Source?, _ isOptional: Bool, _ edge: Edge, _ site: String,
        _ taker: Taker
    ) -> Recipe.Source {
        guard let found = checkedFind(path, edge, site) else { return .arguments }
        if let node = found.node {
            do throws(Failure) {
                return .config(found.ids, .value(try node.value(for: taker, config.converter)))
            } catch { return failed(error, found, site) }
        }
        if let other {
            let compiled = source(other, edge, "\(site), the default", taker)
            if isSecret(found), let value = compiled.constant {
                // The receiver would show it.
                do throws(Failure) { _ = try taker.checked(value) } catch {
                    let masked = VariableText.secret.masking(error, expected: taker.expected)
                    fail(masked.code, "\(site), the default: \(masked.message)")
                    return .arguments
                }
            }
            return .config(found.ids, compiled)
        }
        if isOptional {
            if let value = taker.valueForNothing { return .config(found.ids, .value(value)) }
            fail(
                .null,
                "\(site) cannot be without a value, and '\(path)' is not configured; give a default: looked for "
                    + list(found.candidates))
            return .arguments
        }
        missing(path, found, site)
        return .arguments
    }

    /// Converts a value of a document for the parameter or property.
    mutating func document(_ node: ConfigNode, _ site: String, _ taker: Taker) -> Recipe.Source {
        do throws(Failure) { return .value(try node.value(for: taker, config.converter)) } catch {
            for one in error.all {
                let at = one.location.line > 0 || !one.location.file.isEmpty ? one.location : node.location
                report(Failure(one.code, "\(site): \(one.message)", path: definition.key, at: at))
            }
            return .arguments
        }
    }

    private mutating func checkedFind(_ path: String, _ edge: Edge, _ site: String) -> Found? {
        let names = ConfigPath.names(ConfigPath.whole(path))
        guard !names.isEmpty, !names.contains("") else {
            fail(.argument, "\(site): '\(path)' is not a configuration path")
            return nil
        }
        return find(path, edge)
    }

    /// Whether a value at one of the candidates is secret, or a part of it. So is the default then.
    private func isSecret(_ found: Found) -> Bool { found.candidates.contains(where: config.secrets.touches) }

    private mutating func missing(_ path: String, _ found: Found, _ site: String) {
        let hint = hint(path, found.candidates)
        let whole = path.hasPrefix("/") ? String(path.dropFirst()) : path
        lack(
            "config.\(whole)", isKey: false, as: .notConfigured,
            "\(site) needs the configuration '\(path)', which is not set: looked for \(list(found.candidates))\(hint)"
        )
    }

    /// The advice for a path at which there is nothing.
    private func hint(_ path: String, _ candidates: [String]) -> String {
        for candidate in candidates {
            if let site = config.placeOfNull(candidate)?.text {
                return "; null removes '\(candidate)'" + (site.isEmpty ? "" : " at \(site)")
            }
        }
        let isAtTop = !path.hasPrefix("/") && config.tree.find(path) != nil
        if isAtTop {
            for candidate in candidates {
                let scope = String(candidate.dropLast(path.count))
                guard path.hasPrefix(scope) else { continue }
                let inner = path.dropFirst(scope.count)
                return
                    "; '\(path)' is there: '\(inner)' is looked for in '\(scope.dropLast())', and '/\(path)' is a whole path"
            }
        }
        for candidate in candidates {
            if let near = config.tree.nearestPath(to: candidate, besides: path) { return suggestion(near) }
        }
        return isAtTop ? "; '/\(path)' is there, in no assembly: ask for it so, or put it under 'global'" : ""
    }

    /// The source location of a constant: of its configuration value, or else of the definition.
    func placeOfValue(_ source: Injection.Source) -> Location {
        node(of: source)?.location ?? definition.location
    }

    /// The configuration value that a constant is.
    func node(of source: Injection.Source) -> ConfigNode? {
        switch source.kind {
        case .config(let path, _, _):
            let candidates = ConfigPath.candidates(path.text, for: definition)
            for candidate in candidates {
                if let node = config.tree.find(candidate) { return node }
            }
            if let value = source.parts.first?.constant, candidates.contains(where: config.secrets.touches) {
                return ConfigNode(.value(value), at: definition.location, variables: .secret)
            }
            return source.parts.first.flatMap(node)
        case .text: return source.parts.first.flatMap(node)
        default: return nil
        }
    }

    private func list(_ candidates: [String]) -> String {
        candidates.map { "'\($0)'" }.joined(separator: ", then ")
    }

    /// Reports a value of a document that does not match, with its source location and the dependent.
    private mutating func failed(_ failure: Failure, _ found: Found, _ site: String) -> Recipe.Source {
        let path = "config.\(found.candidates[found.ids.count - 1])"
        for one in failure.all {
            let at = one.location.line > 0 || !one.location.file.isEmpty ? one.location : definition.location
            let failure = Failure(
                one.code, "\(site) of '\(definition.key)': \(one.message)", path: path, at: at, cause: nil)
            report(failure, value: "\(path)\0\(at.text)\0\(one.message)")
        }
        return .arguments
    }

    /// A callable that returns the value at the time of the call.
    mutating func reader(
        of path: String, _ other: Injection.Source?, _ isOptional: Bool, _ site: String
    ) -> Recipe.Source {
        guard let found = checkedFind(path, .deferred, site) else { return .arguments }
        var otherwise: Value?
        if let other {
            guard let value = other.constant else {
                fail(.argument, "\(site): the default of a provider of configuration is a constant")
                return .arguments
            }
            otherwise = value
        } else if isOptional {
            otherwise = .null
        } else if found.node == nil {
            missing(path, found, site)
        }
        // All candidates, because a later call may find the value at an outer path.
        let ids = found.candidates.map { candidate in
            let id = config.intern(candidate)
            references.add(id, .deferred)
            return id
        }
        return .setting(ConfigSetting(path: path, ids: ids, otherwise: otherwise))
    }

    /// A string, read by the named converter or by that of the receiver.
    mutating func text(
        _ given: Injection.Source, _ name: String?, _ edge: Edge, _ site: String, _ taker: Taker
    ) -> Recipe.Source {
        var ids: [UInt32] = []
        let node: ConfigNode
        var configured: String?
        if let string = given.constantString {
            node = ConfigNode(.string(string), at: definition.location)
        } else if case .config(let name, let isOptional, let kind) = given.kind {
            let path = name.text
            guard let found = checkedFind(path, edge, site) else { return .arguments }
            ids = found.ids
            configured = path
            if let there = found.node {
                node = there
            } else if let string = given.parts.first?.constantString {
                let origin = VariableText.marking(nil, isSecret: isSecret(found))
                node = ConfigNode(.value(.string(string)), at: definition.location, variables: origin)
            } else {
                // There is nothing to read.
                return setting(path, given.parts.first, isOptional, edge, site, taker.orKind(kind))
            }
        } else {
            fail(.argument, "\(site): a converter reads only a string, or one of the configuration")
            return .arguments
        }
        let isPlaces = name == nil
        guard let name = name ?? taker.converter else {
            if taker.kind == .string { return .config(ids, .value(node.value)) }
            fail(.argument, "\(site): no converter is known for this string; name one")
            return .arguments
        }
        guard let converter = config.converter(name) else {
            if isPlaces, taker.kind == .object {
                fail(
                    .type,
                    "\(site): expected an object of '\(name)', got \(node.variables?.described ?? node.value.withKind): no converter is named '\(name)', "
                        + "and an object is given by its key")
                return .arguments
            }
            let known = config.converters().filter { !$0.contains(":") }.sorted()
            let near = suggestion(for: name, among: known)
            fail(
                .notFound,
                "\(site): there is no converter '\(name)'"
                    + (near.isEmpty ? "; there are \(known.listed())" : near) + keyHint(given))
            return .arguments
        }
        do throws(Failure) {
            let property: Property? = if case .property(let property) = taker { property } else { nil }
            let query = TextFormat(kind: taker.kind, property: property, folder: node.folder)
            // A value that is not a string needs no conversion.
            guard let read = try converter.value(of: node, query) else { return .config(ids, .value(node.value)) }
            do throws(Failure) { return .config(ids, .value(try taker.checked(read))) } catch {
                throw node.masked(error, expected: taker.expected)
            }
        } catch {
            let error = taker.masked(error, expected: converter.expected)
            if let configured, !ids.isEmpty {
                return failed(
                    error, Found(ids: ids, candidates: ConfigPath.candidates(configured, for: definition)), site)
            }
            for one in error.all { fail(one.code, "\(site): \(one.message)") }
            return .arguments
        }
    }

    /// Advice for a string whose receiver expects an object, and which is a key.
    private func keyHint(_ given: Injection.Source) -> String {
        guard let text = given.constantString, definitions.definition(of: text) != nil else { return "" }
        return "; '\(text)' is a string here: a manifest says '$\(text)' for the object"
    }

    /// Stores the value in the planned definition, which holds the content of the block.
    mutating func keepInBlock(_ name: String, _ value: Value) {
        definition = definition.with { body in
            guard let index = body.properties.firstIndex(where: { $0.name.isSameName(as: name) }) else { return }
            body.properties[index] = Injection(name: name, .value(value))
        }
    }
}

/// The path that a provider of configuration reads.
public struct ConfigSetting: Sendable {
    public let path: String
    /// The first at which there is something counts.
    public let ids: [UInt32]
    public let otherwise: Value?
}

extension Taker {
    /// The value of a parameter or property without an argument; nil when there is no such value.
    var valueForNothing: Value? {
        switch self {
        case .any, .kind, .parameter: return .null
        case .property(let property):
            switch property.kind {
            case .any, .object, .type, .callable: return .null
            default: return property.initial
            }
        }
    }
}

extension Signature? {
    /// The receiver of an argument.
    func taker(of index: Int) -> Taker {
        guard let signature = self, index < signature.parameters.count else { return .any }
        return .parameter(signature, signature.parameters[index])
    }
}

extension Injection.Source {
    /// The string that this source is; nil for other sources.
    fileprivate var constantString: String? {
        if case .string(let string)? = constant { string } else { nil }
    }
}

extension Recipe.Source {
    /// The value until the next reload; nil for a source that is evaluated when an object is created.
    var constant: Value? {
        switch self {
        case .value(let value): value
        case .config(_, let source): source.constant
        case .object, .all, .argument, .arguments, .path, .list, .set, .map, .deferred, .resolver, .asker, .setting,
            .context:
            nil
        }
    }

    /// The same with its constant checked and converted.
    func constant(_ check: (Value) throws(Failure) -> Value) throws(Failure) -> Recipe.Source {
        switch self {
        case .value(let value): .value(try check(value))
        case .config(let ids, let source): .config(ids, try source.constant(check))
        case .object, .all, .argument, .arguments, .path, .list, .set, .map, .deferred, .resolver, .asker, .setting,
            .context:
            self
        }
    }
}
