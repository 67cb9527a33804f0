extension Failure {
    /// The failure without its message, which could show a secret: `what` names the host code that refused something.
    public static func ofSecret(
        _ code: Status, _ what: String, path: String = "", at location: Location = Location()
    ) -> Failure {
        Failure(code, "\(what) \(hiddenMessage)", path: path, at: location)
    }

    /// Stands for the message of host code that received a secret.
    public static let hiddenMessage = "(its message is not shown, because it could quote a hidden value)"

    /// The failure of host code that received secrets, without their texts. The whole message is dropped if a secret is too short
    /// to be told from other text.
    public func without(secrets: [String]) -> Failure {
        guard !secrets.isEmpty else { return self }
        var clean = self
        let shortest = secrets.map(\.utf8.count).min() ?? 0
        clean.message =
            shortest < Self.leastShownSecret
            ? "it failed \(Self.hiddenMessage)"
            : Self.hiding(secrets, in: message)
        clean.path = shortest < Self.leastShownSecret || Self.hiding(secrets, in: path) != path ? "" : path
        clean.cause = cause.map { $0.without(secrets: secrets) }
        clean.others = others.map { $0.without(secrets: secrets) }
        return clean
    }

    private static let leastShownSecret = 4

    /// A text with these secrets replaced.
    private static func hiding(_ secrets: [String], in text: String) -> String {
        let found = secrets.map { Array($0.utf8) }.sorted { $0.count > $1.count }
        var rest = Array(text.utf8)[...]
        var clean: [UInt8] = []
        while let first = rest.first {
            if let secret = found.first(where: { rest.starts(with: $0) }) {
                clean += VariableText.shownSecret.utf8
                rest = rest.dropFirst(secret.count)
            } else {
                clean.append(first)
                rest = rest.dropFirst()
            }
        }
        return String(decoding: clean, as: UTF8.self)
    }
}
