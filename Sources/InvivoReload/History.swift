internal import CPlatform
internal import InvivoBase
internal import InvivoGraph
internal import InvivoSpec

/// The content of the last generations. Any thread may call; the thread that has the turn adds.
///
/// Of each kept generation it has what differs from the next kept one, so its memory follows what has changed.
final class History: Sendable {
    fileprivate struct Entry {
        var generation: KeptGeneration
        /// The differences from the next entry, or from the current generation.
        var content: FormerContent
        var bytes: Int
    }

    fileprivate struct State {
        /// The oldest first.
        var entries: [Entry] = []
        /// Of all entries, and the number of those without marks.
        var bytes = 0
        var unmarked = 0
        var current = KeptGeneration(numbers: 0...0, origin: Cause(), time: iv_wall_ns())
        /// The names of all marks: a new name is not searched in the generations.
        var marks: Set<Name> = []
        /// When the first of the commits that only changed settings and became one entry was made; 0 for another commit.
        var settingsSince: UInt64 = 0
    }

    /// Consecutive changes of settings within this time are one entry, in nanoseconds.
    static let settingsTogether: UInt64 = 1_000_000_000
    /// The newest entry, and those with marks, are kept whatever their size.
    static let mostBytes = 2 << 20
    /// More differences of a text than that become one.
    static let mostSteps = 64

    private let options: LiveOptions
    private let state: Guarded<State>

    /// `monitor` is the runtime's.
    init(_ options: LiveOptions, _ monitor: Monitor) {
        self.options = options
        state = Guarded(State(), by: monitor)
    }

    /// The number of generations that are kept beside the current one and those with marks.
    private var most: Int { options.current.history }

    /// Notes a commit. The caller drops the result without a lock: definitions may end user data of the host.
    ///
    /// - Parameters:
    ///   - isSettings: whether it only changed settings.
    ///   - former: the content that it replaced.
    func note(_ number: UInt64, cause: Cause, isSettings: Bool, _ former: consuming FormerContent) -> [FormerContent] {
        state.locked { $0.note(number, cause, isSettings: isSettings, former, most) }
    }

    /// Returns the content of a kept generation where the current one differs.
    func content(of number: UInt64) throws(Failure) -> FormerContent {
        let found = state.locked { state -> Result<FormerContent, Failure> in
            if state.current.numbers.contains(number) { return .success(FormerContent()) }
            guard let index = state.entries.firstIndex(where: { $0.generation.numbers.contains(number) }) else {
                return .failure(state.unknown(number))
            }
            return .success(state.content(from: index))
        }
        return try found.get()
    }

    /// The kept generations, the oldest first. The last one is the current one.
    var generations: [KeptGeneration] { state.locked { $0.entries.map(\.generation) + [$0.current] } }

    // MARK: marks

    /// Keeps the current generation under a name, which no longer stands for another one. Returns its number.
    func mark(_ name: String) -> UInt64 {
        let (number, dropped) = state.locked { state -> (UInt64, [FormerContent]) in
            var dropped: [FormerContent] = []
            state.unmark(name)
            state.current.marks.append(name)
            state.marks.insert(Name(name))
            state.trim(most, &dropped)
            return (state.current.numbers.upperBound, dropped)
        }
        withExtendedLifetime(dropped) {}
        return number
    }

    /// Ends a mark. Returns false if there is none.
    func unmark(_ name: String) -> Bool {
        let (isEnded, dropped) = state.locked { state -> (Bool, [FormerContent]) in
            var dropped: [FormerContent] = []
            let isEnded = state.unmark(name)
            state.trim(most, &dropped)
            return (isEnded, dropped)
        }
        withExtendedLifetime(dropped) {}
        return isEnded
    }

    /// Returns the number of the generation with a mark.
    func marked(_ name: String) throws(Failure) -> UInt64 {
        let all = generations
        if let found = all.first(where: { $0.marks.contains { $0.isSameName(as: name) } }) {
            return found.numbers.upperBound
        }
        let names = all.flatMap(\.marks).sorted()
        throw Failure(
            .notFound,
            "no generation is marked \(quoted(name))"
                + (names.isEmpty ? "; none is marked" : "\(suggestion(for: name, among: names))"))
    }

    // MARK: the limit

    /// Drops the oldest generations above the limit, which has changed. Never call it with a lock held.
    func trim() {
        let dropped = state.locked { state -> [FormerContent] in
            var dropped: [FormerContent] = []
            state.trim(most, &dropped)
            return dropped
        }
        withExtendedLifetime(dropped) {}
    }

    // MARK: facts and close

    /// The definitions of all kept generations.
    var definitions: [Definition] {
        state.locked { $0.entries.flatMap { $0.content.definitions.values.compactMap { $0 } } }
    }

    /// The descriptions of the assemblies of all kept generations.
    var assemblies: [ActiveAssemblies] { state.locked { $0.entries.compactMap(\.content.assemblies) } }

    /// For close. The caller drops the result without a lock.
    func takeAll() -> [FormerContent] {
        state.locked { state in
            defer { (state.entries, state.bytes, state.unmarked) = ([], 0, 0) }
            return state.entries.map(\.content)
        }
    }
}

extension History.State {
    /// Notes a commit, with the content that it replaced. Returns what is dropped.
    fileprivate mutating func note(
        _ number: UInt64, _ cause: Cause, isSettings: Bool, _ content: FormerContent, _ most: Int
    ) -> [FormerContent] {
        shorten()
        let now = monotonicNow()
        if content.isEmpty {
            current.numbers = current.numbers.lowerBound...number
            return []
        }
        let isTogether =
            isSettings && settingsSince != 0 && now - settingsSince < History.settingsTogether && current.marks.isEmpty
            && !entries.isEmpty
        var dropped: [FormerContent] = []
        if isTogether {
            join(content, into: entries.count - 1)
            dropped = [content]
        } else {
            append(content)
            settingsSince = isSettings ? now : 0
        }
        current = KeptGeneration(numbers: number...number, origin: cause, time: iv_wall_ns())
        trim(most, &dropped)
        return dropped
    }

    @discardableResult
    fileprivate mutating func unmark(_ name: String) -> Bool {
        guard marks.remove(Name(name)) != nil else { return false }
        func remove(_ generation: inout KeptGeneration) -> Bool {
            guard let index = generation.marks.lastIndex(where: { $0.isSameName(as: name) }) else { return false }
            generation.marks.remove(at: index)
            return true
        }
        if remove(&current) { return true }
        guard let index = entries.indices.first(where: { remove(&entries[$0].generation) }) else { return false }
        if entries[index].generation.marks.isEmpty { unmarked += 1 }
        return true
    }

    /// The current generation becomes a former one.
    fileprivate mutating func append(_ content: FormerContent) {
        entries.append(History.Entry(generation: current, content: content, bytes: content.bytes))
        bytes += content.bytes
        if current.marks.isEmpty { unmarked += 1 }
    }

    /// Adds what differs between a later generation and the next one.
    fileprivate mutating func join(_ content: FormerContent, into index: Int) {
        bytes -= entries[index].bytes
        entries[index].content.join(content)
        entries[index].bytes = entries[index].content.bytes
        bytes += entries[index].bytes
    }

    /// Makes the many differences of texts that an entry with a mark has gathered one. By the thread that has the turn, before its
    /// commit changes a document.
    fileprivate mutating func shorten() {
        guard unmarked != entries.count else { return }
        let long = entries.indices.filter { index in
            entries[index].content.documents.contains { $0.former.steps.count > History.mostSteps }
        }
        for index in long {
            let (whole, next) = (content(from: index), content(from: index + 1))
            func text(_ document: Document, in content: FormerContent) -> [UInt8] {
                let live = document.state.text
                return content.documents.first { $0.document === document }?.former.text(live: live) ?? live
            }
            for (place, entry) in entries[index].content.documents.enumerated() {
                entries[index].content.documents[place].former.shorten(
                    text(entry.document, in: whole), from: text(entry.document, in: next))
            }
            bytes -= entries[index].bytes
            entries[index].bytes = entries[index].content.bytes
            bytes += entries[index].bytes
        }
    }

    /// Returns what differs between the entry at an index and the current generation.
    fileprivate func content(from index: Int) -> FormerContent {
        guard index < entries.count else { return FormerContent() }
        var content = entries[index].content
        for later in entries[(index + 1)...] { content.join(later.content) }
        return content
    }

    /// Drops the oldest entries without marks above the limits. An older entry takes over the differences of a dropped one.
    fileprivate mutating func trim(_ most: Int, _ dropped: inout [FormerContent]) {
        while unmarked > most || bytes > History.mostBytes && unmarked > min(most, 1),
            let index = entries.firstIndex(where: { $0.generation.marks.isEmpty })
        {
            let entry = entries.remove(at: index)
            unmarked -= 1
            bytes -= entry.bytes
            if index > 0 { join(entry.content, into: index - 1) }
            dropped.append(entry.content)
        }
    }

    fileprivate func unknown(_ number: UInt64) -> Failure {
        guard number <= current.numbers.upperBound else {
            return Failure(
                .notFound, "there is no generation \(number) yet: the current one is \(current.numbers.upperBound)")
        }
        let kept = entries.map { entry in
            let marks = entry.generation.marks.map(quoted).listed(most: 4)
            return entry.generation.text + (marks.isEmpty ? "" : " (\(marks))")
        }
        let text = kept.isEmpty ? "none is kept" : "kept are \(kept.listed())"
        return Failure(
            .notFound,
            "generation \(number) is not kept: \(text). The option history keeps more; a mark keeps one for long; changes of "
                + "settings within 1 s are one entry")
    }
}
