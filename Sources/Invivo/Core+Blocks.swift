internal import CInvivo

extension Core {
    /// The registered type of a block. Blocks of the same name must be equal. The type has the initial content of the
    /// first block; that of another one is part of its definition.
    func blockType<Content>(_ block: Block<Content>) throws(InvivoError) -> invivo_type {
        if let problem = block.layout.problems.first { throw problem }
        return try registering.withLock { _ throws(InvivoError) in
            if let bits = registry.withLock({ $0.blocks[block.typeName] }) {
                guard bits.content == ObjectIdentifier(Content.self), bits.names == block.layout.fields.map(\.name)
                else {
                    throw InvivoError(
                        .exists, "the type '\(block.typeName)' belongs to another block; give this one a typeName",
                        path: block.key)
                }
                return invivo_type(bits: bits.type)
            }
            let image = block.layout.image
            var handle = invivo_type()
            try withArena { arena throws(InvivoError) in
                var options = invivo_type_options()
                options.struct_size = MemoryLayout<invivo_type_options>.size
                options.name = try arena.name(block.typeName)
                options.concurrency = UInt32(INVIVO_SHARED)
                options.block_size = UInt64(image.count)
                options.block_initial = UnsafeRawPointer(arena.table(image))
                var properties: [invivo_property] = []
                for field in block.layout.fields { properties.append(try field.described(arena, box: nil)) }
                options.properties = UnsafePointer(arena.table(properties))
                options.property_count = UInt64(properties.count)
                try call { $0.pointee.type_register(self.handle, &options, &handle, $1) }
            }
            let entry = Registry.BlockType(
                type: handle.bits, content: ObjectIdentifier(Content.self), names: block.layout.fields.map(\.name))
            registry.withLock { registry in
                registry.blocks[block.typeName] = entry
                registry.blockContents[entry.type] = entry.content
            }
            return handle
        }
    }

    /// The key of a declared block, as `Content`. A block that was declared in Swift must have this very struct. For
    /// other blocks, the tunable fields must lie within the struct and cover it up to padding.
    func blockKey<Content>(_ name: String, as type: Content.Type) throws(InvivoError) -> BlockKey<Content> {
        var handle = invivo_key()
        try call(naming: name) { $0.pointee.key_find(self.handle, $1, &handle, $2) }
        let view = beginView()
        defer { table.pointee.view_end(view) }
        guard let entry = invivo_view_entry(view, handle), let block = entry.pointee.block else {
            throw InvivoError(.notFound, "the key has no block", path: name)
        }
        let described = invivo_type(bits: entry.pointee.type)
        let declared = registry.withLock { $0.blockContents[described.bits] }
        guard declared.map({ $0 == ObjectIdentifier(Content.self) }) ?? mayLieIn(Content.self, described) else {
            throw InvivoError(
                .type, "the block of \(TypeReference(self, described).name) has not the layout of \(Content.self)",
                path: name)
        }
        return BlockKey(handle, type: described.bits, initial: block.load(as: Content.self), name: name)
    }

    private func mayLieIn<Content>(_ content: Content.Type, _ type: invivo_type) -> Bool {
        var end = 0
        for index in 0..<table.pointee.type_property_count(type) {
            var property = invivo_property()
            property.struct_size = MemoryLayout<invivo_property>.size
            guard table.pointee.type_property_at(type, index, &property) == 0 else { return false }
            if property.get == nil { end = max(end, Int(property.offset + property.size)) }
        }
        return end <= MemoryLayout<Content>.size && MemoryLayout<Content>.size - end < 8
    }
}
