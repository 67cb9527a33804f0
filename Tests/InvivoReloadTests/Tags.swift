import Testing

extension Tag {
    /// Suites in which several threads meet: the sanitizers run them (scripts/tagged).
    @Tag static var concurrent: Self
    /// Suites of code that uses unsafe pointers: the sanitizers run them (scripts/tagged).
    @Tag static var rawMemory: Self
}
