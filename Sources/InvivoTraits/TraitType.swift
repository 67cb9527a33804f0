public import CInvivo
internal import CPlatform
public import InvivoBase
public import InvivoGraph
public import InvivoSpec

/// A trait type of the host (`invivo_trait`). Immutable; the user data is destroyed with the last reference to it.
public final class TraitType: Sendable {
    public typealias Check =
        @convention(c) (
            UnsafeRawPointer?, UnsafePointer<invivo_value>?, Int, UnsafeMutablePointer<Int>?, UnsafeMutableRawPointer?,
            UnsafeMutablePointer<OpaquePointer?>?
        ) -> invivo_status
    public typealias Layers =
        @convention(c) (
            UnsafeRawPointer?, UnsafePointer<invivo_value>?, Int, OpaquePointer?, UnsafeMutableRawPointer?,
            UnsafeMutablePointer<OpaquePointer?>?
        ) -> invivo_status
    public typealias Apply =
        @convention(c) (
            invivo_object, UnsafeMutableRawPointer?, UnsafeRawPointer?, UnsafePointer<invivo_value>?, Int,
            UnsafeMutablePointer<invivo_reversal>?, UnsafeMutableRawPointer?, UnsafeMutablePointer<OpaquePointer?>?
        ) -> invivo_status

    /// A trait type either declares layers or runs code.
    public enum Action: Sendable {
        case layers(Layers)
        case apply(Apply)

        fileprivate var runsCode: Bool { if case .apply = self { true } else { false } }
    }

    public let name: String
    public let text: String?
    public let targets: TraitTargets
    public let fields: FieldTable
    private let check: Check?
    public let action: Action
    /// Holds the host's data.
    private let owner: Factory

    public init(
        name: String, text: String?, targets: [String], fields: FieldTable, check: Check?, action: Action,
        owner: Factory
    ) {
        self.name = name
        self.text = text
        self.targets = TraitTargets(names: targets, runsCode: action.runsCode)
        self.fields = fields
        self.check = check
        self.action = action
        self.owner = owner
    }

    /// Leaves the ownership of the user data with the host, because the call that received the type fails.
    public func disown() { owner.disown() }

    public var runsCode: Bool { action.runsCode }
    /// Whether a plan calls the host for its traits.
    public var isPlannedByHost: Bool { check != nil || !runsCode }

    // MARK: parameters

    /// Whether a parameter of a trait is secret.
    public func hasSecret(_ spec: TraitSpec) -> Bool { origin(of: spec)?.isSecret == true }

    /// The origin of the parameters of a trait, as messages show it: the first secret, or else the first one with variables or the content
    /// of a file. Nil if messages may show all of them.
    func origin(of spec: TraitSpec) -> VariableText? {
        let origins = spec.parameters.compactMap { parameter in
            let variables = parameter.value.anyVariables
            return fields.index(named: parameter.key).map { fields.properties[$0].origin(variables) } ?? variables
        }
        return origins.first(where: \.isSecret) ?? origins.first
    }

    /// Returns the values of all fields; null for a field without one. Throws all errors at once.
    func values(_ spec: TraitSpec) throws(Failure) -> [Value] {
        var values = fields.properties.enumerated().map { index, field in
            fields.isRequired(index) ? .null : field.initial ?? .null
        }
        var given: [Int: String] = [:]
        var failures: [Failure] = []
        for parameter in spec.parameters {
            guard let index = fields.index(named: parameter.key) else {
                let near = suggestion(for: parameter.key, among: fields.properties.map(\.name))
                let known =
                    fields.properties.isEmpty
                    ? "; it has none"
                    : near.isEmpty ? "; expected " + fields.properties.map(\.name).listed() : near
                failures.append(
                    Failure(
                        .property, "the trait '\(name)' has no field \(quotedName(parameter.key))\(known)",
                        path: spec.path(of: [parameter.key]), at: parameter.keyLocation))
                continue
            }
            if let other = given.updateValue(parameter.key, forKey: index) {
                failures.append(
                    Failure(
                        .argument, "'\(other)' and '\(parameter.key)' are the same field: give one of them",
                        path: spec.path(of: [parameter.key]), at: parameter.keyLocation))
                continue
            }
            let field = fields.properties[index]
            var found: [Failure] = []
            if let wanted = Value.validParts(of: parameter.value, for: field, &found) {
                do throws(Failure) { values[index] = try field.check(wanted) } catch { found += error.all }
            }
            failures += found.map { spec.located(parameter.value.masked($0, for: field), parameter) }
        }
        for (index, field) in fields.properties.enumerated() where fields.isRequired(index) && given[index] == nil {
            failures.append(
                Failure(
                    .spec, "the field '\(field.name)' of the trait '\(name)' is missing", path: spec.parametersPath,
                    at: spec.typeLocation))
        }
        if let failure = Failure.gathered(failures) { throw failure }
        return values
    }

    // MARK: calls

    /// Calls `body` with the struct of the fields and copies of the values.
    func withFields<Result>(
        _ values: [Value], _ body: (UnsafeRawPointer?, UnsafePointer<invivo_value>?, Int) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var copies = values.map { $0.owned() }
        defer { for index in copies.indices { Value.free(&copies[index]) } }
        let block = fields.size > 0 ? try Block(size: fields.size) : nil
        if let block { fields.write(values, to: block.bytes) }
        let result = try copies.withUnsafeBufferPointer { (copies) throws(Failure) in
            try body(block.map { UnsafeRawPointer($0.bytes) }, copies.baseAddress, copies.count)
        }
        withExtendedLifetime(block) {}
        return result
    }

    /// A refusal of fields.
    public struct Refusal: Error, Sendable {
        public let failure: Failure
        /// The field at fault.
        public let at: Int?
        /// The name of the host function.
        public let function: String
    }

    /// Checks the fields and returns the declared layers: none for a trait that runs code. On a thread for rules.
    public func declare(_ values: [Value]) throws(Refusal) -> [LayerDeclaration] {
        let data = owner.userData
        if let check {
            // No field has this index.
            var at = Int.max
            do throws(Failure) {
                try withFields(values) { (fields, values, count) throws(Failure) in
                    try CallbackResult.run("the check") { check(fields, values, count, &at, data, $0) }
                }
            } catch {
                throw Refusal(failure: error, at: values.indices.contains(at) ? at : nil, function: "check")
            }
        }
        guard case .layers(let layers) = action else { return [] }
        let declared = LayerDeclarations()
        do throws(Failure) {
            try withFields(values) { (fields, values, count) throws(Failure) in
                try declared.collecting { (pointer) throws(Failure) in
                    try CallbackResult.run("the layers function") { layers(fields, values, count, pointer, data, $0) }
                }
            }
        } catch { throw Refusal(failure: error, at: nil, function: "layers") }
        return declared.all
    }

    /// The outcome of an application.
    struct Applied {
        /// After a failure, it has the changes that could not be reversed; nil if there are none.
        var reversal: Reversal?
        var failure: Failure?
        /// Why changes of an application that has failed could not be reversed.
        var remainder: Failure?
    }

    /// Changes an object, in its domain.
    func apply(_ values: [Value], _ object: UInt64, _ instance: UnsafeMutableRawPointer) -> Applied {
        guard case .apply(let apply) = action else {
            return Applied(failure: Failure(.internalFault, "the trait runs no code"))
        }
        let data = owner.userData
        var given = invivo_reversal()
        given.struct_size = MemoryLayout<invivo_reversal>.size
        let recorder = SetRecorder()
        var applied = Applied()
        do throws(Failure) {
            try recorder.recording { () throws(Failure) in
                try withFields(values) { (fields, values, count) throws(Failure) in
                    try CallbackResult.run("the apply function") {
                        apply(invivo_object(bits: object), instance, fields, values, count, &given, data, $0)
                    }
                }
            }
        } catch { applied.failure = error }
        let reversal = Reversal(given, recorder)
        guard applied.failure != nil else {
            // The reversal of the host restores what the trait has set.
            if given.revert != nil { recorder.forget() }
            applied.reversal = reversal
            return applied
        }
        do throws(Failure) { try reversal.runAfterFailure(object, instance) } catch {
            applied.remainder = error
            if reversal.isPending { applied.reversal = reversal }
        }
        return applied
    }
}
