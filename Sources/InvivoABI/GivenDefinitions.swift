internal import InvivoBase
internal import InvivoGraph
internal import InvivoReload

/// User data of definitions, whose ownership a failing call leaves with the host.
enum GivenDefinitions {
    /// Runs `body`, which commits definitions. If it fails, the host keeps their user data.
    static func keeping<Result>(_ given: [Definition], _ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        let disowners = given.compactMap { $0.body.keepAlive?.disowner }
        do throws(Failure) { return try body() } catch {
            for disown in disowners { disown() }
            throw error
        }
    }
}
