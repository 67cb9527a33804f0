internal import CPlatform
internal import Glibc
internal import InvivoObjects

/// The part of a cell that readers see. Its third word holds the `Cell`'s state: being built (and by which chain of builds) or
/// built (and in which time), and the number of attempts. There may be a million cells, so this has no spare storage.
extension UnsafeMutablePointer<iv_cell> {
    enum Form { case shared, confined, making }
    enum Stage: UInt64 { case cold = 0, built = 1, building = 2 }

    /// The lower bits of the third word hold the stage; the address of a build or a time in the middle, tries in the upper 16.
    private static var middle: UInt64 { 0xffff_ffff_fffc }
    private static var mostAttempts: Int { 0xffff }

    /// Ended by `deallocate`.
    static func make(_ form: Form) -> UnsafeMutablePointer<iv_cell> {
        func zeroed<Raw>(_ type: Raw.Type) -> UnsafeMutablePointer<iv_cell> {
            let memory = UnsafeMutablePointer<Raw>.allocate(capacity: 1)
            memset(memory, 0, MemoryLayout<Raw>.size)
            return UnsafeMutableRawPointer(memory).assumingMemoryBound(to: iv_cell.self)
        }
        switch form {
        case .shared: return zeroed(iv_cell.self)
        case .confined: return zeroed(iv_confined_cell.self)
        case .making:
            let cell = zeroed(iv_making_cell.self)
            iv_cell_start_making(cell)
            return cell
        }
    }

    /// The cell as one that creates a new object each time.
    var making: UnsafeMutablePointer<iv_making_cell>? {
        iv_word_making_cell(iv_load_u64(iv_cell_object(self)), self)
    }

    /// The cell as one whose object belongs to a domain.
    var confined: UnsafeMutablePointer<iv_confined_cell>? {
        iv_word_confined_cell(iv_load_u64(iv_cell_object(self)), self)
    }

    // MARK: under the monitor

    var isBuilt: Bool { pointee.made & 3 == Stage.built.rawValue }
    var isBuilding: Bool { pointee.made & 3 == Stage.building.rawValue }

    /// The chain of builds that creates its object, retained here; only in the stage `building`. Addresses of a process have no more than 48 bits.
    var maker: Unmanaged<BuildChain> {
        Unmanaged.fromOpaque(UnsafeRawPointer(bitPattern: UInt(pointee.made & Self.middle)).unsafelyUnwrapped)
    }

    /// The time of the build, once it is complete.
    var buildTime: UInt64 { (pointee.made & Self.middle) >> 2 }

    func become(_ stage: Stage, _ word: UInt64) {
        pointee.made = pointee.made & ~(Self.middle | 3) | word & Self.middle | stage.rawValue
    }

    /// The word of the stage `built`. Times of 19 hours and more are stored as 19 hours.
    func word(of time: UInt64) -> UInt64 { Swift.min(time, Self.middle >> 2) << 2 }

    var attempt: Int {
        get { Int(pointee.made >> 48) }
        nonmutating set {
            pointee.made = pointee.made & (Self.middle | 3) | UInt64(Swift.min(newValue, Self.mostAttempts)) << 48
        }
    }
}
