internal import CPlatform
internal import Glibc
public import InvivoBase

/// The contexts that a thread has entered. They are not held: a handle denotes no other context after the end.
extension Contexts {
    /// Marks an entry of the runtime itself: the context of a build or hook that runs. Without a handle: code of an object that lives in
    /// no context. Handles do not have the bit.
    private static let isWork: UInt64 = 1 << 63

    /// Makes a context the current one of the calling thread.
    public static func enter(_ handle: ContextHandle) throws(Failure) {
        let core = try use(handle) { (contexts, _, _) throws(Failure) in CoreReference(contexts.rawCore, tag: 0) }
        try push(handle.bits, core.core)
    }

    private static func push(_ entry: UInt64, _ core: Core) throws(Failure) {
        guard let reader = Readers.ensured(core) else { throw noMemory() }
        if reader.pointee.entered_count == reader.pointee.entered_capacity {
            let capacity = max(8, reader.pointee.entered_capacity * 2)
            guard let grown = realloc(reader.pointee.entered, Int(capacity) * MemoryLayout<UInt64>.stride) else {
                throw noMemory()
            }
            reader.pointee.entered = grown.assumingMemoryBound(to: UInt64.self)
            reader.pointee.entered_capacity = capacity
        }
        reader.pointee.entered[Int(reader.pointee.entered_count)] = entry
        reader.pointee.entered_count += 1
    }

    private static func noMemory() -> Failure { Failure(.memory, "no memory to enter a context") }

    /// Ends the innermost `enter` of a context on the calling thread. The context may have ended.
    public static func leave(_ handle: ContextHandle) throws(Failure) {
        if let core = handle.core, Readers.isParents(core) { throw .forked() }
        for core in Readers.cores() {
            guard let reader = Readers.own(core), let index = index(of: handle.bits, reader) else { continue }
            guard !Readers.isParents(core) else { throw .forked() }
            remove(index, reader)
            return
        }
        guard handle.core != nil else { throw ended(handle) }
        throw Failure(
            .domain,
            "the calling thread has not entered the context: each thread leaves the contexts that it has entered")
    }

    private static func index(of entry: UInt64, _ reader: Reader) -> Int? {
        guard let entered = reader.pointee.entered else { return nil }
        return (0..<Int(reader.pointee.entered_count)).last { entered[$0] == entry }
    }

    private static func remove(_ index: Int, _ reader: Reader) {
        guard let entered = reader.pointee.entered else { return }
        let count = Int(reader.pointee.entered_count)
        for later in index + 1..<max(count, index + 1) { entered[later - 1] = entered[later] }
        reader.pointee.entered_count -= 1
    }

    /// The context in which the calling thread's code lives, else the one that the thread entered last, and that is open.
    public static func current(_ core: Core) -> ContextHandle? {
        guard !Readers.isParents(core), let reader = Readers.own(core), let entered = reader.pointee.entered else {
            return nil
        }
        for index in (0..<Int(reader.pointee.entered_count)).reversed() {
            let handle = ContextHandle(bits: entered[index] & ~isWork)
            if handle.core == core { return handle }
            // Code of a context that has ended, or of none, does not see the contexts of its caller.
            if entered[index] & isWork != 0 { return nil }
        }
        return nil
    }

    /// Runs `body` as code of an object that lives in a context, or (nil) in none.
    public static func working<Result>(
        in home: ContextHandle?, _ core: Core, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // A context that has ended is none.
        let home = home.flatMap { $0.core == core ? $0 : nil }
        guard home != nil || Readers.own(core)?.pointee.entered_count ?? 0 > 0 else { return try body() }
        let entry = (home?.bits ?? 0) | isWork
        try push(entry, core)
        // With those that the code has entered and not left.
        defer {
            if let reader = Readers.own(core), let index = index(of: entry, reader) {
                reader.pointee.entered_count = UInt32(index)
            }
        }
        return try body()
    }

    /// The same for code that runs in any case: without memory, it runs with the current context of its caller.
    public static func workingAlways(in home: ContextHandle?, _ core: Core, _ body: () -> Void) {
        var hasRun = false
        do throws(Failure) {
            try working(in: home, core) { () throws(Failure) in
                hasRun = true
                body()
            }
        } catch { if !hasRun { body() } }
    }

    /// Runs `body` with an open context of the runtime as the current one.
    public static func visiting<Result>(
        _ context: ContextHandle, _ core: Core, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        guard let own = context.core else { throw ended(context) }
        guard own == core else { throw Failure(.handle, "the context belongs to another runtime") }
        try push(context.bits, core)
        defer { if let reader = Readers.own(core), let index = index(of: context.bits, reader) { remove(index, reader) } }
        return try body()
    }

    /// The contexts in whose builds or hooks the calling thread is.
    static func working(_ core: Core) -> [ContextHandle] {
        guard let reader = Readers.own(core), let entered = reader.pointee.entered else { return [] }
        return (0..<Int(reader.pointee.entered_count)).compactMap { index in
            entered[index] & isWork != 0 && entered[index] != isWork
                ? ContextHandle(bits: entered[index] & ~isWork) : nil
        }
    }
}
