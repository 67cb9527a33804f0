/// Further options of a definition.
extension Definition {
    /// Changes the draft and returns the definition. All modifiers use it.
    func with(_ change: (inout Draft) -> Void) -> Definition {
        change(&draft)
        return self
    }

    /// The rank for lists and lookups by type: the highest wins, and is the first in lists.
    public func rank(_ rank: Int) -> Definition { with { $0.rank = Int32(clamping: rank) } }

    /// Names its type with arguments, `"Repository[User]"`: lookups for that name prefer it at equal rank.
    public func generic(_ name: String) -> Definition {
        with { $0.more.append { raw, arena, _ in raw.generic = try arena.name(name) } }
    }

    /// Hides the definition from lookups by its own type, by its supertypes, or by both.
    public func hidden(_ hidden: Hidden = .both) -> Definition {
        with { draft in
            draft.isHiddenByClass = hidden != .interfaces
            draft.isHiddenByInterface = hidden != .ownType
        }
    }

    /// Makes the definition a base for children only: it is never created, and not found by lookups.
    public func abstract() -> Definition { with { $0.isAbstract = true } }

    /// Injects a parameter of the initializer, counted from 0 among those that are injected, otherwise than by its type:
    /// `.parameter(1, .member(\Synth.mixer))`.
    public func parameter(_ index: Int, _ injection: Injection) -> Definition {
        with { draft in
            guard case .factory(var injections, let make) = draft.making, injections.indices.contains(index) else {
                draft.problems.append(
                    InvivoError(
                        .arity,
                        "the initializer has no parameter \(index) that is injected; a closure resolves for itself"))
                return
            }
            injections[index] = injection
            draft.making = .factory(injections, make)
        }
    }

    /// Injects a parameter of the initializer from another member: `.parameter(1, from: \Synth.mixer)`.
    public func parameter<Part: Assembly, Other, each Bound>(
        _ index: Int, from member: KeyPath<Part, Definition<Other, repeat each Bound>>, _ arguments: Injection...
    ) -> Definition {
        parameter(index, Injection(.member(MemberPath(member), arguments)))
    }
}

/// The lookups that a definition is hidden from.
public enum Hidden: Sendable {
    /// Hidden from lookups of its own type.
    case ownType
    /// Hidden from lookups of its protocols and base classes.
    case interfaces
    /// Hidden from both.
    case both
}
