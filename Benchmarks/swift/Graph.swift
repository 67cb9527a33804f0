import Invivo

/// Ten classes in a graph; `H` and `I` are shared by two.
final class J { var value = 1 }
final class I { let j: J; init(j: J) { self.j = j } }
final class H { let j: J; init(j: J) { self.j = j } }
final class G { let i: I; init(i: I) { self.i = i } }
final class F { let i: I; init(i: I) { self.i = i } }
final class E { let h: H; init(h: H) { self.h = h } }
final class D { let h: H; init(h: H) { self.h = h } }
final class C {
    let f: F
    let g: G
    init(f: F, g: G) {
        self.f = f
        self.g = g
    }
}
final class B {
    let d: D
    let e: E
    init(d: D, e: E) {
        self.d = d
        self.e = e
    }
}
final class A {
    let b: B
    let c: C
    init(b: B, c: C) {
        self.b = b
        self.c = c
    }
}

final class Ten: Assembly {
    let a = graph(A.init)
    let b = graph(B.init)
    let c = graph(C.init)
    let d = graph(D.init)
    let e = graph(E.init)
    let f = graph(F.init)
    let g = graph(G.init)
    let h = graph(H.init)
    let i = graph(I.init)
    let j = graph(J.init)
}

@inline(never) func tenByHand() -> A {
    let j = J()
    let h = H(j: j)
    let i = I(j: j)
    return A(b: B(d: D(h: h), e: E(h: h)), c: C(f: F(i: i), g: G(i: i)))
}

extension Benchmark {
    /// Ten objects of a graph, created and released.
    static func graphs(_ rounds: Int, _ count: Int) throws {
        let runtime = try Runtime()
        let ten = try runtime.activate(Ten())
        let hand = measure(rounds: rounds, count: count) { keep(tenByHand().b.d.h.j.value) }
        let each = try measure(rounds: rounds, count: count) { keep(try ten.a().b.d.h.j.value) }
        row("swift.graph10", each, "ns", floor: ("by hand", hand), budget: "<= 3 x by hand", within: each <= 3 * hand)
        try runtime.close()
    }
}
