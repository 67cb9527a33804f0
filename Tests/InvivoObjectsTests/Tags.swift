import Testing

extension Tag {
    /// Suites in which several threads meet: the sanitizers run them (scripts/tagged).
    @Tag static var concurrent: Self
}
