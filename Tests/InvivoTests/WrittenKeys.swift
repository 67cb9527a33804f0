// Written by `invivo keys`; do not edit. A function for each key, by assembly.

import Invivo

/// An object of the type Any.
public struct AnyHandle: Sendable {
    public let object: Object
    public init(object: Object) { self.object = object }
}

/// An object of the type Ghost.
public struct GhostHandle: Sendable {
    public let object: Object
    public init(object: Object) { self.object = object }
}

/// An object of the type Knight.
public struct KnightHandle: Sendable {
    public let object: Object
    public init(object: Object) { self.object = object }
    public var asThing: ThingHandle { .init(object: object) }
}

/// An object of the type Thing.
public struct ThingHandle: Sendable {
    public let object: Object
    public init(object: Object) { self.object = object }
    public var asAny: AnyHandle { .init(object: object) }
}

extension Runtime {
    /// Keys without an assembly.
    public var rootKeys: RootKeys { RootKeys(runtime: self) }
}

public struct RootKeys: Sendable {
    let runtime: Runtime

    private enum Known {
        static let ghostKey = WrittenKey("ghost_key")
    }

    /// `ghost_key`: prototype.
    public func ghostKey() throws(InvivoError)
        -> GhostHandle?
    {
        try runtime.objectIfAny(Known.ghostKey, with: []).map(GhostHandle.init)
    }
}

extension Runtime {
    /// The keys of the assembly camelot.
    public var camelotKeys: CamelotKeys { CamelotKeys(runtime: self) }
}

public struct CamelotKeys: Sendable {
    let runtime: Runtime

    private enum Known {
        static let any = WrittenKey("camelot.any")
        static let galahad = WrittenKey("camelot.galahad")
        static let knight = WrittenKey("camelot.knight")
        static let table = WrittenKey("camelot.table")
    }

    /// `camelot.any`: prototype.
    public func any(runtime_: Bool, `class`: UInt8, rate: Double, name: String, more: InvivoValue? = nil, level: Float? = nil) throws(InvivoError)
        -> ThingHandle
    {
        ThingHandle(object: try runtime.object(Known.any, with: [runtime_, `class`, rate, name, more, level]))
    }

    /// `camelot.galahad`: stands for camelot.knight.
    public func galahad(number: Int64? = nil) throws(InvivoError)
        -> KnightHandle
    {
        KnightHandle(object: try runtime.object(Known.galahad, with: [number]))
    }

    /// `camelot.knight`: prototype.
    public func knight(quest: ThingHandle, number: Int64? = nil) throws(InvivoError)
        -> KnightHandle
    {
        KnightHandle(object: try runtime.object(Known.knight, with: [quest.object, number]))
    }

    /// `camelot.table`: lazy singleton.
    public func table() throws(InvivoError)
        -> ThingHandle
    {
        ThingHandle(object: try runtime.object(Known.table, with: []))
    }
}

extension Runtime {
    /// The keys of the assembly far.
    public var farKeys: FarKeys { FarKeys(runtime: self) }
}

public struct FarKeys: Sendable {
    let runtime: Runtime

    private enum Known {
        static let awayAny = WrittenKey("far.away.any")
        static let awayGalahad = WrittenKey("far.away.galahad")
        static let awayKnight = WrittenKey("far.away.knight")
        static let awayTable = WrittenKey("far.away.table")
    }

    /// `far.away.any`: prototype.
    public func awayAny(runtime_: Bool, `class`: UInt8, rate: Double, name: String, more: InvivoValue? = nil, level: Float? = nil) throws(InvivoError)
        -> ThingHandle
    {
        ThingHandle(object: try runtime.object(Known.awayAny, with: [runtime_, `class`, rate, name, more, level]))
    }

    /// `far.away.galahad`: stands for far.away.knight.
    public func awayGalahad(number: Int64? = nil) throws(InvivoError)
        -> KnightHandle
    {
        KnightHandle(object: try runtime.object(Known.awayGalahad, with: [number]))
    }

    /// `far.away.knight`: prototype.
    public func awayKnight(quest: ThingHandle, number: Int64? = nil) throws(InvivoError)
        -> KnightHandle
    {
        KnightHandle(object: try runtime.object(Known.awayKnight, with: [quest.object, number]))
    }

    /// `far.away.table`: lazy singleton.
    public func awayTable() throws(InvivoError)
        -> ThingHandle
    {
        ThingHandle(object: try runtime.object(Known.awayTable, with: []))
    }
}
