/// Defines a new instance for each reference. During its creation, a reference back returns the instance itself.
/// The closure gets a resolver and the runtime arguments.
public func prototype<Value, each Argument>(
    _ make: @escaping @Sendable (Resolver, repeat each Argument) throws -> Value, file: StaticString = #fileID,
    line: UInt = #line
) -> Definition<Value, repeat each Argument> {
    .resolving(.prototype, isShared: nil, make, file, line)
}

/// Defines a new instance for each reference. During its creation, a reference back returns the instance itself.
/// Each parameter of the initializer is injected by its type.
@_disfavoredOverload
@inlinable
public func prototype<Value, each Parameter>(
    _ make: @escaping @Sendable (repeat each Parameter) throws -> Value, file: StaticString = #fileID,
    line: UInt = #line
) -> Definition<Value> {
    .wired(.prototype, isShared: nil, make, file, line) { instances throws in
        instances.keep(try make(repeat instances.next((each Parameter).self)))
    }
}

/// Defines a new instance for each reference. During its creation, a reference back returns the instance itself.
/// An initializer of which the first parameters are runtime arguments: `prototype(wired(Voice.init, taking: Int.self))`.
public func prototype<Value, each Argument>(
    _ make: Maker<Value, repeat each Argument>, file: StaticString = #fileID, line: UInt = #line
) -> Definition<Value, repeat each Argument> {
    .made(.prototype, isShared: nil, make, file, line)
}

/// Defines one instance for each outermost resolve, shared by all objects that it creates.
/// The closure gets a resolver and the runtime arguments.
public func graph<Value, each Argument>(
    _ make: @escaping @Sendable (Resolver, repeat each Argument) throws -> Value, file: StaticString = #fileID,
    line: UInt = #line
) -> Definition<Value, repeat each Argument> {
    .resolving(.graph, isShared: nil, make, file, line)
}

/// Defines one instance for each outermost resolve, shared by all objects that it creates.
/// Each parameter of the initializer is injected by its type.
@_disfavoredOverload
@inlinable
public func graph<Value, each Parameter>(
    _ make: @escaping @Sendable (repeat each Parameter) throws -> Value, file: StaticString = #fileID,
    line: UInt = #line
) -> Definition<Value> {
    .wired(.graph, isShared: nil, make, file, line) { instances throws in
        instances.keep(try make(repeat instances.next((each Parameter).self)))
    }
}

/// Defines one instance for each outermost resolve, shared by all objects that it creates.
/// An initializer of which the first parameters are runtime arguments: `graph(wired(Voice.init, taking: Int.self))`.
public func graph<Value, each Argument>(
    _ make: Maker<Value, repeat each Argument>, file: StaticString = #fileID, line: UInt = #line
) -> Definition<Value, repeat each Argument> {
    .made(.graph, isShared: nil, make, file, line)
}

/// One instance for each set of arguments, built by the first resolve. Any thread may use it.
/// The closure gets a resolver and the runtime arguments.
public func lazySingleton<Value: Sendable, each Argument>(
    _ make: @escaping @Sendable (Resolver, repeat each Argument) throws -> Value, file: StaticString = #fileID,
    line: UInt = #line
) -> Definition<Value, repeat each Argument> {
    .resolving(.lazySingleton, isShared: true, make, file, line)
}

/// One instance for each set of arguments, built by the first resolve. Any thread may use it.
/// Each parameter of the initializer is injected by its type.
@_disfavoredOverload
@inlinable
public func lazySingleton<Value: Sendable, each Parameter>(
    _ make: @escaping @Sendable (repeat each Parameter) throws -> Value, file: StaticString = #fileID,
    line: UInt = #line
) -> Definition<Value> {
    .wired(.lazySingleton, isShared: true, make, file, line) { instances throws in
        instances.keep(try make(repeat instances.next((each Parameter).self)))
    }
}

/// One instance for each set of arguments, built by the first resolve. Any thread may use it.
/// An initializer of which the first parameters are runtime arguments: `lazySingleton(wired(Voice.init, taking: Int.self))`.
public func lazySingleton<Value: Sendable, each Argument>(
    _ make: Maker<Value, repeat each Argument>, file: StaticString = #fileID, line: UInt = #line
) -> Definition<Value, repeat each Argument> {
    .made(.lazySingleton, isShared: true, make, file, line)
}

/// One instance for each set of arguments, built by the first resolve. Only the thread that opened the runtime (or the main actor) touches it.
/// The closure gets a resolver and the runtime arguments.
public func lazySingleton<Value, each Argument>(
    confined make: @escaping @Sendable (Resolver, repeat each Argument) throws -> Value, file: StaticString = #fileID,
    line: UInt = #line
) -> Definition<Value, repeat each Argument> {
    .resolving(.lazySingleton, isShared: false, make, file, line)
}

/// One instance for each set of arguments, built by the first resolve. Only the thread that opened the runtime (or the main actor) touches it.
/// Each parameter of the initializer is injected by its type.
@_disfavoredOverload
@inlinable
public func lazySingleton<Value, each Parameter>(
    confined make: @escaping @Sendable (repeat each Parameter) throws -> Value, file: StaticString = #fileID,
    line: UInt = #line
) -> Definition<Value> {
    .wired(.lazySingleton, isShared: false, make, file, line) { instances throws in
        instances.keep(try make(repeat instances.next((each Parameter).self)))
    }
}

/// One instance for each set of arguments, built by the first resolve. Only the thread that opened the runtime (or the main actor) touches it.
/// An initializer of which the first parameters are runtime arguments: `lazySingleton(confined: wired(Voice.init, taking: Int.self))`.
public func lazySingleton<Value, each Argument>(
    confined make: Maker<Value, repeat each Argument>, file: StaticString = #fileID, line: UInt = #line
) -> Definition<Value, repeat each Argument> {
    .made(.lazySingleton, isShared: false, make, file, line)
}

/// One instance, built when the assembly is activated. Any thread may use it.
/// The closure gets a resolver and the runtime arguments.
public func singleton<Value: Sendable, each Argument>(
    _ make: @escaping @Sendable (Resolver, repeat each Argument) throws -> Value, file: StaticString = #fileID,
    line: UInt = #line
) -> Definition<Value, repeat each Argument> {
    .resolving(.singleton, isShared: true, make, file, line)
}

/// One instance, built when the assembly is activated. Any thread may use it.
/// Each parameter of the initializer is injected by its type.
@_disfavoredOverload
@inlinable
public func singleton<Value: Sendable, each Parameter>(
    _ make: @escaping @Sendable (repeat each Parameter) throws -> Value, file: StaticString = #fileID,
    line: UInt = #line
) -> Definition<Value> {
    .wired(.singleton, isShared: true, make, file, line) { instances throws in
        instances.keep(try make(repeat instances.next((each Parameter).self)))
    }
}

/// One instance, built when the assembly is activated. Any thread may use it.
/// An initializer of which the first parameters are runtime arguments: `singleton(wired(Voice.init, taking: Int.self))`.
public func singleton<Value: Sendable, each Argument>(
    _ make: Maker<Value, repeat each Argument>, file: StaticString = #fileID, line: UInt = #line
) -> Definition<Value, repeat each Argument> {
    .made(.singleton, isShared: true, make, file, line)
}

/// One instance, built when the assembly is activated. Only the thread that opened the runtime (or the main actor) touches it.
/// The closure gets a resolver and the runtime arguments.
public func singleton<Value, each Argument>(
    confined make: @escaping @Sendable (Resolver, repeat each Argument) throws -> Value, file: StaticString = #fileID,
    line: UInt = #line
) -> Definition<Value, repeat each Argument> {
    .resolving(.singleton, isShared: false, make, file, line)
}

/// One instance, built when the assembly is activated. Only the thread that opened the runtime (or the main actor) touches it.
/// Each parameter of the initializer is injected by its type.
@_disfavoredOverload
@inlinable
public func singleton<Value, each Parameter>(
    confined make: @escaping @Sendable (repeat each Parameter) throws -> Value, file: StaticString = #fileID,
    line: UInt = #line
) -> Definition<Value> {
    .wired(.singleton, isShared: false, make, file, line) { instances throws in
        instances.keep(try make(repeat instances.next((each Parameter).self)))
    }
}

/// One instance, built when the assembly is activated. Only the thread that opened the runtime (or the main actor) touches it.
/// An initializer of which the first parameters are runtime arguments: `singleton(confined: wired(Voice.init, taking: Int.self))`.
public func singleton<Value, each Argument>(
    confined make: Maker<Value, repeat each Argument>, file: StaticString = #fileID, line: UInt = #line
) -> Definition<Value, repeat each Argument> {
    .made(.singleton, isShared: false, make, file, line)
}

/// One instance as long as it is retained. Any thread may use it. The closure gets a resolver and the runtime
/// arguments.
public func weakSingleton<Value: Sendable, each Argument>(
    _ make: @escaping @Sendable (Resolver, repeat each Argument) throws -> Value, file: StaticString = #fileID,
    line: UInt = #line
) -> Definition<Value, repeat each Argument> {
    .resolving(.weakSingleton, isShared: true, make, file, line)
}

/// One instance as long as it is retained. Any thread may use it. Each parameter of the initializer is injected by its
/// type.
@_disfavoredOverload
@inlinable
public func weakSingleton<Value: Sendable, each Parameter>(
    _ make: @escaping @Sendable (repeat each Parameter) throws -> Value, file: StaticString = #fileID,
    line: UInt = #line
) -> Definition<Value> {
    .wired(.weakSingleton, isShared: true, make, file, line) { instances throws in
        instances.keep(try make(repeat instances.next((each Parameter).self)))
    }
}

/// One instance as long as it is retained. Any thread may use it. The first parameters of the initializer are runtime
/// arguments: `weakSingleton(wired(Voice.init, taking: Int.self))`.
public func weakSingleton<Value: Sendable, each Argument>(
    _ make: Maker<Value, repeat each Argument>, file: StaticString = #fileID, line: UInt = #line
) -> Definition<Value, repeat each Argument> {
    .made(.weakSingleton, isShared: true, make, file, line)
}

/// One instance as long as it is retained. Only the thread that opened the runtime (or the main actor) may use it. The
/// closure gets a resolver and the runtime arguments.
public func weakSingleton<Value, each Argument>(
    confined make: @escaping @Sendable (Resolver, repeat each Argument) throws -> Value, file: StaticString = #fileID,
    line: UInt = #line
) -> Definition<Value, repeat each Argument> {
    .resolving(.weakSingleton, isShared: false, make, file, line)
}

/// One instance as long as it is retained. Only the thread that opened the runtime (or the main actor) may use it. Each
/// parameter of the initializer is injected by its type.
@_disfavoredOverload
@inlinable
public func weakSingleton<Value, each Parameter>(
    confined make: @escaping @Sendable (repeat each Parameter) throws -> Value, file: StaticString = #fileID,
    line: UInt = #line
) -> Definition<Value> {
    .wired(.weakSingleton, isShared: false, make, file, line) { instances throws in
        instances.keep(try make(repeat instances.next((each Parameter).self)))
    }
}

/// One instance as long as it is retained. Only the thread that opened the runtime (or the main actor) may use it. The
/// first parameters of the initializer are runtime arguments:
/// `weakSingleton(confined: wired(Voice.init, taking: Int.self))`.
public func weakSingleton<Value, each Argument>(
    confined make: Maker<Value, repeat each Argument>, file: StaticString = #fileID, line: UInt = #line
) -> Definition<Value, repeat each Argument> {
    .made(.weakSingleton, isShared: false, make, file, line)
}
