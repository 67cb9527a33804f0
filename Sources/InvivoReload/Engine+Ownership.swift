public import InvivoBase
public import InvivoWiring

/// User data of definitions, which a call that fails leaves with the host.
extension Engine {
    /// Commits the definitions that one call received. If it fails, the host keeps their user data.
    public func commit(_ set: ChangeSet, given: [Definition]) throws(Failure) {
        try keeping(given) { () throws(Failure) in try commit(set) }
    }

    /// Runs `body`, which commits definitions. If it fails, the host keeps their user data.
    public func keeping<Result>(_ given: [Definition], _ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        let disowners = given.compactMap { $0.body.keepAlive?.disowner }
        do throws(Failure) { return try body() } catch {
            for disown in disowners { disown() }
            throw error
        }
    }
}
