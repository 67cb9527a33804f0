import CYaml
import Glibc
import InvivoSpec

extension Benchmark {
    /// Reads a document of traits, and drops it.
    static func reading(_ rounds: Int, _ count: Int) throws {
        let lines = (0..<10_000).map { "  many.part\($0 + 1_000_000): [ Set: { gain: \($0 % 7) } ]\n" }
        let text = Array(("traits:\n" + lines.joined()).utf8)
        let limits = SpecLimits(nodes: 1 << 20)
        let events = measure(rounds: rounds, count: count) { passOverEvents(text) } / 1e3
        let read = try measure(rounds: rounds, count: count) {
            keep(try SpecReader.read(text, file: "tuning.yaml", format: .yaml, limits: limits))
        }
        row(
            "spec.read.10000", read / 1e3, "us", floor: ("a libyaml event pass", events), budget: "<= 2 times",
            within: read / 1e3 <= 2 * events)
    }

    private static func passOverEvents(_ text: [UInt8]) {
        var parser = yaml_parser_t()
        var event = yaml_event_t()
        guard yaml_parser_initialize(&parser) == 1 else { exit(1) }
        defer { yaml_parser_delete(&parser) }
        text.withUnsafeBufferPointer { text in
            yaml_parser_set_input_string(&parser, text.baseAddress, text.count)
            var type = YAML_NO_EVENT
            repeat {
                guard yaml_parser_parse(&parser, &event) == 1 else { exit(1) }
                type = event.type
                yaml_event_delete(&event)
            } while type != YAML_STREAM_END_EVENT
        }
    }
}
