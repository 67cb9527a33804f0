import Invivo
import Testing

private struct Format: Hashable, Sendable {
    var width = 0
    var height = 0
}
private struct Opaque: Sendable {
    var number = 0
}
private protocol Ink: Sendable {}
private final class RedInk: Ink {}
private struct BlueInk: Ink, Hashable {
    var depth = 0
}

private final class Sheet: Sendable {
    let size: Format
    init(_ size: Format) { self.size = size }
}

private final class PrintShop: Assembly {
    let page = lazySingleton { (_, size: Format) in Sheet(size) }
    let inked = lazySingleton { (_, _: any Ink) in Sheet(Format()) }
    let weak = weakSingleton { (_, size: Format?) in Sheet(size ?? Format()) }
    let opaque = lazySingleton { (_, _: Opaque) in Sheet(Format()) }
    let placed = prototype { (_, _: Opaque) in Sheet(Format()) }.inScope("sheet")
    let loose = prototype { (_, opaque: Opaque) in Sheet(Format(width: opaque.number)) }
}

extension SwiftAPI {
    @Suite struct ArgumentTests {
        private func withPress(_ body: (Runtime, PrintShop) throws -> Void) throws {
            try withRuntime { runtime throws in
                try runtime.scope("sheet") { 1 }
                try body(runtime, try runtime.activate(PrintShop()))
            }
        }

        @Test func equalValuesAreOneArgument() throws {
            try withPress { _, press in
                let page = try press.page(Format(width: 2, height: 3))
                #expect(page.size == Format(width: 2, height: 3))
                #expect(try press.page(Format(width: 2, height: 3)) === page)
                #expect(try press.page(Format(width: 3, height: 2)) !== page)
                let weak = try press.weak(Format(width: 1))
                #expect(try press.weak(Format(width: 1)) === weak)
                let none = try press.weak(nil)
                #expect(try press.weak(nil) === none && none !== weak)
            }
        }

        @Test func askingAgainWithAnEqualValueKeepsNothing() throws {
            try withPress { runtime, press in
                let page = try press.page(Format(width: 7))
                let objects = try runtime.info.objects
                for _ in 0..<200 {
                    let again = try press.page(Format(width: 7))
                    #expect(again === page)
                }
                #expect(try runtime.info.objects == objects)
            }
        }

        @Test func valuesBehindAProtocolAreDistinguishedByType() throws {
            try withPress { _, press in
                let red = RedInk()
                let page = try press.inked(red)
                #expect(try press.inked(red) === page)
                #expect(try press.inked(RedInk()) !== page)
                let blue = try press.inked(BlueInk(depth: 1))
                #expect(try press.inked(BlueInk(depth: 1)) === blue)
                #expect(try press.inked(BlueInk(depth: 2)) !== blue)
            }
        }

        @Test func incomparableArgumentsAreRefusedForSharedObjects() throws {
            try withPress { _, press in
                let error = failure { _ = try press.opaque(Opaque()) }
                #expect(error.code == .type)
                #expect(
                    error.message
                        == "'print_shop.opaque' keeps one object for each of its runtime arguments, and values of the type Opaque cannot be "
                        + "compared; make it Hashable, InvivoConvertible or a class, or the definition a prototype")
                #expect(failure { _ = try press.placed(Opaque()) }.code == .type)
                let loose = try press.loose(Opaque(number: 4))
                #expect(loose.size.width == 4)
            }
        }

        @Test func equalValuesOfSeveralThreadsAreOneArgument() throws {
            try withPress { _, press in
                let page = press.page
                for round in 0..<20 {
                    let pages = Locked<[Sheet]>([])
                    onThreads(8) { _ in
                        guard let made = try? page(Format(width: round)) else { return }
                        pages.withLock { $0.append(made) }
                    }
                    let made = pages.withLock { $0 }
                    #expect(made.count == 8)
                    #expect(made.allSatisfy { $0 === made[0] })
                }
            }
        }
    }
}
