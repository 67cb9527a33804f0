import Testing

@testable import InvivoBase

struct PersistentVectorTests {
    @Test func copiesKeepTheirElements() {
        var random = SystemRandomNumberGenerator()
        var vector = PersistentVector<Int>()
        var model: [Int] = []
        var kept: [(PersistentVector<Int>, [Int])] = []
        for step in 0..<20_000 {
            if model.isEmpty || Int.random(in: 0..<3, using: &random) > 0 {
                vector.append(step)
                model.append(step)
            } else {
                let index = Int.random(in: 0..<model.count, using: &random)
                vector[index] = -step
                model[index] = -step
            }
            if step % 1_500 == 0 { kept.append((vector, model)) }
        }
        kept.append((vector, model))
        for (vector, model) in kept {
            #expect(vector.count == model.count)
            #expect(vector.indices.map { vector[$0] } == model)
        }
    }

    @Test func changesShareTheOtherLeaves() {
        var vector = PersistentVector<Int>()
        vector.grow(to: 10_000, with: 7)
        let former = vector
        vector[5_000] = 8
        func leaves(_ vector: PersistentVector<Int>) -> [UnsafePointer<Int>?] {
            vector.pages.joined().map { leaf in leaf.withUnsafeBufferPointer { $0.baseAddress } }
        }
        #expect(leaves(vector).count == 157)
        #expect(zip(leaves(vector), leaves(former)).filter { $0 == $1 }.count == 156)
        #expect(former[5_000] == 7 && vector[5_000] == 8)
    }
}
