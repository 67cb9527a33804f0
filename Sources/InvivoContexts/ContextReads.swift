public import CInvivo
internal import CPlatform
public import InvivoBase

/// Reads of values without locks, and of the chain of contexts. No class, so that a call needs no metatype.
public enum ContextReads {
    /// A found value (`value`, owned by the caller), or why there is none: IV_CONTEXT_..., or -1 for a handle that cannot be read.
    @inline(__always)
    public static func get(_ bits: UInt64, _ key: UInt64, isLocal: Bool, _ out: UnsafeMutablePointer<invivo_value>)
        -> Int32
    {
        let handle = ContextHandle(bits: bits)
        guard let core = handle.core else { return -1 }
        let tag = iv_load_u64(iv_core_tag(core))
        guard isKey(key, of: tag), let reader = ReadSection.begin(core, tag: tag) else { return -1 }
        defer { ReadSection.end(reader) }
        guard let context = handle.context else { return -1 }
        var found: UnsafePointer<iv_context_version>?
        let outcome = search(context, UInt32(truncatingIfNeeded: key), isLocal: isLocal, core, &found)
        guard outcome == IV_CONTEXT_FOUND, let found else { return outcome }
        guard let copy = Value.copyShared(RawVersion(mutating: found).valuePointer.pointee) else { return -2 }
        out.pointee = copy
        return 0
    }

    /// The found value, borrowed until the view of the thread ends; nil without one.
    public static func borrow(_ reader: Reader, _ owner: UInt32, _ bits: UInt64, _ key: UInt64)
        -> UnsafePointer<invivo_value>?
    {
        let handle = ContextHandle(bits: bits)
        guard reader.pointee.depth > 0, let core = handle.core, !Readers.isParents(core) else { return nil }
        let tag = iv_load_u64(iv_core_tag(core))
        guard isKey(key, of: tag), UInt32(truncatingIfNeeded: key >> 32) == owner else { return nil }
        ReadSection.beginForView(reader, core)
        guard let context = handle.context else { return nil }
        var found: UnsafePointer<iv_context_version>?
        guard search(context, UInt32(truncatingIfNeeded: key), isLocal: false, core, &found) == IV_CONTEXT_FOUND
        else { return nil }
        return found.map { UnsafePointer(RawVersion(mutating: $0).valuePointer) }
    }

    @inline(__always)
    private static func isKey(_ key: UInt64, of tag: UInt64) -> Bool {
        HandleBits(key).kind == HandleBits.keyKind && HandleBits(key).tag == tag
    }

    @inline(__always)
    private static func search(
        _ context: RawContext, _ key: UInt32, isLocal: Bool, _ core: Core,
        _ found: inout UnsafePointer<iv_context_version>?
    ) -> Int32 {
        if isLocal { return iv_context_search_local(context, key, &found) }
        let outcome = iv_context_search(context, key, &found)
        guard outcome == IV_CONTEXT_NOTHING, let defaults = iv_core_context_defaults(core) else { return outcome }
        guard let initial = iv_context_look(defaults, key, .max) else { return outcome }
        // The default may be newer than the search, and a value newer than both. The default is there from now on: a second search
        // decides.
        let again = iv_context_search(context, key, &found)
        guard again == IV_CONTEXT_NOTHING else { return again }
        found = initial
        return Int32(IV_CONTEXT_FOUND)
    }
}

// MARK: the chain

extension Contexts {
    /// The parent of a context; nil if it has none.
    public static func parent(of handle: ContextHandle) throws(Failure) -> ContextHandle? {
        try use(handle) { (contexts, context, _) throws(Failure) in
            guard let parent = context.pointee.parent else { return nil }
            return try contexts.locked(context) { () throws(Failure) in
                guard iv_load_u64(iv_context_ended(parent)) == 0 else { throw orphaned(contexts, context, nil) }
                return ContextHandle(of: parent)
            }
        }
    }

    /// The context and those above it, which are marked as observed from here on. Ends where a parent has ended.
    public static func observedChain(from handle: ContextHandle) throws(Failure) -> [ContextHandle] {
        try use(handle) { (contexts, context, _) throws(Failure) in
            try contexts.locked(context) { () throws(Failure) in
                try contexts.requireOpen(context)
                var chain: [ContextHandle] = []
                var next: RawContext? = context
                while let level = next, iv_load_u64(iv_context_ended(level)) == 0 {
                    iv_context_set_observed(level, 1)
                    chain.append(ContextHandle(of: level))
                    next = level.pointee.parent
                }
                return chain
            }
        }
    }

    /// The name of the kind of a context; nil if it has none.
    public static func kind(of handle: ContextHandle) throws(Failure) -> (contexts: Contexts, index: Int)? {
        try use(handle) { (contexts, context, _) throws(Failure) in
            context.pointee.kind == 0 ? nil : (contexts, Int(context.pointee.kind) - 1)
        }
    }

    /// The handle of the runtime of a context.
    public static func runtime(of handle: ContextHandle) throws(Failure) -> UInt64 {
        try use(handle) { (contexts, _, _) throws(Failure) in contexts.runtime }
    }

    /// The object of a context with a lease; 0 if it has none.
    public static func object(of handle: ContextHandle) throws(Failure) -> UInt64 {
        try use(handle) { (contexts, context, _) throws(Failure) in
            guard context.pointee.object != 0 else { return 0 }
            guard ObjectTable.retain(context.pointee.object) else { throw Failure(.stale, "the context has ended") }
            return context.pointee.object
        }
    }

    public enum Wanted {
        case kind(String)
        /// A type, a supertype or an interface, or exactly a type.
        case type(String, isExact: Bool)
    }

    /// The nearest context upward.
    public static func find(_ handle: ContextHandle, _ wanted: Wanted, isAbove: Bool) throws(Failure) -> ContextHandle {
        try use(handle) { (contexts, context, _) throws(Failure) in
            let fits = try contexts.test(wanted)
            var next: RawContext? = isAbove ? context.pointee.parent : context
            while let level = next {
                let found = try contexts.locked(context) { () throws(Failure) -> ContextHandle in
                    guard iv_load_u64(iv_context_ended(level)) == 0 else {
                        throw level == context
                            ? Failure(.stale, "the context has ended") : orphaned(contexts, context, nil)
                    }
                    return ContextHandle(of: level)
                }
                if fits(level) { return found }
                next = level.pointee.parent
            }
            let what =
                switch wanted {
                case .kind(let name): "of the kind '\(name)'"
                case .type(let name, _): "with an object of the type '\(name)'"
                }
            throw Failure(.notFound, "\(contexts.description(of: context)) is in no context \(what)")
        }
    }

    private func test(_ wanted: Wanted) throws(Failure) -> (RawContext) -> Bool {
        switch wanted {
        case .kind(let name):
            let index = try kinds.index(named: name)
            return { Int($0.pointee.kind) == index + 1 }
        case .type(let name, let isExact):
            return { context in
                guard context.pointee.object != 0 else { return false }
                return isExact
                    ? ObjectLease.typeOf(context.pointee.object)?.name.isSameName(as: name) == true
                    : ContextTypes.isKind(context.pointee.object, of: name)
            }
        }
    }
}

// MARK: homes

extension Contexts {
    /// The nearest context of a kind, or (nil) the given one, for an object.
    public static func home(from start: ContextHandle, kind: Int?) throws(Failure) -> ContextHandle {
        guard let kind else { return start }
        return try use(start) { (contexts, context, _) throws(Failure) in
            var next: RawContext? = context
            while let level = next {
                let handle = ContextHandle(of: level)
                guard iv_load_u64(iv_context_ended(level)) == 0 else { throw orphaned(contexts, context, nil) }
                if Int(level.pointee.kind) == kind + 1 { return handle }
                next = level.pointee.parent
            }
            throw Failure(
                .notReady,
                "\(contexts.chain(from: context)) is in no context of the kind '\(contexts.kinds.kind(at: kind)?.name ?? "?")'"
            )
        }
    }

    /// The value that a lookup from a context finds, with leases of its own; nil if there is none, or if it is hidden.
    public static func value(of key: UInt64, in context: ContextHandle) throws(Failure) -> Value? {
        var copy = invivo_null()
        let outcome = ContextReads.get(context.bits, key, isLocal: false, &copy)
        switch outcome {
        case 0:
            defer { Value.free(&copy) }
            return try Value(borrowing: copy)
        case Int32(IV_CONTEXT_NOTHING), Int32(IV_CONTEXT_IS_HIDDEN): return nil
        case -2: throw Failure(.memory, "no memory for a value of a context")
        default: throw readFailure(context, key, outcome: outcome, isLocal: false)
        }
    }

    /// "the context 'window' (in 'session')", for messages.
    public static func chain(of handle: ContextHandle) -> String {
        (try? use(handle) { (contexts, context, _) throws(Failure) in contexts.chain(from: context) }) ?? "the context"
    }

    /// "the context 'window' (in 'session')", for messages. In a section.
    func chain(from context: RawContext) -> String {
        var names: [String] = []
        var next = context.pointee.parent
        while let level = next, names.count < 8 {
            names.append(kindName(of: level).map { "'\($0)'" } ?? "a context without a kind")
            next = level.pointee.parent
        }
        return description(of: context) + (names.isEmpty ? "" : " (in \(names.joined(separator: ", in ")))")
    }

    /// Whether the context is ending.
    public static func isEnding(_ handle: ContextHandle) -> Bool {
        (try? use(handle) { (_, context, _) throws(Failure) in
            iv_load_u64(iv_context_work(context)) & UInt64(IV_CONTEXT_ENDING) != 0
        }) ?? true
    }

    /// "the context 'request' (opened at server.c:12)", for messages.
    public static func name(of handle: ContextHandle) -> String {
        (try? use(handle) { (contexts, context, _) throws(Failure) in contexts.description(of: context) })
            ?? "the context"
    }
}
