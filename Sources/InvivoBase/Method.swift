public import CInvivo

/// A name and its parameters: checks arguments before anything is called.
public struct Signature: Sendable {
    public let name: String
    public let parameters: [Signature.Parameter]
    /// The number of arguments that no caller may leave out.
    public let leastCount: Int

    public init(name: String, parameters: [Signature.Parameter]) {
        self.name = name
        self.parameters = parameters
        leastCount = parameters.prefix { !$0.mayBeLeftOut }.count
    }

    /// "play(note: int32, velocity: double)".
    public var text: String { "\(name)(\(parameters.map(\.text).joined(separator: ", ")))" }

    /// Returns the arguments, converted to the kinds of the parameters. Omitted arguments stay omitted.
    public func check(_ arguments: [Value]) throws(Failure) -> [Value] {
        guard arguments.count >= leastCount, arguments.count <= parameters.count else {
            let missing = arguments.count < leastCount ? ": '\(parameters[arguments.count].name)' is missing" : ""
            throw Failure(.arity, "\(text) takes \(countText), got \(arguments.count)\(missing)")
        }
        var result = arguments
        for (index, argument) in arguments.enumerated() {
            let parameter = parameters[index]
            if parameter.kind == .any || (parameter.kind == argument.kind && parameter.typeName == nil) { continue }
            result[index] = try checked(argument, parameter)
        }
        return result
    }

    /// The arguments in the declared kinds, one for each parameter. Omitted ones have their default, or are null.
    public func completed(_ arguments: [Value]) throws(Failure) -> [Value] {
        let given = try check(arguments)
        return given + parameters[given.count...].map { $0.defaultValue ?? .null }
    }

    /// An error of the host code that received these arguments, without those that are secret.
    func withoutSecrets(_ failure: Failure, _ arguments: [Value]) -> Failure {
        guard parameters.contains(where: \.isSecret) else { return failure }
        return failure.without(secrets: zip(parameters, arguments).flatMap { $0.isSecret ? $1.texts : [] })
    }

    /// Converts one argument to the kind of its parameter.
    public func checked(_ argument: Value, _ parameter: Signature.Parameter) throws(Failure) -> Value {
        if parameter.kind == .any { return argument }
        if argument.isNull {
            if parameter.isOptional { return argument }
            throw wrong(parameter, Failure(.null, "expected \(parameter.kind.inWords), got null"))
        }
        if let wanted = parameter.typeName, case .object(let lease) = argument, let type = lease.type,
            !type.isKind(of: wanted)
        {
            throw wrong(
                parameter, Failure(.type, "an object of type \(type.name) is not \(withArticle(wanted))"))
        }
        do {
            return try argument.converted(to: parameter.kind)
        } catch {
            throw wrong(parameter, parameter.masked(error))
        }
    }

    private func wrong(_ parameter: Signature.Parameter, _ failure: Failure) -> Failure {
        Failure(failure.code, "argument '\(parameter.name)' of \(text): \(failure.message)")
    }

    private var countText: String {
        let most = parameters.count
        let unit = most == 1 ? "argument" : "arguments"
        return leastCount == most ? "\(most) \(unit)" : "\(leastCount) to \(most) \(unit)"
    }
}

extension Signature {
    /// One parameter of a method or constructor.
    public struct Parameter: Sendable {
        public let name: String
        public let kind: ValueKind
        /// May be left out or null.
        public let isOptional: Bool
        /// For objects: the required type.
        public let typeName: String?
        /// Whether errors show none of its values.
        public let isSecret: Bool
        /// The value of an argument that is left out, in the parameter's kind; nil: null.
        public var defaultValue: Value?

        public init(
            name: String, kind: ValueKind, isOptional: Bool, typeName: String?, isSecret: Bool = false,
            defaultValue: Value? = nil
        ) {
            self.name = name
            self.kind = kind
            self.isOptional = isOptional
            self.typeName = typeName
            self.isSecret = isSecret
            self.defaultValue = defaultValue
        }

        /// Reads a parameter of C. Its flags are known ones.
        public init(_ name: String, _ kind: ValueKind, flags: UInt32, typeName: String?) {
            self.init(
                name: name, kind: kind, isOptional: flags & UInt32(INVIVO_PARAMETER_OPTIONAL) != 0, typeName: typeName,
                isSecret: flags & UInt32(INVIVO_PARAMETER_SECRET) != 0)
        }

        /// The flags in C.
        public var flags: UInt32 {
            (isOptional ? UInt32(INVIVO_PARAMETER_OPTIONAL) : 0) | (isSecret ? UInt32(INVIVO_PARAMETER_SECRET) : 0)
        }

        public static let knownFlags = UInt32(INVIVO_PARAMETER_OPTIONAL | INVIVO_PARAMETER_SECRET)

        /// A failure about one of its values, without the value if it is secret.
        public func masked(_ failure: Failure, expected: String? = nil) -> Failure {
            guard isSecret else { return failure }
            let expected = expected ?? typeName.map(withArticle) ?? kind.withArticle
            return VariableText.secret.masking(failure, expected: expected)
        }

        /// Whether a caller may omit the argument.
        public var mayBeLeftOut: Bool { isOptional || defaultValue != nil }

        var text: String {
            "\(name): \(wanted)\(isOptional ? "?" : "")\(defaultValue.map { " = \(isSecret ? VariableText.shownSecret : "\($0)")" } ?? "")"
        }

        /// The type or kind.
        public var wanted: String { typeName ?? kind.name }
    }
}

/// One method of a type. Runs in the object's domain.
public final class Method: Sendable {
    public typealias Call =
        @convention(c) (
            UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, UnsafePointer<invivo_value>?, Int,
            UnsafeMutablePointer<invivo_value>?, UnsafeMutablePointer<OpaquePointer?>?
        ) -> invivo_status

    public let signature: Signature
    public let text: String?
    /// `any` when it varies; `null` for none.
    public let result: ValueKind
    private let function: Call
    private let userData: HostPointer

    public var name: String { signature.name }

    init(_ signature: Signature, text: String?, result: ValueKind, function: Call, userData: HostPointer) {
        self.signature = signature
        self.text = text
        self.result = result
        self.function = function
        self.userData = userData
    }

    /// Checks the arguments, calls the method, and returns the result in its declared kind.
    public func call(_ instance: UnsafeMutableRawPointer, _ arguments: [Value]) throws(Failure) -> Value {
        let arguments = try signature.check(arguments)
        let value: Value
        do throws(Failure) {
            value = try CallbackResult.run("the method '\(name)'") { (result, error) in
                Value.withBorrowed(arguments) { function(instance, userData.raw, $0, $1, result, error) }
            }
        } catch { throw signature.withoutSecrets(error, arguments) }
        if result == .null { return .null }
        if value.isNull { return value }
        do {
            return try value.converted(to: result)
        } catch {
            throw Failure(error.code, "the method '\(name)' returned a value of another kind: \(error.message)")
        }
    }
}

extension TableReader {
    mutating func parameters(
        _ pointer: UnsafePointer<invivo_parameter>?, _ count: UInt64, path: String
    ) -> (parameters: [Signature.Parameter], copies: UnsafePointer<invivo_parameter>?) {
        var result: [Signature.Parameter] = []
        var copies: [invivo_parameter] = []
        for (index, entry) in elements(pointer, count, "parameters", path: path).enumerated() {
            guard let name = name(entry.name, "the name of parameter \(index)", path: path),
                let kind = kind(entry.kind, "parameter '\(name)': the kind", path: path)
            else { continue }
            if kind == .null { problem(path, "parameter '\(name)' cannot be of the kind null") }
            if entry.flags & ~Signature.Parameter.knownFlags != 0 {
                problem(path, "parameter '\(name)': the flags \(entry.flags) contain unknown ones")
            }
            let typeName = optional(entry.type_name, "the type of parameter '\(name)'", path: path)
            let parameter = Signature.Parameter(name, kind, flags: entry.flags, typeName: typeName)
            if !parameter.isOptional, let last = result.last, last.isOptional {
                problem(path, "parameter '\(name)' is required, but follows the optional '\(last.name)'")
            }
            if typeName != nil, kind != .object {
                problem(path, "parameter '\(name)' names a type, but is not an object")
            }
            result.append(parameter)
            copies.append(
                invivo_parameter(
                    name: store.string(name), kind: entry.kind, flags: entry.flags, type_name: store.string(typeName)))
        }
        requireDistinct(result.map(\.name), path: path) { "two parameters are named '\($0)'" }
        return (result, store.table(copies))
    }

    /// The methods of a table, and the copy of the table that C may read while the type lives.
    mutating func methods(
        _ pointer: UnsafePointer<invivo_method>?, _ count: UInt64, path typePath: String
    ) -> (methods: [Method], copies: UnsafePointer<invivo_method>?) {
        let least = MemoryLayout<invivo_method>.offset(of: \.user_data) ?? 0
        var result: [Method] = []
        var copies: [invivo_method] = []
        for (index, entry) in versionedElements(pointer, count, least: least, "methods", path: typePath).enumerated() {
            guard let name = name(entry.name, "the name of method \(index)", path: typePath) else { continue }
            let path = "\(typePath).\(name)"
            let (parameters, cParameters) = parameters(entry.parameters, entry.parameter_count, path: path)
            let text = optional(entry.text, "the text", path: path)
            guard let kind = kind(entry.result, "the kind of the result", path: path) else { continue }
            guard let function = entry.call else {
                problem(path, "the method has no call function")
                continue
            }
            var copy = entry
            copy.struct_size = MemoryLayout<invivo_method>.size
            copy.name = store.string(name)
            copy.text = store.string(text)
            copy.parameters = cParameters
            copy.parameter_count = UInt64(parameters.count)
            let signature = Signature(name: name, parameters: parameters)
            copies.append(copy)
            result.append(
                Method(
                    signature, text: text, result: kind, function: function, userData: HostPointer(entry.user_data)))
        }
        requireDistinct(result.map(\.name), path: typePath) { "two methods are named '\($0)'" }
        return (result, store.table(copies))
    }
}
