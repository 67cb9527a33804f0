import Invivo

/// The type of typed settings in text cases.
struct VoiceSettings: Decodable, Sendable {
    private enum CodingKeys: CodingKey { case voices, rate, label }

    let voices: Int
    let rate: Double
    let label: String

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        voices = try container.decode(Int.self, forKey: .voices)
        rate = try container.decodeIfPresent(Double.self, forKey: .rate) ?? 48_000
        label = try container.decodeIfPresent(String.self, forKey: .label) ?? "none"
    }

    var asMap: InvivoValue { .map(["voices": .int64(Int64(voices)), "rate": .double(rate), "label": .string(label)]) }
}
