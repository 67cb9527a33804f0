import CInvivo
import Foundation
import InvivoBase
import Testing

/// Tables that are duplicated in Swift equal those of the headers.
@Suite struct HeaderTables {
    private func rows(_ header: String, _ pattern: String) throws -> [[String]] {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let text = try String(contentsOf: root.appending(path: "include/invivo/\(header)"), encoding: .utf8)
        let expression = try NSRegularExpression(pattern: pattern)
        return expression.matches(in: text, range: NSRange(text.startIndex..., in: text)).map { match in
            (1..<match.numberOfRanges).map { index in
                Range(match.range(at: index), in: text).map { String(text[$0]) } ?? ""
            }
        }
    }

    @Test func status_names_and_texts_are_those_of_the_header() throws {
        let rows = try rows("base.h", #"X\((\w+), (-?\d+), "([^"]*)"\)"#)
        #expect(rows.count == StatusTable.entries.count)
        for row in rows {
            let entry = try #require(Int32(row[1]).flatMap { StatusTable.entry($0) })
            #expect(entry.name.description == "INVIVO_" + row[0])
            #expect(entry.text.description == row[2])
        }
        #expect(StatusTable.entry(1) == nil)
        #expect(StatusTable.entry(Int32(INVIVO_STATUS_LAST) - 1) == nil)
        #expect(StatusTable.entry(.min) == nil)
    }

    @Test func kinds_have_the_numbers_of_the_header() throws {
        let rows = try rows("value.h", #"X\(([A-Z0-9]+), (\d+)\)"#)
        #expect(rows.count == ValueKind.allCases.count)
        for row in rows {
            let kind = try #require(UInt32(row[1]).flatMap { ValueKind(rawValue: $0) })
            #expect(kind.name == row[0].lowercased())
        }
    }
}
