internal import InvivoBase

/// Collects and checks the runtime arguments that a definition declares.
struct SignatureBuilder {
    enum Problem {
        /// The default is not a valid value of the parameter.
        case defaultValue(Failure)
        /// A required parameter follows an optional one.
        case order
        case repeatedName
    }

    private let key: String
    private var parameters: [Signature.Parameter] = []

    init(_ key: String) { self.key = key }

    var signature: Signature { Signature(name: key, parameters: parameters) }

    /// Appends a parameter and returns its problems, after which a reader may go on.
    mutating func add(_ parameter: Signature.Parameter, default value: Value?) -> [Problem] {
        var parameter = parameter
        var problems: [Problem] = []
        if let value, !value.isNull {
            do throws(Failure) {
                parameter.defaultValue = try Signature(name: key, parameters: [parameter]).checked(value, parameter)
            } catch { problems.append(.defaultValue(error)) }
        }
        if !parameter.mayBeLeftOut, parameters.last?.mayBeLeftOut == true { problems.append(.order) }
        if parameters.contains(where: { $0.name.isSameName(as: parameter.name) }) { problems.append(.repeatedName) }
        parameters.append(parameter)
        return problems
    }

    static func orderMessage(_ name: String) -> String {
        "the parameter '\(name)' is required, but follows an optional one"
    }
}
