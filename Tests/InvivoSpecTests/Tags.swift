import Testing

extension Tag {
    /// Suites of code that uses unsafe pointers: the sanitizers run them (scripts/tagged).
    @Tag static var rawMemory: Self
}
