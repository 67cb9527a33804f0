internal import InvivoBase
internal import InvivoConfig
internal import InvivoLoop
internal import InvivoSpec

/// The content that a document had, as what differs from the content that replaced it.
struct FormerDocument: Sendable {
    /// The difference between two texts: the former one without its beginning and end, which are equal in both.
    struct Difference: Sendable {
        private let beginning: Int
        private let end: Int
        private let middle: [UInt8]

        init(_ former: [UInt8], from next: [UInt8]) {
            let shorter = min(former.count, next.count)
            var (beginning, end) = (0, 0)
            former.withUnsafeBufferPointer { former in
                next.withUnsafeBufferPointer { next in
                    while beginning < shorter && former[beginning] == next[beginning] { beginning += 1 }
                    while end < shorter - beginning && former[former.count - 1 - end] == next[next.count - 1 - end] {
                        end += 1
                    }
                }
            }
            (self.beginning, self.end) = (beginning, end)
            middle = Array(former[beginning..<(former.count - end)])
        }

        func former(of next: [UInt8]) -> [UInt8] { next.prefix(beginning) + middle + next.suffix(end) }

        var bytes: Int { middle.count + 48 }
    }

    let isOpen: Bool
    let hash: ContentHash?
    /// Of a document that the caller has read.
    private let config: ConfigNode?
    /// Its text follows from that of the live document, by one step after the other.
    private(set) var steps: [Difference]

    init(_ former: Document.State, from next: Document.State) {
        (isOpen, hash) = (former.isOpen, former.hash)
        config = former.hash == nil ? former.config : nil
        steps = [Difference(former.text, from: next.text)]
    }

    var bytes: Int { steps.reduce(config == nil ? 64 : 1024) { $0 + $1.bytes } }

    /// The content that replaced this one was replaced, too.
    mutating func join(_ later: FormerDocument) { steps = later.steps + steps }

    func text(live: [UInt8]) -> [UInt8] { steps.reduce(live) { $1.former(of: $0) } }

    /// Makes many steps one, from the text that replaced this one.
    mutating func shorten(_ text: [UInt8], from next: [UInt8]) { steps = [Difference(text, from: next)] }

    func isSame(as live: Document.State) -> Bool {
        isOpen == live.isOpen && (!isOpen || hash != nil && hash == live.hash)
    }

    /// Returns the content as the state of a document.
    func state(
        of document: Document, _ limits: SpecLimits, _ environment: Environment
    ) throws(Failure) -> Document.State {
        var state = Document.State()
        guard isOpen else { return state }
        state.isOpen = true
        state.config = config
        state.hash = hash
        if hash != nil {
            try state.read(text(live: document.state.text), of: document, limits, environment)
        }
        return state
    }
}
