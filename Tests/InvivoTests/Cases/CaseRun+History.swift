import Invivo

/// Statements of files, rollbacks and marks.
extension CaseRun {
    /// Returns whether the statement is one of these.
    func performHistory(_ line: Script.Line, _ words: [Script.Word], _ verb: String) throws -> Bool {
        func name(_ index: Int) throws -> String {
            guard index < words.count else { throw Script.Problem(description: "'\(verb)' has too few words") }
            return words[index].text
        }
        func source() throws -> Source {
            guard let source = sources[try name(1)] else {
                throw Script.Problem(description: "no source is '\(try name(1))'")
            }
            return source
        }
        switch verb {
        case "write":
            let folder = try scratch ?? Scratch()
            scratch = folder
            folder.write(try name(1), line.text)
        case "follow":
            let folder = try scratch ?? Scratch()
            sources[try name(1)] = try runtime().watch("\(folder.path)/\(try name(1))")
        case "refresh":
            if words.contains(where: { $0.text == "retry" }) { try source().retry() } else { try source().refresh() }
        case "unfollow": try source().close()
        case "diverged":
            let diverged = try runtime().sources.filter { $0.divergence != nil }.compactMap {
                $0.name.split(separator: "/").last.map(String.init)
            }
            let expected = words.dropFirst().map(\.text)
            if diverged.sorted() != expected.sorted() { wrong(line, "these have diverged: \(diverged)") }
        case "mark": try runtime().mark(try name(1))
        case "unmark": try runtime().unmark(try name(1))
        case "rollback":
            let isFormer = try name(1) == "former"
            let generation = isFormer ? try runtime().generation - 1 : try runtime().marked(try name(1))
            if let changes { try changes.rollBack(to: generation) } else { try runtime().rollBack(to: generation) }
        case "kept":
            let kept = try runtime().history.count
            if kept != Int(try name(1)) { wrong(line, "\(kept) are kept") }
        default: return false
        }
        return true
    }
}
