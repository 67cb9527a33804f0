import Invivo

/// Setups of the types that have one: the steps are the strings in the property `any`.
extension Thing {
    static let steps = ["effect", "child", "make", "observe"]

    func setUp(_ setup: Setup) throws {
        try says("setup")
        world.keep(setup)
        forgetChildren()
        guard case .list(let steps) = any else { return }
        for case .string(let step) in steps { try perform(step.split(separator: " ").map(String.init), setup) }
    }

    /// A step: "effect a", "child a.tent x", "make Tent", "observe a".
    private func perform(_ words: [String], _ setup: Setup) throws {
        let (world, name) = (world, words[1])
        switch words[0] {
        case "effect": try world.effect(name, setup)
        case "observe": try world.runtime().observe { _ in try world.event("reloaded(\(name))") }
        case "child" where words.count > 2: adopt(try setup.child(name, as: Thing.self, words[2]))
        case "child": adopt(try setup.child(name, as: Thing.self))
        default:
            guard let kind = ThingKind.named(name) else { throw InvivoError(.type, name) }
            adopt(try kind.child(setup))
        }
    }
}

extension World {
    func effect(_ name: String, _ setup: Setup) throws {
        try event("effect(\(name))")
        try setup.effect { try self.event("undo(\(name))") }
    }
}

extension Parts {
    /// A step of a setup as a string.
    static func step(_ word: Script.Word) throws -> InvivoValue {
        guard Thing.steps.contains(word.text), let items = word.items, !items.isEmpty else {
            throw Script.Problem(description: "a setup has no step '\(word.text)' of \(word.items?.count ?? 0) words")
        }
        return .string(([word.text] + items.map(\.text)).joined(separator: " "))
    }
}
