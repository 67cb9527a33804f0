import InvivoBase
import InvivoConfig
import Testing

@Suite struct ResemblingTests {
    /// `count` values `audio.v...` of the same length, which differ from each other in few letters.
    private func tree(_ count: Int) -> ConfigTree {
        let values = (0..<count).map { index in ("v\(String(index + 1_000_000).dropFirst())", Value.int64(1)) }
        return ConfigTree(root: ConfigNode(.map([("audio", .map(values)), ("video", .map([("volume", .int64(1))]))])))
    }

    private func found(_ path: String, _ tree: ConfigTree, budget: Int = 200_000) -> (paths: [String], spent: Int) {
        var search = ConfigTree.Resembling(budget: budget)
        search.find(path, in: tree)
        return (search.entries.map(\.path), budget - search.budget)
    }

    @Test func entries_that_differ_in_two_letters_are_found() {
        #expect(found("audio.xx00007", tree(10)).paths == ["audio", "audio.v000007"])
        #expect(found("auido.v00007", tree(10)).paths == ["audio", "audio.v000007"])
        #expect(found("viedo.voluem", tree(10)).paths == ["video", "video.volume"])
        #expect(found("video.brightness", tree(10)).paths == [])
        #expect(found("viedo.vuloem", tree(10)).paths == [])
    }

    /// Entries of the same length that are spelled otherwise are not examined further, and each comparison is counted.
    @Test func the_search_ends_when_its_budget_is_spent() {
        let large = tree(20_000)
        let (paths, spent) = found("audio.w999xyz", large)
        #expect(paths == [] && spent >= 20_000 * 9 && spent < 20_000 * 9 + 50)
        #expect(found("audio.v019999", large, budget: 1_000_000).paths.contains("audio.v019999"))
        let limited = found("audio.v0199xx", large, budget: 900)
        #expect(limited.paths == [] && limited.spent < 920)
    }

    @Test func the_nearest_path_is_found_near_the_innermost_enclosing_entry() {
        #expect(tree(10).nearestPath(to: "audio.v00007") == "audio.v000007")
        #expect(tree(10).nearestPath(to: "viedo.volume") == "video.volume")
        #expect(tree(10).nearestPath(to: "video.volume.left") == nil)
        #expect(tree(10).nearestPath(to: "vidoe") == "video")
        #expect(tree(10).nearestPath(to: "vidoe", besides: "video") == nil)
        #expect(ConfigTree().nearestPath(to: "video") == nil)
        // Below 'video' first, although 'audio' has more entries than one search visits.
        #expect(tree(20_000).nearestPath(to: "video.volum") == "video.volume")
        #expect(tree(20_000).nearestPath(to: "vedio.volume") == nil)
    }
}
