import Invivo
import Testing

extension SwiftAPI {
    /// Frequently created graphs, which use a plan from the second time on.
    @Suite struct PlanTests {
        final class Clock: Sendable {}
        final class Wheel { var turns = 0 }
        final class Axle {
            let left: Wheel
            let right: Wheel
            init(left: Wheel, right: Wheel) {
                self.left = left
                self.right = right
            }
        }
        final class Cart {
            let front: Axle
            let wheel: Wheel
            let clock: Clock
            init(front: Axle, wheel: Wheel, clock: Clock) {
                self.front = front
                self.wheel = wheel
                self.clock = clock
            }
        }
        final class Yard: Assembly {
            let clock = lazySingleton(Clock.init)
            var wheel = graph(Wheel.init)
            let axle = graph(Axle.init)
            let cart = graph(Cart.init)
        }

        @Test func aGraphIsMadeAlikeHoweverOftenItIsMade() throws {
            try withRuntime { runtime throws in
                let yard = try runtime.activate(Yard())
                var former: Cart?
                for _ in 1...10 {
                    let cart = try yard.cart()
                    #expect(cart.front.left === cart.front.right && cart.front.left === cart.wheel)
                    #expect(try cart.clock === yard.clock())
                    #expect(former?.wheel !== cart.wheel && former !== cart)
                    former = cart
                }
                // The runtime keeps no objects of a plan, only the clock.
                #expect(try runtime.info.objects == 1)
            }
        }

        @Test func objectsOfAPlanEndWithTheirLastHolder() throws {
            try withRuntime { runtime throws in
                let yard = try runtime.activate(Yard())
                for _ in 1...5 {
                    weak var wheel: Wheel?
                    try {
                        let cart = try yard.cart()
                        wheel = cart.wheel
                        #expect(wheel != nil)
                    }()
                    #expect(wheel == nil)
                }
            }
        }

        @Test func aReloadReplacesObjectsOfAPlan() throws {
            try withRuntime { runtime throws in
                let yard = try runtime.activate(Yard())
                for _ in 1...4 { _ = try yard.cart() }
                let former = try yard.clock()
                try runtime.define("yard.clock") { _ in Clock() }
                #expect(try yard.cart().clock !== former)
                yard.wheel = prototype(Wheel.init)
                try runtime.activate(yard)
                for _ in 1...4 {
                    let cart = try yard.cart()
                    #expect(cart.front.left !== cart.front.right)
                }
                try runtime.overriding(yard.clock, with: former) { () throws in
                    for _ in 1...3 { #expect(try yard.cart().clock === former) }
                }
                #expect(try yard.cart().clock !== former)
            }
        }

        @Test func anInitializerThatUsesTheRuntimeFindsItsGraph() throws {
            final class Nosy {
                nonisolated(unsafe) static var yard: Peeking?
                let wheel: Wheel
                let found: Wheel?
                init(wheel: Wheel) {
                    self.wheel = wheel
                    found = try? Nosy.yard?.wheel()
                }
            }
            final class Peeking: Assembly {
                let wheel = graph(Wheel.init)
                let nosy = graph(Nosy.init)
            }
            try withRuntime { runtime throws in
                let yard = try runtime.activate(Peeking())
                Nosy.yard = yard
                defer { Nosy.yard = nil }
                for _ in 1...5 {
                    let nosy = try yard.nosy()
                    #expect(nosy.found === nosy.wheel)
                }
            }
        }

        @Test func anErrorOfAnInitializerNamesItsDefinition() throws {
            final class Failing {
                nonisolated(unsafe) static var fails = false
                nonisolated(unsafe) static weak var wheel: Wheel?
                init(wheel: Wheel) throws {
                    Failing.wheel = wheel
                    if Failing.fails { throw InvivoError(.system, "no road") }
                }
            }
            final class Broken: Assembly {
                let wheel = graph(Wheel.init)
                let failing = graph(Failing.init)
            }
            try withRuntime { runtime throws in
                let broken = try runtime.activate(Broken())
                for _ in 1...4 { _ = try broken.failing() }
                Failing.fails = true
                let error = failure { _ = try broken.failing() }
                #expect(error.description.contains("no road") && error.description.contains("broken.failing"))
                #expect(Failing.wheel == nil)
            }
        }

        @Test func plansAndReloadsOnSeveralThreadsNeverMix() throws {
            final class Pair: Sendable {
                let left: Half
                let right: Half
                init(left: Half, right: Half) {
                    self.left = left
                    self.right = right
                }
            }
            final class Half: Sendable {
                let clock: Clock
                init(clock: Clock) { self.clock = clock }
            }
            final class Halves: Assembly {
                let clock = lazySingleton(Clock.init)
                let half = prototype(Half.init)
                let pair = prototype(Pair.init)
            }
            let runtime = try Runtime()
            let halves = try runtime.activate(Halves())
            let pairs = halves.pair
            let mixed = Log<Bool>()
            onThreads(3) { index in
                if index == 0 {
                    for _ in 1...200 { _ = try? runtime.define("halves.clock") { _ in Clock() } }
                } else {
                    for _ in 1...2_000 {
                        guard let pair = try? pairs() else {
                            mixed.add(true)
                            continue
                        }
                        if pair.left.clock !== pair.right.clock { mixed.add(true) }
                    }
                }
            }
            #expect(mixed.all.isEmpty)
            try runtime.close()
        }
    }
}
