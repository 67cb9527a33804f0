import Invivo

private struct Layered {
    var amount: Int64 = 0
    var plus: Int64 = 0
}
private struct Added { var by: Int64 = 1 }

/// Statements of trait types.
extension CaseRun {
    /// Adds one of the trait types that all runners know.
    func addTrait(_ changes: ChangeSet, _ words: [Script.Word]) throws {
        func labelled(_ label: String) -> String? { words.first { $0.label == label }?.text }
        let (world, name, kind) = (world, words[1].text, words[2].text)
        let times = labelled("times").flatMap { Int64($0) } ?? 1
        let target = labelled("for") ?? "Thing"
        switch kind {
        case "layers":
            try changes.addTrait(
                TraitType(name, Layered()) {
                    $0.target(target)
                    $0.required("amount", \.amount, in: 0...100)
                    $0.field("plus", \.plus)
                    $0.check { fields in
                        try world.event("check(\(name))")
                        if fields.plus > fields.amount { throw TraitRefusal("plus is above amount", field: "plus") }
                    }
                    $0.layers { fields, layers in
                        try layers.scale("number", by: Double(fields.amount * times))
                        try layers.offset("number", by: Double(fields.plus))
                    }
                })
        case "code":
            try changes.addTrait(
                TraitType(name, Added()) {
                    $0.target(target)
                    $0.field("by", \.by)
                    $0.apply(to: Object.self) { object, fields in
                        let added = fields.by * times
                        try world.event("apply(\(name))")
                        try object.set("number", try object.get("number", as: Int64.self) + added)
                        return { object in
                            try world.event("revert(\(name))")
                            try object.set("number", try object.get("number", as: Int64.self) - added)
                        }
                    }
                })
        case "sets":
            try changes.addTrait(
                TraitType(name) {
                    $0.target(target)
                    $0.apply { object, _ in
                        try world.event("apply(\(name))")
                        try object.set("number", 100 * times)
                        try world.event("applied(\(name))")
                    }
                })
        default: throw Script.Problem(description: "'\(kind)' is no kind of a trait type")
        }
    }
}
