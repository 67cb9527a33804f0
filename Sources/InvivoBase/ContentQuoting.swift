internal import CPlatform

/// Whether errors that the calling thread creates may quote the text of documents.
public enum ContentQuoting {
    /// The bits of `iv_thread.without_content`.
    private static let (withoutContent, withoutForm, withoutNames): (UInt32, UInt32, UInt32) = (1, 2, 4)

    /// Whether errors may show values.
    public static var isAllowed: Bool { isAllowed(withoutContent) }

    /// Whether errors of the form of documents may show values.
    public static var isAllowedForForm: Bool { isAllowed(withoutContent | withoutForm) }

    /// Whether errors may show keys of documents and names of traits.
    public static var isAllowedForNames: Bool { isAllowed(withoutNames) }

    private static func isAllowed(_ parts: UInt32) -> Bool { currentThread().pointee.without_content & parts == 0 }

    /// Runs `body` with or without quoting of all parts of documents, also of names, on this thread.
    public static func allowedForAll<Result, E: Error>(
        _ isAllowed: Bool, _ body: () throws(E) -> Result
    ) throws(E) -> Result {
        try allowed(isAllowed, withoutContent | withoutNames, body)
    }

    /// Runs `body` with or without quoting in errors of the form of documents, on this thread.
    public static func allowedForForm<Result, E: Error>(
        _ isAllowed: Bool, _ body: () throws(E) -> Result
    ) throws(E) -> Result {
        try allowed(isAllowed, withoutForm, body)
    }

    /// Runs `body` with or without quoting of values, on this thread.
    public static func allowed<Result, E: Error>(_ isAllowed: Bool, _ body: () throws(E) -> Result) throws(E) -> Result
    {
        try allowed(isAllowed, withoutContent, body)
    }

    private static func allowed<Result, E: Error>(
        _ isAllowed: Bool, _ parts: UInt32, _ body: () throws(E) -> Result
    ) throws(E) -> Result {
        let thread = currentThread()
        let former = thread.pointee.without_content
        thread.pointee.without_content = former & ~parts | (isAllowed ? 0 : parts)
        defer { thread.pointee.without_content = former }
        return try body()
    }
}

/// "an object", "a Beat", "a uint8".
public func withArticle(_ name: String) -> String {
    let isVowel = name.first.map { "aeioAEIO".contains($0) } ?? false
    return (isVowel ? "an " : "a ") + name
}
