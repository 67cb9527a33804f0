internal import InvivoBase
internal import InvivoConfig
internal import InvivoGraph
internal import InvivoSpec
internal import Synchronization

/// Reads the section of one binding for a plan, and checks its values.
final class SettingsCheck: PlannedCall {
    let binding: SettingsBinding
    private let node: ConfigNode?
    private let section: SettingsBinding.Section
    /// Whether messages of the host about the section are replaced, because they could quote a secret.
    private let hasSecret: Bool
    private let state = Mutex(State())

    private struct State {
        /// The values of the fields, and their struct.
        var values: [Value] = []
        var block: Block?
        var value: SettingsValue?
    }

    /// Called by the thread that plans. Errors quote values if that thread may quote them.
    init(_ binding: SettingsBinding, _ node: ConfigNode?) {
        self.binding = binding
        self.node = node
        var reads = false
        if case .host = binding.form { reads = true }
        hasSecret = !binding.secrets.isEmpty || node?.hasSecret == true
        section = SettingsBinding.Section(reads ? node : nil, isPrivate: hasSecret || !ContentQuoting.isAllowed)
    }

    /// Whether the configuration has the section.
    var hasSection: Bool { node != nil }

    var value: SettingsValue? { state.withLock { $0.value } }

    var function: any Named & AnyObject { binding }
    var subject: String {
        if case .fields = binding.form {
            "the check of the settings '\(binding.name)'"
        } else {
            "the create function of the settings '\(binding.name)'"
        }
    }

    /// Calls the check of the host, or lets the host create the value. Runs on a thread for rules.
    func run() -> PlannedRefusal? {
        let (values, block) = state.withLock { ($0.values, $0.block) }
        // No field has this index.
        var at = Int.max
        do throws(Failure) {
            if let block {
                try binding.check(block, values, at: &at)
            } else {
                let made = try binding.create(section)
                state.withLock { $0.value = made }
            }
            return nil
        } catch { return PlannedRefusal(failure: error, at: values.indices.contains(at) ? at : -1) }
    }

    func refusal(at index: Int, _ cause: Failure) -> Failure {
        guard case .host = binding.form else {
            guard hasSecret else { return refused(at: index, cause) }
            return failure(.host, "refuses the values \(Failure.hiddenMessage)", at: index, cause: nil)
        }
        guard hasSecret, !binding.isDiscreet else { return Failure.gathered(cause.all.map(located)) ?? cause }
        return Failure.gathered(cause.all.map(hidden)) ?? cause
    }

    /// Returns an error of the host without its message. A path that leads to no part of the section is removed, too: it could show a
    /// value.
    private func hidden(_ failure: Failure) -> Failure {
        var named = self.failure(failure.code, "refuses the values \(Failure.hiddenMessage)", at: nil, cause: nil)
        if position(of: failure.path).isPart { named = located(Failure(named.code, named.message, path: failure.path)) }
        return named
    }

    func failure(_ code: Status, _ message: String, at index: Int?, cause: Failure?) -> Failure {
        var path = ""
        if case .fields(let fields, _) = binding.form, let index, fields.properties.indices.contains(index) {
            path = fields.properties[index].name
        }
        return Failure(
            code, "\(subject) \(message)", path: binding.shown(path),
            at: location(of: path), cause: cause)
    }

    // MARK: fields

    /// Reads the fields of a struct. Throws all errors at once.
    func readFields(_ converter: (String) -> TextConverter?) throws(Failure) {
        guard case .fields(let fields, _) = binding.form else { return }
        var failures: [Failure] = []
        var given: [Int: String] = [:]
        var values = fields.properties.enumerated().map { index, field in
            fields.isRequired(index) ? .null : field.initial ?? .null
        }
        if let node, node.map == nil {
            throw node.masked(
                Failure(
                    .type, "the settings '\(binding.name)' are read from a map; got \(node.value.withKind)",
                    path: binding.shown(""), at: node.location), expected: "a map")
        }
        for (name, inner) in node?.map.map(Array.init(_:)) ?? [] as [ConfigMap.Element] {
            guard let index = fields.index(named: name) else {
                failures.append(unknown(name, fields, inner.keyLocation))
                continue
            }
            if let other = given.updateValue(name, forKey: index) {
                failures.append(
                    Failure(
                        .argument, "'\(other)' and '\(name)' are the same field: give one of them",
                        path: binding.shown(name), at: inner.location))
                continue
            }
            do throws(Failure) {
                values[index] = try inner.value(for: Taker.property(fields.properties[index]), converter)
            } catch {
                failures += error.all.map { fault in
                    var failure = fault
                    let rest = fault.path.split(separator: ".").dropFirst().map { "." + $0 }.joined()
                    failure.path = binding.shown(name + rest)
                    return failure
                }
            }
        }
        for (index, field) in fields.properties.enumerated() where fields.isRequired(index) && given[index] == nil {
            failures.append(
                Failure(
                    .notConfigured, "the settings '\(binding.name)' need '\(field.name)', which is not set",
                    path: binding.shown(field.name), at: node?.location ?? Location()))
        }
        if let failure = Failure.gathered(failures) { throw failure }
        let block = try Block(size: fields.size)
        fields.write(values, to: block.bytes)
        let read = values
        state.withLock { state in
            state.values = read
            state.block = block
            state.value = SettingsValue(block)
        }
    }

    private func unknown(_ name: String, _ fields: FieldTable, _ location: Location) -> Failure {
        let near = suggestion(for: name, among: fields.properties.map(\.name))
        let known =
            fields.properties.isEmpty
            ? "; they have none"
            : near.isEmpty ? "; expected " + fields.properties.map(\.name).listed() : near
        return Failure(
            .property, "the settings '\(binding.name)' have no field \(quoted(name))\(known)",
            path: binding.shown(name),
            at: location)
    }

    // MARK: locations

    /// Adds the path and the source location to an error of the host.
    private func located(_ failure: Failure) -> Failure {
        var located = failure
        let part = position(of: failure.path, key: failure.code == .property)
        located.path = binding.shown(part.path)
        if located.location.line == 0 && located.location.file.isEmpty { located.location = part.location }
        return located
    }

    /// The source location of a part of the section. For a missing part, that of the innermost existing part around it.
    private func location(of path: String) -> Location { position(of: path).location }

    /// The path of a part, in which list indices are written as `[0]`, and its source location as in `location(of:)`. `isPart`: the
    /// part exists. `key`: the source location of its key.
    private func position(
        of path: String, key: Bool = false
    ) -> (path: String, location: Location, isPart: Bool) {
        guard var found = node else { return (path, Location(), false) }
        var shown = ""
        var names = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)[...]
        while !names.isEmpty {
            // A name may contain dots.
            guard
                let (next, count) = (1...names.count).reversed().lazy.compactMap({ count in
                    found.inner(names.prefix(count).joined(separator: ".")).map { ($0, count) }
                }).first
            else { break }
            let name = names.prefix(count).joined(separator: ".")
            shown += found.map == nil ? "[\(name)]" : shown.isEmpty ? name : "." + name
            found = next
            names = names.dropFirst(count)
        }
        let rest = names.joined(separator: ".")
        return (
            shown + (shown.isEmpty || rest.isEmpty ? rest : "." + rest),
            key && names.isEmpty ? found.keyLocation : found.location, rest.isEmpty
        )
    }
}
