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
        #expect(suggestion(for: "gian", among: ["gain"]) == ", did you mean 'gain'?")
    }
}
