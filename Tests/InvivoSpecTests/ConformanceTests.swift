import Glibc
import InvivoBase
import InvivoSpec
import Testing

/// Runs JSONTestSuite and yaml-test-suite, and compares the outcomes with Tests/Soak/conformance.txt. `scripts/soak conformance
/// DIR` sets INVIVO_CONFORMANCE to DIR and INVIVO_CONFORMANCE_FILE to the file.
@Suite(.enabled(if: getenv("INVIVO_CONFORMANCE") != nil)) struct ConformanceTests {
    enum Outcome: String {
        case accepted
        case refused
        /// Accepted with another value than the suite states.
        case different
    }

    struct Result {
        let name: String
        /// Nil where the suite leaves it open.
        let expected: Outcome?
        let found: Outcome
        let message: String
    }

    @Test func outcomesAreTheKnownOnes() throws {
        let root = String(cString: getenv("INVIVO_CONFORMANCE"))
        let results =
            try json(root + "/JSONTestSuite/test_parsing") + yamlFolders(root + "/yaml-test-suite").map(yamlResult)
        let known = try known(String(cString: getenv("INVIVO_CONFORMANCE_FILE")))
        var seen: Set<String> = []
        for result in results {
            seen.insert(result.name)
            let expected = known[result.name] ?? result.expected ?? result.found
            if result.found != expected {
                Issue.record("\(result.name): \(result.found), not \(expected): \(result.message)")
            } else if known[result.name] == result.expected, result.expected != nil {
                Issue.record("\(result.name) is as the suite states: remove it from the file")
            }
        }
        for name in known.keys where !seen.contains(name) { Issue.record("\(name) is not in the suites") }
        for suite in ["json", "yaml"] {
            let own = results.filter { $0.name.hasPrefix(suite) && $0.expected != nil }
            let good = own.filter { $0.expected == $0.found }
            print("conformance: \(suite): \(good.count) of \(own.count) as the suite states")
            print("conformance: \(suite): \(own.filter { $0.found == .different }.count) accepted with another value")
        }
        if getenv("INVIVO_CONFORMANCE_ALL") != nil {
            for result in results where result.found != result.expected {
                print("\(result.name) \(result.found) | \(result.message)")
            }
        }
    }

    /// The names with the outcomes that differ from the suites.
    private func known(_ path: String) throws -> [String: Outcome] {
        var known: [String: Outcome] = [:]
        for line in String(decoding: try bytes(path), as: UTF8.self).split(separator: "\n") where !line.hasPrefix("#") {
            let words = line.split(separator: " ")
            if words.count >= 2, let outcome = Outcome(rawValue: String(words[1])) { known[String(words[0])] = outcome }
        }
        return known
    }

    // MARK: the suites

    private func json(_ folder: String) throws -> [Result] {
        try entries(folder).filter { $0.hasSuffix(".json") }.map { name in
            let expected: Outcome? = name.hasPrefix("y_") ? .accepted : name.hasPrefix("n_") ? .refused : nil
            let bytes = try bytes("\(folder)/\(name)")
            let found = failure { () throws(Failure) in try SpecReader.read(bytes, file: name, format: .json) }
            return Result(
                name: "json/\(name)", expected: expected, found: found == nil ? .accepted : .refused,
                message: found?.text ?? "")
        }
    }

    /// The folders with a test, relative to the suite's.
    private func yamlFolders(_ root: String) throws -> [(root: String, name: String)] {
        var found: [(root: String, name: String)] = []
        for name in try entries(root) where name.utf8.count == 4 && name != "meta" && name != "name" && name != "tags" {
            if has("\(root)/\(name)/in.yaml") { found.append((root, name)) }
            for part in try entries("\(root)/\(name)") where has("\(root)/\(name)/\(part)/in.yaml") {
                found.append((root, "\(name)/\(part)"))
            }
        }
        return found
    }

    private func yamlResult(_ test: (root: String, name: String)) throws -> Result {
        let folder = "\(test.root)/\(test.name)"
        let expected: Outcome = has("\(folder)/error") ? .refused : .accepted
        let text = try bytes("\(folder)/in.yaml")
        var outcome = Outcome.accepted
        var message = ""
        do throws(Failure) {
            let node = try SpecReader.read(text, file: "in.yaml", format: .yaml).root
            if expected == .accepted, has("\(folder)/in.json"), let wanted = try? bytes("\(folder)/in.json"),
                let json = try? SpecReader.read(wanted, file: "in.json", format: .json).root, !isSame(node, json)
            {
                outcome = .different
                message = "\(Bare(node)), not \(Bare(json))"
            }
        } catch {
            outcome = .refused
            message = error.text
        }
        return Result(name: "yaml/\(test.name)", expected: expected, found: outcome, message: message)
    }

    private func isSame(_ one: SpecNode, _ other: SpecNode) -> Bool {
        switch (one.content, other.content) {
        case (.list(let one), .list(let other)): one.count == other.count && zip(one, other).allSatisfy(isSame)
        case (.map(let one), .map(let other)):
            one.count == other.count
                && one.allSatisfy { entry in other.contains { $0.key == entry.key && isSame($0.value, entry.value) } }
        case (.integer(let one), .number(let other)): Double(one) == other
        case (.number(let one), .integer(let other)): one == Double(other)
        default: Bare(one) == Bare(other)
        }
    }

    // MARK: files

    private func has(_ path: String) -> Bool { access(path, F_OK) == 0 }

    private func entries(_ path: String) throws -> [String] {
        guard let folder = opendir(path) else { throw Failure(.file, "\(path) is no folder") }
        defer { closedir(folder) }
        var found: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if !name.hasPrefix(".") { found.append(name) }
        }
        return found.sorted()
    }

    private func bytes(_ path: String) throws -> [UInt8] {
        guard let file = fopen(path, "r") else { throw Failure(.file, "\(path) cannot be read") }
        defer { fclose(file) }
        var found: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = fread(&part, 1, part.count, file)
            guard count > 0 else { return found }
            found += part[..<count]
        }
    }
}
