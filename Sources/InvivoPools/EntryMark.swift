/// The mark of an object in the pool that it was first added to, by which the pool learns that the object has ended.
struct EntryMark {
    let pool: UInt32
    let shard: UInt64

    init(pool: UInt32, shard: UInt64) {
        self.pool = pool
        self.shard = shard
    }

    /// Reads the owner word of an object's slot: the runtime's tag in the low 28 bits, above it the mark.
    init(owner: UInt64) {
        let bits = owner >> 28 & 0x7_ffff_ffff
        pool = UInt32(bits >> 6)
        shard = bits & 63
    }

    /// As `ObjectTable.mark` takes it: 35 bits.
    var bits: UInt64 { UInt64(pool) << 6 | shard }
}
