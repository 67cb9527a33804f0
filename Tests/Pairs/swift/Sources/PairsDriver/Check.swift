import Glibc
import Invivo

/// Counts checks and prints failures.
struct Check {
    let component: String
    var held = 0
    var failed = 0

    init(_ component: String) { self.component = component }

    /// The result of the driver: the number of successful checks, or minus the number of failed ones.
    var outcome: Int32 { Int32(failed > 0 ? -failed : held) }

    mutating func holds(_ condition: Bool, _ what: @autoclosure () -> String, line: UInt = #line) {
        guard !condition else { return held += 1 }
        failed += 1
        let text = "pair Swift->\(component): driver, line \(line): does not hold: \(what())\n"
        _ = text.withCString { write(STDERR_FILENO, $0, text.utf8.count) }
    }

    mutating func equal(_ got: InvivoValue, _ wanted: InvivoValue, _ what: String, line: UInt = #line) {
        holds(same(got, wanted), "\(what): got \(got.kind) \(got), wanted \(wanted.kind) \(wanted)", line: line)
    }

    /// Runs code that must succeed.
    mutating func succeeds(_ what: String, line: UInt = #line, _ body: (inout Check) throws -> Void) {
        do { try body(&self) } catch { holds(false, "\(what): \(error)", line: line) }
    }

    /// Runs code that must fail, with this code and a message.
    mutating func refused(_ code: InvivoError.Code, _ what: String, line: UInt = #line, _ body: () throws -> Void) {
        do {
            try body()
            holds(false, "\(what) was accepted", line: line)
        } catch let error as InvivoError {
            holds(
                error.code == code && !error.message.isEmpty, "\(what): \(error.code) for \(code): \(error)", line: line
            )
        } catch { holds(false, "\(what): \(error)", line: line) }
    }
}

/// Equal content; an undeclared integer may have another width.
private func same(_ a: InvivoValue, _ b: InvivoValue) -> Bool {
    switch (a, b) {
    case (.list(let a), .list(let b)): return a.count == b.count && zip(a, b).allSatisfy(same)
    case (.map(let a), .map(let b)):
        return a.count == b.count && a.allSatisfy { name, value in b[name].map { same(value, $0) } ?? false }
    case (.double(let a), .double(let b)): return a.bitPattern == b.bitPattern
    case (.float(let a), .float(let b)): return a.bitPattern == b.bitPattern
    default:
        if a == b { return true }
        guard isInteger(a), isInteger(b) else { return false }
        if let a = try? a.get(Int64.self), let b = try? b.get(Int64.self) { return a == b }
        if let a = try? a.get(UInt64.self), let b = try? b.get(UInt64.self) { return a == b }
        return false
    }
}

private func isInteger(_ value: InvivoValue) -> Bool { (2...9).contains(value.kind.rawValue) }
