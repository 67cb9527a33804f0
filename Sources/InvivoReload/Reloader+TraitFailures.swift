internal import InvivoBase

extension Reloader {
    /// Returns the errors of traits in documents that also have errors of their form, as far as they cannot follow from the latter: those of
    /// single values and names.
    func traitFailures(_ staged: Staged?, besides failure: Failure) -> [Failure] {
        guard let staged else { return [] }
        let files = NameSet(staged.documents.map(\.document.name))
        var warnings: [Report.Warning] = []
        do throws(Failure) {
            _ = try withoutFileContent { () throws(Failure) in try planner().plan(staged, &warnings) }
            return []
        } catch {
            let known = failure.all
            return error.all.filter { found in
                files.contains(found.location.file) && found.isOfTraitValue && !known.contains(where: found.isSame(as:))
            }
        }
    }
}

extension Failure {
    /// Whether a trait in a document has a wrong name or value, whatever else the document contains.
    fileprivate var isOfTraitValue: Bool {
        guard path.hasPrefix("traits.") || path.hasPrefix("specs.") else { return false }
        return [.property, .readOnly, .type, .range, .null].contains(code) || finding == .misspelledTrait
    }
}
