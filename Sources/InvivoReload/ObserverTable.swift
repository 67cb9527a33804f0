internal import InvivoBase
internal import InvivoGraph

/// The observers of a runtime by their subjects, so that a reload costs nothing for those that it does not concern.
struct ObserverTable {
    /// Subscribing again with equal values returns the same observer.
    struct Identity: Hashable {
        let functions: [UInt]
        let userData: UInt
        let domain: UInt64
        let subject: Subject
        /// The object whose setup subscribes; 0 outside of a setup.
        let owner: UInt64
    }

    private var bySubject: [Subject: [Observer]] = [:]
    private var identities: [Identity: Observer] = [:]
    private enum Kind { case key, type, configuration }
    /// The numbers of observers of these kinds of subjects.
    private var counts: [Kind: Int] = [:]
    /// The observed objects.
    private var objects: Set<UInt64> = []
    /// The number of additions and commits after which ended objects are looked for.
    private var untilSearch = 1
    /// Observers that keep resolved objects, in the order of their subscription.
    private(set) var caches: [Observer] = []
    /// Observers that wait for the first reload, in the order of their subscription.
    private var unready: [Observer] = []
    private var lastNumber: UInt64 = 0

    var observeTypes: Bool { has(.type) }
    private func has(_ kind: Kind) -> Bool { counts[kind, default: 0] > 0 }
    var observeObjects: Bool { !objects.isEmpty }

    /// One that is being closed is not the same any more.
    func same(as identity: Identity?) -> Observer? {
        identity.flatMap { identities[$0] }.flatMap { $0.isOpen ? $0 : nil }
    }

    /// Returns its number in the order of subscription.
    mutating func add(_ observer: Observer) -> UInt64 {
        lastNumber += 1
        if observer.callbacks.publishing != nil { caches.append(observer) }
        if observer.callbacks.ready != nil { unready.append(observer) }
        if let identity = observer.identity { identities[identity] = observer }
        bySubject[observer.subject, default: []].append(observer)
        if case .object(let bits) = observer.subject { objects.insert(bits) }
        count(observer.subject, 1)
        return lastNumber
    }

    mutating func remove(_ observer: Observer) {
        caches.removeAll { $0 === observer }
        unready.removeAll { $0 === observer }
        if let identity = observer.identity, identities[identity] === observer { identities[identity] = nil }
        guard var others = bySubject[observer.subject], let index = others.firstIndex(where: { $0 === observer }) else {
            return
        }
        others.remove(at: index)
        bySubject[observer.subject] = others.isEmpty ? nil : others
        if case .object(let bits) = observer.subject, others.isEmpty { objects.remove(bits) }
        count(observer.subject, -1)
    }

    private mutating func count(_ subject: Subject, _ change: Int) {
        switch subject {
        case .key: counts[.key, default: 0] += change
        case .type: counts[.type, default: 0] += change
        case .configuration: counts[.configuration, default: 0] += change
        case .everything, .object: break
        }
    }

    /// Removes and returns the observers that wait for the first reload.
    mutating func takeUnready() -> [Observer] {
        defer { unready = [] }
        return unready
    }

    /// Whether an observer waits for the first reload, which it hears of now.
    mutating func takeUnready(_ observer: Observer) -> Bool {
        guard let index = unready.firstIndex(where: { $0 === observer }) else { return false }
        unready.remove(at: index)
        return true
    }

    mutating func removeAll() -> [Observer] {
        defer { self = ObserverTable() }
        return bySubject.values.flatMap(\.self)
    }

    /// At each addition and commit: removes and returns the observers of objects that have ended. They are looked for after as many
    /// additions and commits as there are objects, so that the cost of each is bounded.
    mutating func takeEnded() -> [Observer] {
        guard !objects.isEmpty else { return [] }
        untilSearch -= 1
        guard untilSearch <= 0 else { return [] }
        let ended = objects.filter { ObjectTable.record($0) == nil }.flatMap { bySubject[.object($0)] ?? [] }
        for observer in ended { remove(observer) }
        untilSearch = objects.count
        return ended
    }

    /// Returns the observers that a reload concerns, each with the report for it: those of types, of objects, and all others, each in
    /// the order of subscription.
    func concerned(by report: Report, _ facts: ChangedObjects) -> [(observer: Observer, report: Report)] {
        func observers(_ subject: Subject) -> [Observer] {
            (bySubject[subject] ?? []).filter { $0.callbacks.reloaded != nil }
        }
        guard report.failure == nil else { return observers(.everything).map { ($0, report) } }
        var found: [ObjectIdentifier: (observer: Observer, changes: Set<Int>?)] = [:]
        /// Notes the indices of some changes; nil = all.
        func note(_ subject: Subject, _ changes: [Int]?) {
            for observer in observers(subject) where observer.since < report.generation {
                var known = found[ObjectIdentifier(observer)] ?? (observer, changes == nil ? nil : [])
                if let changes { known.changes?.formUnion(changes) }
                found[ObjectIdentifier(observer)] = known
            }
        }
        note(.everything, nil)
        if has(.configuration) { for path in report.settings.keys { note(.configuration(Name(path)), nil) } }
        var byKey: [Name: [Int]] = [:]
        if has(.key) || has(.type) || !facts.objects.isEmpty {
            for (index, change) in report.changes.enumerated() where change.isOfKey {
                byKey[Name(change.key), default: []].append(index)
            }
        }
        for (key, indices) in byKey {
            if has(.key) { note(.key(key), indices) }
            if has(.type) { for type in facts.types[key.text] ?? [] { note(.type(Name(type)), indices) } }
        }
        for (object, keys) in facts.objects where objects.contains(object) {
            let indices = keys.flatMap { byKey[$0] ?? [] }
            // A commit that attaches or detaches an object reports no changes of it.
            if !indices.isEmpty || facts.attached.contains(object) { note(.object(object), indices) }
        }
        func rank(_ observer: Observer) -> Int {
            switch observer.subject {
            case .type: 0
            case .object: 1
            case .everything, .key, .configuration: 2
            }
        }
        return found.values
            .sorted { (rank($0.observer), $0.observer.number) < (rank($1.observer), $1.observer.number) }
            .map { found in
                (found.observer, found.changes.map { report.containing(only: $0.sorted()) } ?? report)
            }
    }
}
