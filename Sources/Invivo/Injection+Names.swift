internal import CInvivo

/// Injections by the names of types, and with arrays.
extension Injection {
    /// The object of the one definition of a type, or of a subtype, by the type's name.
    public static func type(named name: String) -> Injection { Injection(.typeName(name, isAll: false)) }

    /// A list: one of each definition of a type, by its name.
    public static func all(named name: String) -> Injection { Injection(.typeName(name, isAll: true)) }

    /// The object of a key, with an array of runtime arguments.
    public static func reference(_ key: String, with arguments: [Injection]) -> Injection {
        Injection(.key(key, arguments))
    }

    /// A list of the elements of an array, created for each object.
    public static func list(of items: [Injection]) -> Injection { Injection(.list(items)) }

    /// A list as above, without equal elements.
    public static func set(of items: [Injection]) -> Injection { Injection(.set(items)) }

    /// A map of named injections that are in an array, a fresh one for each object.
    public static func map(of items: [(name: String, injection: Injection)]) -> Injection { Injection(.map(items)) }

    /// In a definition with `each`: the value at a path of its entry, or another injection if there is no value.
    public static func entry(_ path: String, default other: Injection) -> Injection {
        Injection(.entry(path, Inner(other)))
    }

    /// The configuration value at a path, or another injection if there is no value.
    public static func config(_ path: String, default other: Injection) -> Injection {
        Injection(.config(path, Inner(other), .any))
    }
}

extension ChoiceOption {
    /// Matches an object of a type or of a subtype, by the type's name.
    public static func kind(named name: String, _ use: Injection) -> ChoiceOption {
        ChoiceOption(when: .typeName(name, isExact: false), use: use)
    }

    /// Matches an object of exactly a type, by its name.
    public static func exactly(named name: String, _ use: Injection) -> ChoiceOption {
        ChoiceOption(when: .typeName(name, isExact: true), use: use)
    }
}

/// A definition that selects one of other definitions, with an array of options.
public func choice(
    by chooser: Injection, options: [ChoiceOption], file: StaticString = #fileID, line: UInt = #line
) -> Definition<Object> {
    Definition(Draft(Object.self, nil, isShared: nil, .choice(chooser, options), file, line))
}
