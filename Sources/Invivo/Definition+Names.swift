internal import CInvivo

/// Options that name methods, parameters and keys, for objects of any language and for definitions that are read from
/// data. Options that take injections one after the other also take an array of them.
extension Definition {
    /// Injects a parameter of the initializer by its name in the type's description; an empty name stands for the
    /// position.
    public func parameter(_ name: String, _ injection: Injection) -> Definition {
        with { draft in
            switch draft.making {
            case .type(let type, let injections): draft.making = .type(type, injections + [(name, injection)])
            case .named(let type, let injections): draft.making = .named(type, injections + [(name, injection)])
            default:
                draft.problems.append(
                    InvivoError(.argument, "only the initializer of a type that is named has the parameter '\(name)'"))
            }
        }
    }

    /// Declares a runtime argument, after the earlier ones: `.argument("note", .int64)`. Resolve with it by
    /// `Runtime.object(_:with:)`.
    public func argument(_ name: String, _ kind: InvivoKind = .any, isOptional: Bool = false) -> Definition {
        with { draft in
            let shape = InvivoShape(kind, isOptional: isOptional)
            draft.parameters.append(Draft.Parameter(name: name, type: InvivoValue.self, shape: shape))
        }
    }

    /// Declares a runtime argument with a default: `.argument("note", .int64, default: 60)`.
    public func argument(
        _ name: String, _ kind: InvivoKind = .any, isOptional: Bool = false, default value: some InvivoConvertible
    ) -> Definition {
        with { draft in
            let shape = InvivoShape(kind, isOptional: isOptional)
            draft.parameters.append(
                Draft.Parameter(name: name, type: InvivoValue.self, shape: shape, defaultValue: value))
        }
    }

    /// Allows the factory to return null.
    public func nullable() -> Definition { with { $0.isNullable = true } }

    /// Creates the object by a method of another object: `.made(by: .reference("app.maker"), calling: "make", 5)`.
    public func made(by owner: Injection, calling method: String, _ arguments: Injection...) -> Definition {
        made(by: owner, calling: method, with: arguments)
    }

    /// Creates the object by a method of another object, with an array of arguments.
    public func made(by owner: Injection, calling method: String, with arguments: [Injection]) -> Definition {
        with { draft in
            if case .named(let type, _) = draft.making { draft.typeName = type }
            draft.making = .method(owner, name: method, arguments)
        }
    }

    /// Inherits from the definition of another key: its factory, scope, injections and hooks, unless they are declared
    /// here.
    public func inheriting(from key: String) -> Definition { with { $0.parent = .reference(key) } }

    /// Calls a method of a described type by its name.
    public func call(_ method: String, with injections: [Injection]) -> Definition {
        with { $0.steps.append(Draft.Step(name: method, action: .method, injections: injections)) }
    }

    /// Calls a method of a described type before anything is injected into the object.
    public func before(_ method: String, _ injections: Injection...) -> Definition { before(method, with: injections) }

    /// Calls a method before all injections, with an array of arguments.
    public func before(_ method: String, with injections: [Injection]) -> Definition {
        with { $0.before.append(Draft.Step(name: method, action: .method, injections: injections)) }
    }

    /// Calls a method of a described type when everything is injected into the object.
    public func after(_ method: String, _ injections: Injection...) -> Definition { after(method, with: injections) }

    /// Calls a method after all injections, with an array of arguments.
    public func after(_ method: String, with injections: [Injection]) -> Definition {
        with { $0.after.append(Draft.Step(name: method, action: .method, injections: injections)) }
    }

    /// Calls a method of a described type when all objects of the outermost resolve are complete.
    public func afterAll(_ method: String, _ injections: Injection...) -> Definition {
        afterAll(method, with: injections)
    }

    /// Calls a method when all objects of the outermost resolve are complete, with an array of arguments.
    public func afterAll(_ method: String, with injections: [Injection]) -> Definition {
        with { $0.afterAll.append(Draft.Step(name: method, action: .method, injections: injections)) }
    }
}

/// An alias of a key with bound runtime arguments: `alias(of: "synth.voice", binding: [60])`.
public func alias(
    of key: String, binding arguments: [Injection], file: StaticString = #fileID, line: UInt = #line
) -> Definition<Object> {
    .another(Injection(.key(key, arguments)), file, line)
}

/// A definition that inherits from another key, including the type, unless declared here.
public func child(
    of key: String, scope: Scope? = nil, file: StaticString = #fileID, line: UInt = #line
) -> Definition<Object> {
    let definition = Definition<Object>(Draft(Object.self, scope, isShared: nil, .named(nil, []), file, line))
    definition.draft.parent = .reference(key)
    return definition
}
