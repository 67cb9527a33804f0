internal import CInvivo

/// What is injected, by the names of types; and with what is in arrays.
extension Injection {
    /// What the one definition of a type makes, or of what says that it is one, by its name.
    public static func type(named name: String) -> Injection { Injection(.typeName(name, isAll: false)) }

    /// A list: one of each definition of a type, by its name.
    public static func all(named name: String) -> Injection { Injection(.typeName(name, isAll: true)) }

    /// What a key resolves to, with runtime arguments that are in an array.
    public static func reference(_ key: String, with arguments: [Injection]) -> Injection {
        Injection(.key(key, arguments))
    }

    /// A list of what an array holds, a fresh one for each object.
    public static func list(of items: [Injection]) -> Injection { Injection(.list(items)) }

    /// The same in which what is equal is there once.
    public static func set(of items: [Injection]) -> Injection { Injection(.set(items)) }

    /// A map of named injections that are in an array, a fresh one for each object.
    public static func map(of items: [(name: String, injection: Injection)]) -> Injection { Injection(.map(items)) }

    /// In a definition with `each`: what its entry says at a path below it, or what another injection gives where it says nothing.
    public static func entry(_ path: String, default other: Injection) -> Injection {
        Injection(.entry(path, Inner(other)))
    }

    /// What the configuration says at a path, or what another injection gives where it says nothing.
    public static func config(_ path: String, default other: Injection) -> Injection {
        Injection(.config(path, Inner(other), .any))
    }
}

extension ChoiceOption {
    /// When it is an object of a type, or of what says that it is one, by its name.
    public static func kind(named name: String, _ use: Injection) -> ChoiceOption {
        ChoiceOption(when: .typeName(name, isExact: false), use: use)
    }

    /// When it is an object of a type itself, by its name.
    public static func exactly(named name: String, _ use: Injection) -> ChoiceOption {
        ChoiceOption(when: .typeName(name, isExact: true), use: use)
    }
}

/// What one of other definitions makes, by options that are in an array.
public func choice(
    by chooser: Injection, options: [ChoiceOption], file: StaticString = #fileID, line: UInt = #line
) -> Definition<Object> {
    Definition(Draft(Object.self, nil, isShared: nil, .choice(chooser, options), file, line))
}
