internal import InvivoBase
internal import InvivoGraph
internal import InvivoWiring

/// Changes of assemblies become changes of definitions, in the plan of the same reload.
extension Planner {
    struct Assembled {
        var definitions: [Definition] = []
        var removed: [KeyChanges.Removal] = []
        /// Described again without a change.
        var same: Set<UInt32> = []
    }

    /// Returns the definitions that the assemblies of a change set add, change and remove. Unchanged keys are not among them.
    func planAssemblies(
        _ definitions: inout DefinitionPlan, _ set: ChangeSet, _ failures: inout [Failure]
    ) -> Assembled {
        let removedAlone = Set(set.keys.removed.map(\.id))
        var assembled = Assembled()
        defer { noteAlone(set.keys, except: assembled.definitions, &definitions) }
        guard !set.assemblies.isEmpty else { return assembled }
        let count = failures.count
        var choice = AssemblyChoice(before, registrations.assemblies)
        for change in set.assemblies { choice.take(change) }
        choice.bind()
        failures += choice.failures
        guard failures.count == count else { return assembled }
        /// The definitions that the changed assemblies have for their keys.
        var owners: IDTable<Definition> = [:]
        /// The definition that an active assembly has for a key after the plan. `live` is the present one.
        func owner(_ id: UInt32, _ live: Definition?) -> Definition? {
            if let found = owners[id] { return found }
            guard let live, let name = live.body.assembly, !choice.isChanged(name) else { return nil }
            return live
        }
        var members: NameTable<[UInt32]> = [:]
        var numbers = makeRoom(for: choice, &definitions)
        for name in choice.order where choice.isChanged(name) {
            guard let next = choice.next[name] else { continue }
            var used: NameSet = []
            do throws(Failure) {
                let expanded = try next.expanded(
                    { key throws(Failure) in try names.intern(key) }, used: &used)
                members[name] = expanded.map(\.id)
                let orders = orders(of: expanded, name, &definitions, &numbers)
                for (described, order) in zip(expanded, orders) {
                    let definition = described.at(order)
                    let live = before.definitions[definition.id]
                    if next.alone.contains(definition.id) {
                        owners[definition.id] = live
                        if let live, self.order(of: live, definitions) != order {
                            definitions.moved[live.id] = live.with { $0.order = order }
                        }
                        continue
                    }
                    if let other = owner(definition.id, live) {
                        failures.append(AssemblyDescription.twice(definition.key, other, definition))
                        continue
                    }
                    owners[definition.id] = definition
                    guard let live, !removedAlone.contains(definition.id) else {
                        assembled.definitions.append(definition)
                        continue
                    }
                    if live.body.assembly == nil {
                        failures.append(AssemblyDescription.twice(definition.key, live, definition))
                    } else if (before.originals[definition.id] ?? live).isSame(as: typed(definition)) {
                        definition.join(before.originals[definition.id] ?? live)
                        assembled.same.insert(definition.id)
                        if live.body.assembly != definition.body.assembly || live.location != definition.location
                            || self.order(of: live, definitions) != order
                        {
                            definitions.moved[live.id] = live.with { body in
                                body.order = order
                                body.assembly = definition.body.assembly
                                body.location = definition.location
                            }
                        }
                    } else {
                        assembled.definitions.append(definition)
                    }
                }
            } catch { failures.append(error) }
            for remap in next.remaps where !used.contains(remap.from) && next.bound[remap.from] == nil {
                let outer = next.outerReferences
                failures.append(
                    Failure(
                        .argument,
                        "nothing in the assembly '\(next.description.name)' refers to '\(remap.from)'"
                            + (outer.isEmpty
                                ? ", nor to anything outside"
                                : "; its references to the outside: \(outer.listed(most: 8))"),
                        path: name, at: next.description.location))
            }
        }
        // An unchanged member still conflicts with a definition of the same set.
        let fresh = set.keys.definitions.isEmpty ? [] : Set(assembled.definitions.map(\.id))
        for definition in set.keys.definitions where !fresh.contains(definition.id) {
            if let other = owners[definition.id], choice.isChanged(other.body.assembly ?? "") {
                failures.append(AssemblyDescription.twice(definition.key, other, definition))
            }
        }
        definitions.changedAssemblies = choice.changed.sorted()
        for name in definitions.changedAssemblies {
            for id in before.assemblies[name]?.members.sorted() ?? [] where owners[id] == nil {
                guard !removedAlone.contains(id), before.definitions[id]?.body.assembly == name else { continue }
                assembled.removed.append(KeyChanges.Removal(id, names.name(id)))
            }
        }
        if !definitions.changedAssemblies.isEmpty {
            var all = choice.next
            for (name, range) in numbers { all[name]?.numbers = range }
            for (name, ids) in members { all[name]?.members = ids }
            definitions.assemblies = all
        }
        return assembled
    }

    /// Returns the positions of an assembly's definitions in the order of all definitions: as they are listed, within the range of the
    /// assembly. Existing ones keep theirs if the order permits it.
    private func orders(
        of members: [Definition], _ name: String, _ definitions: inout DefinitionPlan,
        _ numbers: inout NameTable<Range<UInt64>>
    ) -> [DefinitionOrder] {
        var range = numbers[name] ?? before.assemblies[name]?.numbers ?? 0..<0
        if range.isEmpty {
            let count = Self.numbers(for: members.count)
            range = definitions.lastNumber + 1..<definitions.lastNumber + 1 + count
            definitions.lastNumber += count
        }
        numbers[name] = range
        let known = members.map { member -> Int? in
            guard let number = before.definitions[member.id].map({ order(of: $0, definitions).number }),
                range.contains(number)
            else {
                return nil
            }
            return Int(number - range.lowerBound) + 1
        }
        return EntryPositions.following(known, most: range.count).map {
            DefinitionOrder(number: range.lowerBound + UInt64($0) - 1)
        }
    }

    /// Returns the ranges of numbers after assemblies that have outgrown theirs got larger ones in place: everything that was declared
    /// after them moves up. Rare, because a range has room for many times its definitions. Takes time proportional to all definitions.
    private func makeRoom(for choice: AssemblyChoice, _ definitions: inout DefinitionPlan) -> NameTable<Range<UInt64>> {
        var added: [(end: UInt64, count: UInt64)] = []
        for name in choice.changed {
            guard let count = choice.next[name]?.description.definitions.count else { continue }
            guard let range = before.assemblies[name]?.numbers, !range.isEmpty, range.count < 2 * count else {
                continue
            }
            added.append((range.upperBound, Self.numbers(for: count)))
        }
        guard !added.isEmpty else { return [:] }
        func moved(_ number: UInt64) -> UInt64 { added.reduce(number) { $1.end <= number ? $0 + $1.count : $0 } }
        // The definitions of entries follow their patterns.
        for definition in before.definitions.values where definition.body.entry == nil {
            let number = moved(definition.body.order.number)
            guard number != definition.body.order.number else { continue }
            definitions.moved[definition.id] = definition.with { $0.order = DefinitionOrder(number: number) }
        }
        definitions.lastNumber = moved(definitions.lastNumber + 1) - 1
        let ranges = before.assemblies.values.filter { !$0.numbers.isEmpty }.map {
            ($0.name, moved($0.numbers.lowerBound)..<moved($0.numbers.upperBound))
        }
        return NameTable(ranges)
    }

    /// Returns the position of an existing definition after the plan so far.
    func order(of live: Definition, _ definitions: DefinitionPlan) -> DefinitionOrder {
        (definitions.moved[live.id] ?? live).body.order
    }

    private static func numbers(for count: Int) -> UInt64 { UInt64(max(leastNumbers, numbersPerMember * count)) }
    private static let leastNumbers = 1 << 10
    private static let numbersPerMember = 128

    /// Notes definitions that are replaced or removed alone: activating the same assembly again does not bring them back.
    private func noteAlone(_ changes: KeyChanges, except added: [Definition], _ definitions: inout DefinitionPlan) {
        guard !changes.removed.isEmpty || !changes.definitions.isEmpty else { return }
        let brought = Set(added.map(\.id))
        for id in changes.removed.map(\.id) + changes.definitions.map(\.id) where !brought.contains(id) {
            guard let name = before.definitions[id]?.body.assembly,
                var assembly = (definitions.assemblies ?? before.assemblies)[name], assembly.alone.insert(id).inserted
            else { continue }
            var all = definitions.assemblies ?? before.assemblies
            all[name] = assembly
            definitions.assemblies = all
        }
    }

    /// Returns the definition with the type that it names, if that is registered.
    func typed(_ definition: Definition) -> Definition {
        guard definition.type == nil, let name = definition.body.typeName,
            let type = try? registrations.type(named: name)
        else { return definition }
        return definition.with { $0.type = type }
    }

    /// Returns the definition with the type that it names, and with the assembly of the definition that it replaces.
    func withType(_ described: Definition, _ failures: inout [Failure]) -> Definition? {
        var definition = described
        if definition.body.assembly == nil, let assembly = before.definitions[definition.id]?.body.assembly {
            definition = definition.with { $0.assembly = assembly }
        }
        guard definition.type == nil, let name = definition.body.typeName else { return definition }
        // It is blocked until the type is registered.
        if definition.body.flags.contains(.waits) { return typed(definition) }
        do throws(Failure) {
            let type = try registrations.type(named: name)
            return definition.with { $0.type = type }
        } catch {
            failures.append(Failure(error.code, error.message, path: definition.key, at: definition.location))
            return nil
        }
    }

    /// Removes the inline definitions of definitions that are removed or replaced, unless they were described again. Definitions of
    /// entries stay as long as their pattern.
    func removeInlines(_ definitions: inout DefinitionPlan, except described: Set<UInt32>) {
        var queue = definitions.changed.keys.sorted()
        while let id = queue.popLast() {
            let isPattern = definitions.changed[id].flatMap { $0 }?.body.each != nil
            for inline in before.links.inlines[id].sorted()
            where definitions.changed[inline] == nil && !described.contains(inline)
                && !(isPattern && before.definitions[inline]?.body.entry != nil)
            {
                definitions.changed[inline] = .some(nil)
                queue.append(inline)
            }
        }
    }
}
