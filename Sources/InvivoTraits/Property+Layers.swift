public import InvivoBase

extension TypeDescription {
    /// Returns a property that layers may change.
    func tunableProperty(_ name: String) throws(Failure) -> (property: Property, formerName: Bool) {
        let found = try property(named: name)
        try requireLayers(on: found.property)
        return found
    }

    /// Whether layers may change a property.
    public func allowsLayers(on property: Property) -> Bool {
        do throws(Failure) { try requireLayers(on: property) } catch { return false }
        return true
    }

    private func requireLayers(on property: Property) throws(Failure) {
        guard !property.isReadOnly else {
            throw Failure(.readOnly, "\(name).\(property.name) cannot be set: it is read only")
        }
        guard property.isTunable else {
            throw Failure(
                .readOnly,
                "\(name).\(property.name) is not tunable: its type does not describe it as one that documents can set")
        }
        try checkTunable(property)
    }
}

extension Property {
    /// Whether Scale and Offset may change it: it is a number, or a struct, or its kind is unknown.
    public var hasNumbers: Bool {
        isNested || kind == .any || kind.isNumber && !isEnumeration && !isPackedColor
    }

    /// Whether it is a color as one number, 0xRRGGBBAA. Its parts move, and not the number.
    var isPackedColor: Bool { codec == .color && kind.isInteger }

    /// Whether Ramp may move it: its numbers, or the parts of its color, can change while the object lives.
    public var canMove: Bool { (hasNumbers || isPackedColor) && !takesRestart }

    /// Throws unless it has numbers. `trait` is the subject of the message.
    func requireNumbers(_ trait: String) throws(Failure) {
        guard hasNumbers else {
            throw Failure(.type, "\(trait) changes numbers, and '\(name)' is \(described); use Set", path: name)
        }
    }

    /// "a choice", "a color", "a string": what it is, for errors about relative layers.
    var described: String { isEnumeration ? "a choice" : isPackedColor ? "a color" : kind.withArticle }

    /// Throws unless it can move.
    func requireMoving() throws(Failure) {
        if !isPackedColor { try requireNumbers("Ramp") }
        guard canMove else {
            throw Failure(
                .type, "'\(name)' takes effect when the object is next created, so it cannot move: use Set", path: name)
        }
    }

    /// Throws if a value of a property of any kind is no number, to which or from which a Ramp could move.
    func requireMoving(to value: Value) throws(Failure) {
        guard kind == .any, !value.kind.isNumber, !value.isNull else { return }
        let shown = value.kind == .object ? "an object" : value.kind.withArticle
        throw Failure(.type, "Ramp changes numbers, and a value of '\(name)' is \(shown); use Set", path: name)
    }

    /// Checks the amount of a layer that a trait type declares.
    func checkAmount(_ operation: DeclaredLayer.Operation, _ amount: Value) throws(Failure) -> Value {
        guard operation != .set else { return try check(amount) }
        try requireNumbers(operation == .scale ? "a scale" : "an offset")
        guard !isNested else {
            throw Failure(.type, "'\(name)' is a struct: set it, or use a trait in the spec file", path: name)
        }
        guard case .double(let number) = amount, number.isFinite else {
            throw Failure(.range, "expected a finite number, got \(amount)", path: name)
        }
        return amount
    }
}
