import InvivoBase
import Testing

@Suite struct ListTextTests {
    private let many = (1...1000).map { "name\($0)" }

    @Test func a_long_list_shows_the_first_names_and_the_number_of_the_others() {
        #expect([String]().listed() == "")
        #expect(["a", "b", "c"].listed() == "a, b, c")
        #expect(["a", "b", "c"].listed(most: 3) == "a, b, c")
        #expect(["a", "b", "c", "d"].listed(most: 3) == "a, b and 2 others")
        #expect(many.listed(most: 3) == "name1, name2 and 998 others")
        #expect(many.listed().hasSuffix(", name15 and 985 others"))
    }

    @Test func choices_end_with_or() {
        #expect([String]().choices() == "")
        #expect(["a"].choices() == "a")
        #expect(["a", "b", "c"].choices() == "a, b or c")
        #expect(many.choices(most: 3) == "name1, name2 or one of 998 others")
    }

    @Test func a_long_path_shows_both_ends() {
        #expect(["a", "b", "a"].path() == "a -> b -> a")
        #expect(many.path(most: 4) == "name1 -> name2 -> (996 more) -> name999 -> name1000")
    }
}
