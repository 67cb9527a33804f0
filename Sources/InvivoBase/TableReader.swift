internal import CInvivo

/// Reads the tables of a type's description and collects all their errors.
struct TableReader {
    var problems: [Failure] = []
    /// The storage for C copies of names and tables.
    let store: CStrings

    /// More entries than this in one table are a mistake, not a table.
    static let longest: UInt64 = 1 << 16

    mutating func problem(_ path: String, _ message: String, _ code: Status = .argument) {
        problems.append(Failure(code, message, path: path))
    }

    /// The elements of a table of plain structs.
    mutating func elements<Element>(
        _ pointer: UnsafePointer<Element>?, _ count: UInt64, _ what: String, path: String
    ) -> [Element] {
        guard let pointer = checked(pointer, count, what, path: path) else { return [] }
        return Array(UnsafeBufferPointer(start: pointer, count: Int(count)))
    }

    /// The elements of a table of structs that begin with their `struct_size`, which is also the table's stride.
    mutating func versionedElements<Element: SizedStruct>(
        _ pointer: UnsafePointer<Element>?, _ count: UInt64, least: Int, _ what: String, path: String
    ) -> [Element] {
        do throws(Failure) { try requireCount(pointer, count, "the table of \(what)") } catch {
            problems.append(error.under(path))
            return []
        }
        guard let pointer = checked(pointer, count, what, path: path) else { return [] }
        let raw = UnsafeRawPointer(pointer)
        let stride = raw.loadUnaligned(as: Int.self)
        var result: [Element] = []
        for index in 0..<Int(count) {
            do throws(Failure) {
                let location = raw + index * stride
                let element = try versioned(location, "entry \(index) of the \(what)", least: least, as: Element.self)
                guard location.loadUnaligned(as: Int.self) == stride else {
                    problem(path, "entry \(index) of the \(what) has another struct_size than entry 0")
                    break
                }
                result.append(element)
            } catch {
                problems.append(error.under(path))
                break
            }
        }
        return result
    }

    private mutating func checked<Element>(
        _ pointer: UnsafePointer<Element>?, _ count: UInt64, _ what: String, path: String
    ) -> UnsafePointer<Element>? {
        do throws(Failure) {
            guard try isTable(pointer, count, "the table of \(what)") else { return nil }
        } catch {
            problems.append(error.under(path))
            return nil
        }
        guard let pointer else { return nil }
        guard count <= Self.longest else {
            problem(path, "\(count) \(what) are more than the \(Self.longest) there can be", .tooLarge)
            return nil
        }
        return pointer
    }

    /// A name that must be there and be readable.
    mutating func name(_ pointer: UnsafePointer<CChar>?, _ what: String, path: String) -> String? {
        guard let text = optional(pointer, what, path: path) else {
            if pointer == nil { problem(path, "\(what) is NULL") }
            return nil
        }
        guard !text.isEmpty else {
            problem(path, "\(what) is empty")
            return nil
        }
        return text
    }

    /// A text that may be NULL.
    mutating func optional(_ pointer: UnsafePointer<CChar>?, _ what: String, path: String) -> String? {
        do throws(Failure) {
            return try optionalText(pointer, what)
        } catch {
            problems.append(error.under(path))
            return nil
        }
    }

    /// Names given as a table of C strings.
    mutating func names(
        _ pointer: UnsafePointer<UnsafePointer<CChar>?>?, _ count: UInt64, _ what: String, path: String
    ) -> [String] {
        elements(pointer, count, what, path: path).enumerated().compactMap { index, entry in
            name(entry, "entry \(index) of the \(what)", path: path)
        }
    }

    mutating func kind(_ number: invivo_kind, _ what: String, path: String) -> ValueKind? {
        guard let kind = ValueKind(rawValue: number) else {
            problem(path, "\(what) \(number) is not the number of a kind")
            return nil
        }
        return kind
    }

    /// Reports names that come twice.
    mutating func requireDistinct(_ names: [String], path: String, _ message: (String) -> String) {
        var seen = NameSet()
        var reported = NameSet()
        for name in names where !seen.insert(name).inserted && reported.insert(name).inserted {
            problem(path, message(name))
        }
    }
}

/// Whether a table of C has entries.
public func isTable<Entry>(_ pointer: UnsafePointer<Entry>?, _ count: UInt64, _ what: @autoclosure () -> String)
    throws(Failure) -> Bool
{
    guard pointer != nil || count == 0 else { throw Failure(.argument, "\(what()) is NULL, and its count is \(count)") }
    return count > 0
}

/// Refuses a table of sized structs whose count was forgotten, because its entries would be ignored silently. Other
/// tables may be empty without being NULL, such as those that a program fills in a loop.
public func requireCount<Entry>(_ pointer: UnsafePointer<Entry>?, _ count: UInt64, _ what: @autoclosure () -> String)
    throws(Failure)
{
    guard pointer == nil || count > 0 else {
        throw Failure(.argument, "\(what()) is given, and its count is 0: set the count, or leave both at zero")
    }
}
