internal import CPlatform
internal import InvivoBase
public import InvivoGraph

/// The movements in the block of a key, from one generation to the next.
public struct BlockMovement {
    /// The current block, if it has the same type; nil for a new one.
    private let present: Block?
    private let former: TargetLayers?
    private let runs: [Int: RampRun]
    /// The movements in the next generation, by the index of the property.
    public private(set) var next: [Int: RampRun] = [:]

    public init(_ present: Block?, under former: TargetLayers?, _ runs: [Int: RampRun]) {
        self.present = present
        self.former = former
        self.runs = runs
    }

    /// Whether there are movements in the current or the next generation.
    public var isConcerned: Bool { !runs.isEmpty || !next.isEmpty }

    /// Returns the value to show now of a property whose layer has the value `end`.
    mutating func value(of index: Int, _ layer: Layer, _ end: Value, _ property: Property) -> Value {
        guard let ramp = layer.ramp else { return end }
        guard let present else {
            let start = ramp.from.map { $0.completed(from: end) } ?? end
            next[index] = RampRun.between(start, end, over: ramp, of: property)
            return next[index] == nil ? end : start
        }
        let shown = property.read(present.bytes).picked(like: end)
        if former?.shows(layer, index) == true {
            next[index] = runs[index]
        } else {
            next[index] = RampRun.between(shown, end, over: ramp, of: property)
        }
        return next[index] == nil ? end : shown
    }
}
