import InvivoBase
import Testing

@Suite struct BinarySearchTests {
    @Test(arguments: 0..<40)
    func itFindsTheFirst(_ count: Int) {
        let numbers = (0..<count).map { $0 * 2 }
        for limit in -1...2 * count + 1 {
            let position = numbers.partitioningIndex { $0 >= limit }
            #expect(position == numbers.firstIndex { $0 >= limit } ?? count)
            // Of a slice, which does not begin at 0.
            let slice = numbers.dropFirst(3)
            #expect(slice.partitioningIndex { $0 >= limit } == slice.firstIndex { $0 >= limit } ?? slice.endIndex)
        }
    }
}
