internal import CPlatform
internal import Glibc
public import InvivoBase

/// The contexts that a thread has entered. They are not held: a handle denotes no other context after the end.
extension Contexts {
    /// Marks an entry of the runtime itself: the context of a build or hook that runs. Without a handle: code of an object that lives in
    /// no context. Handles do not have the bit.
    private static let isWork: UInt64 = 1 << 63
    /// Marks an entry for the time of a call, for which the end of the context does not wait.
    private static let isVisit: UInt64 = 1 << 62
    private static let marks = isWork | isVisit

    /// Makes a context the current one of the calling thread.
    public static func enter(_ handle: ContextHandle) throws(Failure) {
        try use(handle) { (contexts, context, _) throws(Failure) in
            try push(handle.bits, contexts.rawCore)
            _ = iv_add_u64(iv_context_work(context), IV_CONTEXT_INSIDE)
        }
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
            return ended(handle, entries: 1)
        }
        guard handle.core != nil else { throw ended(handle) }
        throw Failure(
            .domain,
            "the calling thread has not entered the context: each thread leaves the contexts that it has entered")
    }

    /// Subtracts entries of a context that are gone. Its end may wait for that.
    private static func ended(_ handle: ContextHandle, entries: UInt64) {
        try? use(handle) { (contexts, context, garbage) throws(Failure) in
            let former = iv_sub_u64(iv_context_work(context), entries &* IV_CONTEXT_INSIDE)
            if former & UInt64(IV_CONTEXT_ENDING) != 0 { garbage.wakes = true }
        }
    }

    /// How often the calling thread has entered a context and not left it.
    static func entries(of handle: ContextHandle, _ core: Core) -> UInt64 {
        guard let reader = Readers.own(core), let entered = reader.pointee.entered else { return 0 }
        return UInt64((0..<Int(reader.pointee.entered_count)).count { entered[$0] == handle.bits })
    }

    /// Removes the entries from `count` on, which code of the runtime or a host has left.
    private static func truncate(to count: UInt32, _ core: Core) {
        guard let reader = Readers.own(core), let entered = reader.pointee.entered else { return }
        while reader.pointee.entered_count > count {
            reader.pointee.entered_count -= 1
            let entry = entered[Int(reader.pointee.entered_count)]
            if entry & marks == 0 { ended(ContextHandle(bits: entry), entries: 1) }
        }
    }

    /// At the end of the calling thread: it leaves all contexts.
    public static func leaveAll() {
        for core in Readers.cores() where !Readers.isParents(core) { truncate(to: 0, core) }
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
        let entry = currentEntry(core)
        return entry & ~marks == 0 ? nil : ContextHandle(bits: entry & ~marks)
    }

    private static func currentEntry(_ core: Core) -> UInt64 {
        guard !Readers.isParents(core), let reader = Readers.own(core), let entered = reader.pointee.entered else {
            return 0
        }
        for index in (0..<Int(reader.pointee.entered_count)).reversed() {
            if ContextHandle(bits: entered[index] & ~marks).core == core { return entered[index] }
            // Code of a context that has ended, or of none, does not see the contexts of its caller.
            if entered[index] & isWork != 0 { return 0 }
        }
        return 0
    }

    /// Runs a body with the context that is the current one now.
    public static func handOver(_ core: Core) -> @Sendable (_ body: () -> Void) -> Void {
        let (entry, core) = (currentEntry(core), CoreReference(core, tag: 0))
        return { body in run(entry == 0 ? isWork : entry | isVisit, core.core, body) }
    }

    /// Runs `body` without a current context.
    public static func outside(_ core: Core, _ body: () -> Void) { run(isWork, core, body) }

    /// Runs `body` with one more entry; without memory, with those of its caller.
    private static func run(_ entry: UInt64, _ core: Core, _ body: () -> Void) {
        let isAdded = entry != isWork || Readers.own(core)?.pointee.entered_count ?? 0 > 0
        let count = Readers.own(core)?.pointee.entered_count ?? 0
        guard isAdded, (try? push(entry, core)) != nil else { return body() }
        defer { truncate(to: count, core) }
        body()
    }

    /// Runs `body` as code of an object that lives in a context, or (nil) in none.
    public static func working<Result>(
        in home: ContextHandle?, _ core: Core, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // A context that has ended is none.
        let home = home.flatMap { $0.core == core ? $0 : nil }
        guard home != nil || Readers.own(core)?.pointee.entered_count ?? 0 > 0 else { return try body() }
        let entry = (home?.bits ?? 0) | isWork
        let count = Readers.own(core)?.pointee.entered_count ?? 0
        try push(entry, core)
        // With those that the code has entered and not left.
        defer { truncate(to: count, core) }
        return try body()
    }

    /// The same for code that runs in any case: without memory, it runs with the current context of its caller.
    public static func workingAlways(in home: ContextHandle?, _ core: Core, _ body: () -> Void) {
        let home = home.flatMap { $0.core == core ? $0 : nil }
        run((home?.bits ?? 0) | isWork, core, body)
    }

    /// Runs `body` with an open context of the runtime as the current one.
    public static func visiting<Result>(
        _ context: ContextHandle, _ core: Core, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        guard let own = context.core else { throw ended(context) }
        guard own == core else { throw Failure(.handle, "the context belongs to another runtime") }
        let count = Readers.own(core)?.pointee.entered_count ?? 0
        try push(context.bits | isVisit, core)
        defer { truncate(to: count, core) }
        return try body()
    }

    /// The contexts in whose builds or hooks the calling thread is.
    static func working(_ core: Core) -> [ContextHandle] {
        guard let reader = Readers.own(core), let entered = reader.pointee.entered else { return [] }
        return (0..<Int(reader.pointee.entered_count)).compactMap { index in
            entered[index] & isWork != 0 && entered[index] != isWork
                ? ContextHandle(bits: entered[index] & ~marks) : nil
        }
    }
}
