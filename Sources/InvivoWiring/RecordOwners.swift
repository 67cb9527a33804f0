internal import CPlatform
public import InvivoBase
public import InvivoGraph

extension ObjectType {
    /// Returns the type of an object.
    public static func of(_ record: Record) -> ObjectType {
        Unmanaged<ObjectType>.fromOpaque(record.pointee.type.pointee.owner).takeUnretainedValue()
    }
}

extension ObjectExtra {
    /// Returns the extra data of an object that has any. Other threads may add it at any moment, so the word is only read
    /// atomically.
    public static func known(of record: Record) -> ObjectExtra? {
        iv_load_pointer(iv_record_extra(record)).map {
            Unmanaged<ObjectExtra>.fromOpaque($0).takeUnretainedValue()
        }
    }

    /// Returns the extra data of an object, and creates it if there is none. Several threads may call at once.
    public static func of(_ record: Record) -> ObjectExtra {
        if let extra = known(of: record) { return extra }
        let fresh = Unmanaged.passRetained(ObjectExtra())
        guard let first = iv_store_first(iv_record_extra(record), fresh.toOpaque()) else {
            return fresh.takeUnretainedValue()
        }
        fresh.release()
        return Unmanaged<ObjectExtra>.fromOpaque(first).takeUnretainedValue()
    }
}
