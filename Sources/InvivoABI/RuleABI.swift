public import CInvivo
internal import InvivoBase
internal import InvivoGraph
internal import InvivoReload

// rule.h: rules.

@c @implementation
public func invivo_changes_add_rule(
    _ changes: invivo_changes, _ rule: UnsafePointer<invivo_rule>!, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in
        let changes = try InvivoABI.changes(changes)
        let given = try GivenRule(rule)
        do throws(Failure) { try changes.add(try given.read()) } catch {
            given.owner.disown()
            throw error
        }
    }
}

@c @implementation
public func invivo_changes_remove_rule(
    _ changes: invivo_changes, _ name: UnsafePointer<CChar>!, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in
        let changes = try InvivoABI.changes(changes)
        changes.removeRule(try text(name, "name"))
    }
}

@c @implementation
public func invivo_rule_add(
    _ runtime: invivo_runtime, _ rule: UnsafePointer<invivo_rule>!, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in
        // From here on the user data is the runtime's, also if this call fails.
        let given = try GivenRule(rule)
        let changes = OpenChanges(try Engine.find(runtime.bits))
        try changes.add(try given.read())
        try changes.engine.commit(changes.set)
    }
}

@c @implementation
public func invivo_rule_remove(
    _ runtime: invivo_runtime, _ name: UnsafePointer<CChar>!, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in
        let changes = OpenChanges(try Engine.find(runtime.bits))
        changes.removeRule(try text(name, "name"))
        try changes.engine.commit(changes.set)
    }
}

extension OpenChanges {
    fileprivate func add(_ rule: Rule) throws(Failure) {
        guard !set.rules(contain: rule.name) else {
            throw Failure(.exists, "the rule '\(rule.name)' is given twice in one change set", path: rule.name)
        }
        set.add(rule)
        note(.rule, rule.name)
    }

    fileprivate func removeRule(_ name: String) {
        set.removeRule(name)
        note(.ruleRemove, name)
    }
}

/// A rule as C describes it, with the owner of its user data.
private struct GivenRule {
    let owner: Factory
    private let given: invivo_rule

    init(_ pointer: UnsafePointer<invivo_rule>?) throws(Failure) {
        guard let pointer else { throw Failure(.argument, "rule is NULL") }
        let least = MemoryLayout<invivo_rule>.offset(of: \.user_data) ?? 8
        given = try versioned(pointer, "rule", least: least, as: invivo_rule.self)
        owner = Factory(nil, userData: given.user_data, destroy: given.destroy)
    }

    func read() throws(Failure) -> Rule {
        let name = try text(given.name, "rule.name")
        guard !name.isEmpty else { throw Failure(.argument, "rule.name is empty") }
        func fail(_ message: String) -> Failure { Failure(.argument, message, path: name) }
        guard let check = given.check else { throw fail("rule.check is NULL") }
        try requireCount(given.inputs, given.input_count, "rule.inputs")
        guard let table = given.inputs, given.input_count > 0 else {
            throw fail("the rule names no input; expected configuration paths, or properties as 'key.property'")
        }
        let inputs = try (0..<Int(given.input_count)).map { index throws(Failure) -> String in
            let input = try text(table[index], "rule.inputs[\(index)]")
            guard
                !(input.rest(after: "/") ?? input).split(separator: ".", omittingEmptySubsequences: false).contains("")
            else {
                throw fail("the input '\(input)' is not a path; expected names with a dot between them: 'audio.rate'")
            }
            return input
        }
        return Rule(name: name, inputs: inputs, check: check, owner: owner)
    }
}
