import InvivoBase
import Testing

@Suite struct NearestNameTests {
    @Test func a_swap_of_neighbors_counts_one() {
        // Two substitutions are too many for a name of two letters.
        #expect(nearestName(to: "ba", among: ["ab"]) == "ab")
        // The swap is nearer than an earlier name with two edits.
        #expect(nearestName(to: "laed", among: ["laxx", "lead"]) == "lead")
    }

    @Test func the_first_of_equally_near_names_is_taken_and_far_ones_are_not() {
        #expect(nearestName(to: "gain", among: ["gaim", "gaix"]) == "gaim")
        #expect(nearestName(to: "gain", among: ["cutoff", "wave"]) == nil)
        #expect(nearestName(to: "x.y", among: ["a.b"]) == nil)
        #expect(nearestName(to: "x.y", among: ["a.b", "x.z"]) == "x.z")
        #expect(nearestName(to: "", among: ["gain"]) == nil)
        #expect(suggestion(for: "gian", among: ["gain"]) == "; did you mean 'gain'?")
    }

    @Test func a_search_compares_a_limited_number_of_names() {
        var given = 0
        func names(_ of: String) -> some Sequence<String> {
            (0..<1_000_000).lazy.map { index in
                given = index
                return "\(of)\(index + 1_000_000)"
            }
        }
        #expect(nearestName(to: "other0000000", among: names("wrong")) == nil)
        #expect(given == 10_000)
        #expect(nearestName(to: "gain", among: (0..<20_000).map { "long\($0)" } + ["gian"]) == "gian")
    }

    @Test func distances_above_the_limit_are_none() {
        var spelling = EditDistance()
        func distance(_ a: String, _ b: String, _ limit: Int) -> Int? {
            spelling.distance(Array(a.utf8)[...], Array(b.utf8)[...], limit: limit)
        }
        #expect(distance("kitten", "sitting", 3) == 3)
        #expect(distance("kitten", "sitting", 2) == nil)
        #expect(distance("abcd", "badc", 2) == 2)
        #expect(distance("ab", "ba", 1) == 1)
        #expect(distance("", "ab", 2) == 2)
        #expect(distance("same", "same", 0) == 0)
        #expect(distance("same", "sane", 0) == nil)
        #expect(distance("xyab", "xyba", 1) == 1)
    }

    @Test func the_case_of_letters_does_not_count() {
        var spelling = EditDistance()
        func distance(_ a: String, _ b: String, _ limit: Int) -> Int? {
            spelling.distance(Array(a.utf8)[...], Array(b.utf8)[...], limit: limit)
        }
        #expect(distance("GAIN", "gain", 0) == 0)
        #expect(distance("GIAN", "gain", 1) == 1)
        #expect(nearestName(to: "BA", among: ["ab"]) == "ab")
    }
}
