/// The cause of a reload: the edits and calls that began it, in order.
public struct Cause: Sendable, Equatable {
    /// Mirrors `INVIVO_CAUSE_...`.
    public enum Kind: UInt32, Sendable {
        case file
        case document
        case close
        case define
        case remove
        case set
        case configure
        case reset
        case resetScope
        case override
        case overrideEnd
        case activate
        case deactivate
        case mount
        case attach
        case detach
        case clear
        case process
        case unprocess
        case rule
        case ruleRemove
        case rollback
        case type
        case manifest
        case overtaken
        case more
        case trait
        case traitRemove
        case environment
        case bind
        case unbind

        /// The words around the name in the text of a part.
        var words: (before: String, after: String) {
            switch self {
            case .file, .document, .manifest: ("", "")
            case .close: ("", " closed")
            case .define: ("define ", "")
            case .remove: ("remove ", "")
            case .set: ("set ", "")
            case .configure: ("configure ", "")
            case .reset: ("reset ", "")
            case .resetScope: ("reset of scope ", "")
            case .override: ("override ", "")
            case .overrideEnd: ("override of ", " ended")
            case .activate: ("activate ", "")
            case .deactivate: ("deactivate ", "")
            case .mount: (" as ", "")
            case .attach: ("attach ", "")
            case .detach: ("detach ", "")
            case .clear: ("clear ", "")
            case .process: ("process ", "")
            case .unprocess: ("unprocess ", "")
            case .rule: ("rule ", "")
            case .ruleRemove: ("remove rule ", "")
            case .rollback: ("rollback to generation ", "")
            case .type: ("type ", "")
            case .overtaken: ("a build that a reload overtook", "")
            case .more: ("...", "")
            case .trait: ("trait ", "")
            case .traitRemove: ("remove trait ", "")
            case .environment: ("environment", "")
            case .bind: ("bind settings ", "")
            case .unbind: ("unbind settings ", "")
            }
        }
    }

    public struct Part: Sendable, Equatable {
        public let kind: Kind
        /// The key, file, assembly or other name.
        public let name: String
        /// The assembly that is mounted.
        let mounted: String?

        public init(_ kind: Kind, _ name: String, mounted: String? = nil) {
            (self.kind, self.name, self.mounted) = (kind, name, mounted)
        }

        var text: String {
            let (before, after) = kind.words
            if let mounted { return "mount \(mounted)\(before)\(name)" }
            return before.isEmpty && after.isEmpty ? name : before + name + after
        }
    }

    public private(set) var parts: [Part] = []

    /// A text of this length or more gets no further parts from the same author.
    private static let enough = 80

    public init() {}
    public init(_ kind: Kind, _ name: String = "") { parts = [Part(kind, name)] }

    public var isEmpty: Bool { parts.isEmpty }

    /// The parts as a text, separated by commas.
    public var text: String {
        parts.count == 1 ? parts[0].text : parts.map(\.text).listed()
    }

    /// Adds a part. A long cause ends with a part that stands for all further ones.
    public mutating func note(_ part: Part) {
        guard parts.last?.kind != .more else { return }
        parts.append(parts.isEmpty || text.utf8.count < Self.enough ? part : Part(.more, ""))
    }

    /// Adds the cause of a later change set, unless it is the same.
    mutating func join(_ later: Cause) {
        guard self != later else { return }
        parts += later.parts
    }

    /// Adds files.
    mutating func add(files: [String]) {
        guard !files.isEmpty else { return }
        let own = parts.count == 1 ? parts[0].text : nil
        parts += files.filter { $0 != own }.map { Part(.file, $0) }
    }

    /// The approximate size in memory, with C strings.
    var bytes: Int { parts.reduce(0) { $0 + 2 * $1.name.utf8.count + 96 } }
}
