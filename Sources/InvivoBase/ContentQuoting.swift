internal import CPlatform

/// Whether errors that the calling thread creates may quote the text of documents.
public enum ContentQuoting {
    public static var isAllowed: Bool { currentThread().pointee.without_content & withoutContent == 0 }

    /// Whether errors of the form of documents may do so.
    public static var isAllowedForForm: Bool {
        currentThread().pointee.without_content & (withoutContent | withoutForm) == 0
    }

    /// Whether errors may show keys of documents and names of traits.
    public static var isAllowedForNames: Bool { currentThread().pointee.without_content & withoutNames == 0 }

    private static let (withoutContent, withoutForm, withoutNames): (UInt32, UInt32, UInt32) = (1, 2, 4)

    /// Runs `body` with or without quoting of all parts of documents, also of names, on this thread.
    public static func allowedForAll<Result, E: Error>(
        _ isAllowed: Bool, _ body: () throws(E) -> Result
    ) throws(E) -> Result {
        let thread = currentThread()
        let former = thread.pointee.without_content
        let none = withoutContent | withoutNames
        thread.pointee.without_content = former & ~none | (isAllowed ? 0 : none)
        defer { thread.pointee.without_content = former }
        return try body()
    }

    /// Runs `body` with or without quoting in errors of the form of documents, on this thread.
    public static func allowedForForm<Result, E: Error>(
        _ isAllowed: Bool, _ body: () throws(E) -> Result
    ) throws(E) -> Result {
        let thread = currentThread()
        let former = thread.pointee.without_content
        thread.pointee.without_content = former & ~withoutForm | (isAllowed ? 0 : withoutForm)
        defer { thread.pointee.without_content = former }
        return try body()
    }

    /// Runs `body` with or without quoting, on this thread.
    public static func allowed<Result, E: Error>(_ isAllowed: Bool, _ body: () throws(E) -> Result) throws(E) -> Result
    {
        let thread = currentThread()
        let former = thread.pointee.without_content
        thread.pointee.without_content = former & ~withoutContent | (isAllowed ? 0 : withoutContent)
        defer { thread.pointee.without_content = former }
        return try body()
    }
}

/// "an object", "a Beat", "a uint8".
public func withArticle(_ name: String) -> String {
    let isVowel = name.first.map { "aeioAEIO".contains($0) } ?? false
    return (isVowel ? "an " : "a ") + name
}
