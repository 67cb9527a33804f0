extension Core {
    /// Converts any Swift value to a runtime argument: to a value if there is a conversion, otherwise to an object; an
    /// empty optional to null.
    ///
    /// Equal Hashable values are converted to the same object as long as it is held, so that instances that are kept
    /// for each set of arguments are found again. Class instances are compared by identity.
    ///
    /// - Parameters:
    ///   - isKept: Whether instances are kept for each set of arguments, which then must be comparable.
    ///   - key: The resolved key, for the error.
    func argument<Value>(_ value: Value, isKept: Bool, in key: String?) throws(InvivoError) -> InvivoValue {
        if let convertible = value as? any InvivoConvertible { return try convertible.asInvivo() }
        guard let instance = Invivo.instance(of: value) else { return .null }
        guard let box = instance as? any AnyBoxed else { return .instance(instance) }
        // An existential may hold an instance of a class.
        if Swift.type(of: box.any) is AnyClass { return .instance(box.any as AnyObject) }
        guard let content = box.any as? AnyHashable else {
            guard !isKept else {
                throw InvivoError(
                    .type,
                    "\(key.map { "'\($0)'" } ?? "the definition") keeps one object for each of its runtime arguments, and values of the type "
                        + "\(Swift.type(of: box.any)) cannot be compared; make it Hashable, InvivoConvertible or a class, "
                        + "or the definition a prototype")
            }
            return .instance(instance)
        }
        return .instance(theBox(of: content, box))
    }

    /// The living box of an equal value of the type, or this one from now on.
    private func theBox(of content: AnyHashable, _ box: any AnyBoxed) -> AnyObject {
        let place = ComparedBoxes.Place(type: ObjectIdentifier(Swift.type(of: box)), hash: content.hashValue)
        var compared: [any AnyBoxed] = []
        // Comparison and deallocation run code of the program, so neither happens under the lock.
        while true {
            let living = registry.withLock { $0.boxes.living(at: place) }
            let others = living.filter { one in !compared.contains { $0 === one } }
            if let same = others.first(where: { $0.any as? AnyHashable == content }) { return same }
            compared += others
            let (isNoted, ended) = registry.withLock { $0.boxes.note(box, at: place, besides: compared) }
            withExtendedLifetime(ended) {}
            if isNoted { return box }
        }
    }
}

/// Boxes by type and hash, without retaining them. Used under the registry's lock. Its results keep boxes alive until
/// the lock is released.
struct ComparedBoxes {
    struct Place: Hashable {
        var type: ObjectIdentifier
        var hash: Int
    }

    private struct Entry {
        weak var box: (any AnyBoxed)?
    }

    private var entries: [Place: [Entry]] = [:]
    /// The number of entries at which ended boxes are removed: twice as many as were alive the last time.
    private var limit = 64

    func living(at place: Place) -> [any AnyBoxed] { entries[place]?.compactMap(\.box) ?? [] }

    /// Stores a box unless another thread has stored one. Also returns objects that must not be released under the
    /// lock.
    mutating func note(
        _ box: any AnyBoxed, at place: Place, besides known: [any AnyBoxed]
    ) -> (isNoted: Bool, held: [any AnyBoxed]) {
        var held = living(at: place)
        guard held.allSatisfy({ one in known.contains { $0 === one } }) else { return (false, held) }
        entries[place] = held.map { Entry(box: $0) } + [Entry(box: box)]
        if entries.count > limit {
            entries = entries.filter { place, _ in
                let living = living(at: place)
                held += living
                return !living.isEmpty
            }
            limit = max(64, 2 * entries.count)
        }
        return (true, held)
    }
}
