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
    private let order: UInt64
    private let values: [ContentHash?]
    /// Of a document that the caller has read.
    private let config: ConfigNode?
    /// Its text follows from that of the live document, by one step after the other.
    private(set) var steps: [Difference]

    init(_ former: Document.State, from next: Document.State) {
        (isOpen, hash, order) = (former.isOpen, former.hash, former.order)
        values = former.values.map(\.hash)
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
        guard isOpen == live.isOpen else { return false }
        guard isOpen else { return true }
        return hash != nil && hash == live.hash && order == live.order && values == live.values.map(\.hash)
    }

    /// Returns the content as the state of a document. `content` returns the former state of a file that is a value.
    func state(
        of document: Document, _ limits: SpecLimits, _ environment: Environment,
        _ content: (SpecReference) throws(Failure) -> Document.State
    ) throws(Failure) -> Document.State {
        var state = Document.State()
        guard isOpen else { return state }
        state.isOpen = true
        (state.config, state.hash, state.order) = (config, hash, order)
        guard hash != nil else { return state }
        let text = text(live: document.state.text)
        if document.role == .value {
            state.source = Document.Source(text: text)
        } else {
            try state.read(text, of: document, limits, environment, content)
        }
        return state
    }
}
