internal import CInvivo

/// One option of a choice: a condition and the definition that it selects.
public struct ChoiceOption {
    enum When {
        case equal(any InvivoConvertible)
        case exactly(Any.Type)
        case kind(Any.Type)
        case typeName(String, isExact: Bool)
        case named
        case otherwise
    }
    let when: When
    let use: Injection?

    /// Matches a value; numbers are compared independent of their types.
    public static func equal(_ value: some InvivoConvertible, _ use: Injection) -> ChoiceOption {
        ChoiceOption(when: .equal(value), use: use)
    }

    /// Matches a missing value.
    public static func null(_ use: Injection) -> ChoiceOption {
        ChoiceOption(when: .equal(InvivoValue.null), use: use)
    }

    /// Matches an object of this class, of a derived class, or of this protocol.
    public static func kind(_ type: Any.Type, _ use: Injection) -> ChoiceOption {
        ChoiceOption(when: .kind(type), use: use)
    }

    /// Matches an object of exactly this class.
    public static func exactly(_ type: Any.Type, _ use: Injection) -> ChoiceOption {
        ChoiceOption(when: .exactly(type), use: use)
    }

    /// Matches a string that is the name of a member of the same assembly, or a whole key. Selects that definition.
    public static var named: ChoiceOption { ChoiceOption(when: .named, use: nil) }

    /// Matches any value, after all other options.
    public static func otherwise(_ use: Injection) -> ChoiceOption { ChoiceOption(when: .otherwise, use: use) }
}

/// A definition that selects one of other definitions: the first option that matches the value of `by`, usually
/// `.config(…)`.
///
/// A changed value selects another definition, as a reload. A value without a matching option is an error.
///
///     let wave = choice(of: Wave.self, by: .config("wave"), .equal("saw", .member(\Synth.saw)), .named)
public func choice<Value>(
    of type: Value.Type = Value.self, by chooser: Injection, _ options: ChoiceOption..., file: StaticString = #fileID,
    line: UInt = #line
) -> Definition<Value> {
    Definition(Draft(Value.self, nil, isShared: nil, .choice(chooser, options), file, line))
}

/// A choice by a runtime argument: `choice(of: Wave.self, taking: String.self, .named)`.
public func choice<Value, Argument>(
    of type: Value.Type = Value.self, taking argument: Argument.Type, _ options: ChoiceOption...,
    file: StaticString = #fileID, line: UInt = #line
) -> Definition<Value, Argument> {
    let definition = Definition<Value, Argument>(
        Draft(Value.self, nil, isShared: nil, .choice(.argument(0), options), file, line))
    definition.declareParameters()
    return definition
}
