/// The state of an object, or of a key without one (INVIVO_STATE_...).
public enum LifeState: UInt32, Sendable {
    case cold = 0
    case building = 1
    case made = 2
    case prepared = 3
    case starting = 4
    case started = 5
    case stopping = 6
    case stopped = 7
    case failed = 8
    case dormant = 9

    public var name: String { "\(self)" }
}
