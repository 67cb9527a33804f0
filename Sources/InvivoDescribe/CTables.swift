public import InvivoBase
internal import InvivoConfig

/// Checks a table of C structs and returns it; nil for an empty one.
public func entries<Entry>(
    _ pointer: UnsafePointer<Entry>?, _ count: UInt64, _ what: @autoclosure () -> String, _ key: String?,
    longest: UInt64 = 65_535
) throws(Failure) -> UnsafePointer<Entry>? {
    do throws(Failure) {
        guard try isTable(pointer, count, what()) else { return nil }
        guard count <= longest else { throw Failure(.argument, "\(what()) has \(count) entries, more than \(longest)") }
    } catch {
        guard let key else { throw error }
        throw error.under(key)
    }
    return pointer
}

/// Reads a table of configuration paths.
public func secretPaths(
    _ pointer: UnsafePointer<UnsafePointer<CChar>?>?, _ count: UInt64, _ what: String
) throws(Failure) -> [String] {
    guard let table = try entries(pointer, count, what, nil) else { return [] }
    return try (0..<Int(count)).map { index throws(Failure) in
        try ConfigPath.checked(try text(table[index], "\(what)[\(index)]"))
    }
}

/// Refuses flags that this version does not know.
public func requireKnown(_ flags: UInt32, _ known: Int, _ what: String, _ family: String) throws(Failure) {
    guard flags & ~UInt32(known) == 0 else {
        throw Failure(.argument, "\(what) is \(flags); expected \(family), of which the sum is \(known)")
    }
}

/// Converts a limit in milliseconds. Returns nil for 0, the default, and the greatest number for no limit.
public func nanoseconds(_ milliseconds: UInt32) -> UInt64? {
    switch milliseconds {
    case 0: nil
    case .max: .max
    default: UInt64(milliseconds) * 1_000_000
    }
}
