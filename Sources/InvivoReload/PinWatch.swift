internal import CPlatform
internal import InvivoBase
internal import InvivoLoop
internal import InvivoWiring

/// Logs pins that are open for long, and lets generations end whose last pin has ended. Any thread may call.
public final class PinWatch: Sendable {
    private let container: Container
    private let loop: LoopThread
    private let announcer: Announcer
    /// The number of the planned look. Earlier ones, by the timers of a former age, do nothing.
    private let planned = Guarded<UInt64>(0, by: Monitor())

    init(_ container: Container, _ loop: LoopThread, _ announcer: Announcer) {
        (self.container, self.loop, self.announcer) = (container, loop, announcer)
    }

    private var maxAge: UInt64 { container.options.current.pinMaxAge }

    /// Whether a look at the pins of a runtime is planned.
    static func needsLoop(of container: Container) -> Bool { iv_load_u64(iv_core_pins_watched(container.core)) != 0 }

    /// A pin has begun while no look at the pins was planned: plans one.
    public func start() { look(after: maxAge) }

    /// The age at which pins are logged has changed: the planned look may be too late.
    func ageChanged() {
        guard
            iv_load_u64(iv_core_pins_watched(container.core)) != 0
                || Pins.open(container.core, tag: container.tag).contains(where: { !$0.isReported })
        else { return }
        look(after: 0, instead: true)
    }

    /// Looks at the pins later, on the loop thread. Pins that begin meanwhile are found by that look.
    /// `instead` replaces a planned look.
    private func look(after delay: UInt64, instead: Bool = false) {
        guard instead || maxAge != .max, !container.monitor.locked({ container.isClosing }) else { return }
        let number = planned.locked { number -> UInt64? in
            var none: UInt64 = 0
            // Several threads may begin the first pins.
            guard iv_cas_u64(iv_core_pins_watched(container.core), &none, 1) || instead else { return nil }
            number += 1
            return number
        }
        guard let number else { return }
        do throws(Failure) {
            _ = try loop.start().schedule(after: delay / 1_000_000 + 1) { [weak self] in self?.look(number) }
        } catch {
            _ = begin(number)
            announcer.noteThreadFailure(error)
        }
    }

    /// Begins a look. A pin that begins from here on and is not seen plans the next one. Returns false if another look replaces it.
    private func begin(_ number: UInt64) -> Bool {
        planned.locked { planned in
            guard planned == number else { return false }
            iv_store_u64(iv_core_pins_watched(container.core), 0)
            return true
        }
    }

    private func look(_ number: UInt64) {
        guard begin(number) else { return }
        let (now, maxAge) = (iv_coarse_ns(), maxAge)
        guard maxAge != .max else { return }
        for pin in Pins.open(
            container.core, tag: container.tag, before: now > maxAge ? now - maxAge : 0, onlyNew: true)
        {
            container.log(.warning, Self.text(of: pin, "is open for \((now - pin.since) / 1_000_000_000) s"))
        }
        guard let oldest = Pins.open(container.core, tag: container.tag).first(where: { !$0.isReported })
        else {
            return
        }
        look(after: oldest.since + maxAge > now ? oldest.since + maxAge - now : 0)
    }

    /// For close: ends all pins, and logs them.
    func end() {
        let open = Pins.endAll(container.core)
        for pin in open.prefix(Self.mostLogged) {
            container.log(.warning, Self.text(of: pin, "was open when the runtime was closed"))
        }
        guard open.count > Self.mostLogged else { return }
        container.log(.warning, "\(open.count - Self.mostLogged) more pins were open when the runtime was closed")
    }

    private static let mostLogged = 8

    private static func text(of pin: Pins.Open, _ what: String) -> String {
        let place = pin.place.isEmpty ? "" : "\(pin.place): "
        return
            "\(place)the pin of generation \(pin.generation) that thread \(pin.thread) began \(what): end each pin when "
            + "its request or job is done"
    }
}
