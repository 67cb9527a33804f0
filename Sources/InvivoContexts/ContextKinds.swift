internal import CInvivo
public import InvivoBase

/// A declared kind of contexts.
public struct ContextKind: Sendable, Equatable {
    /// A value that each context of the kind has from its opening on.
    public struct Provided: Sendable, Equatable {
        public let key: UInt32
        /// Whether it may change while the context is open.
        public let isLive: Bool

        public init(key: UInt32, isLive: Bool) { (self.key, self.isLive) = (key, isLive) }
    }

    /// INVIVO_CONTEXT_FOLLOWS
    public static let follows = UInt32(INVIVO_CONTEXT_FOLLOWS)

    public let name: String
    /// INVIVO_CONTEXT_...
    public let policy: UInt32
    public let provides: [Provided]

    public init(name: String, policy: UInt32, provides: [Provided]) {
        (self.name, self.policy, self.provides) = (name, policy, provides)
    }

    public static func == (one: ContextKind, other: ContextKind) -> Bool {
        one.name.isSameName(as: other.name) && one.policy == other.policy && one.provides == other.provides
    }
}

/// The declared kinds of a runtime, from the outermost to the innermost. Kinds are only added.
public final class ContextKinds: Sendable {
    private let kinds: Guarded<[ContextKind]>
    /// The names for C, which are valid until the runtime closes.
    private let texts: Guarded<[CText]>
    private let store = CStrings()
    private static let most = Int(UInt16.max) - 1

    init(_ monitor: Monitor) {
        kinds = Guarded([], by: monitor)
        texts = Guarded([], by: monitor)
    }

    public func declare(_ added: [ContextKind]) throws(Failure) {
        try kinds.locked { (kinds) throws(Failure) in
            var next = kinds
            for kind in added {
                if let index = next.firstIndex(where: { $0.name.isSameName(as: kind.name) }) {
                    guard next[index] == kind else {
                        throw Failure(
                            .exists,
                            "the kind of contexts '\(kind.name)' is declared with another policy or other values",
                            path: kind.name)
                    }
                    continue
                }
                guard next.count < Self.most else {
                    throw Failure(.tooLarge, "\(Self.most) kinds of contexts are declared; there cannot be more")
                }
                next.append(kind)
            }
            for kind in next.dropFirst(kinds.count) { texts.held { $0.append(store.text(kind.name)) } }
            kinds = next
        }
    }

    public var all: [ContextKind] { kinds.locked { $0 } }

    /// The name of a kind for C.
    public func cName(at index: Int) -> UnsafePointer<CChar>? {
        texts.locked { $0.indices.contains(index) ? $0[index].pointer : nil }
    }

    func kind(at index: Int) -> ContextKind? { kinds.locked { $0.indices.contains(index) ? $0[index] : nil } }

    /// The index of a kind; an unknown one is an error that names the nearest.
    public func index(named name: String) throws(Failure) -> Int {
        let kinds = all
        if let index = kinds.firstIndex(where: { $0.name.isSameName(as: name) }) { return index }
        throw Failure(
            .notFound, "no kind of contexts '\(name)' is declared\(suggestion(for: name, among: kinds.map(\.name)))",
            path: name)
    }
}
