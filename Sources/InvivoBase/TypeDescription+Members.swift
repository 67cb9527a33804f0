public import CInvivo

extension TypeDescription {
    /// The properties and methods of a type, found by name, and the initial bytes of its fields.
    struct Members: Sendable {
        let properties: [Property]
        let methods: [Method]
        /// For each property, whether setting it moves no other: a plain field of the instance that shares no byte with another.
        let movesNoOther: [Bool]
        private let propertyIndex: NameTable<(index: Int, formerName: Bool)>
        private let methodIndex: NameTable<Int>
        let instanceImage: InitialImage
        let blockImage: InitialImage

        /// `image` has `blockSize` bytes; nil stands for zeros.
        init(_ properties: [Property], _ methods: [Method], size: Int, blockSize: Int, image: UnsafeRawPointer?) {
            self.properties = properties
            self.methods = methods
            movesNoOther = Self.movingNoOther(properties)
            var propertyIndex: NameTable<(index: Int, formerName: Bool)> = [:]
            for (index, property) in properties.enumerated() {
                propertyIndex[property.name] = (index, false)
                for former in property.was { propertyIndex[former] = (index, true) }
            }
            self.propertyIndex = propertyIndex
            methodIndex = NameTable(methods.enumerated().map { ($1.name, $0) })
            instanceImage = InitialImage(size: size, properties.filter { !$0.isInBlock })
            blockImage = InitialImage(size: blockSize, properties.filter { $0.isInBlock }, over: image)
        }

        /// A property by its name or a former one.
        func property(named name: String, of type: String) throws(Failure) -> (property: Property, formerName: Bool) {
            guard let found = propertyIndex[name] else {
                let near = suggestion(for: name, among: properties.map(\.name))
                throw Failure(.property, "\(type) has no property '\(name)'\(near)", path: name)
            }
            return (properties[found.index], found.formerName)
        }

        func index(ofProperty name: String) -> Int? { propertyIndex[name]?.index }

        func method(named name: String, of type: String) throws(Failure) -> Method {
            guard let index = methodIndex[name] else {
                let near = suggestion(for: name, among: methods.map(\.name))
                throw Failure(.method, "\(type) has no method '\(name)'\(near)", path: name)
            }
            return methods[index]
        }

        private static func movingNoOther(_ properties: [Property]) -> [Bool] {
            var moves = properties.map { $0.isPlain && $0.isField && !$0.isInBlock }
            let fields = properties.indices.filter { properties[$0].isField && !properties[$0].isInBlock }
                .sorted { properties[$0].offset < properties[$1].offset }
            var end = 0
            for (at, index) in fields.enumerated() {
                let field = properties[index]
                let isBehindTheFormer = at == 0 || field.offset >= end
                if !isBehindTheFormer { moves[index] = false }
                end = max(end, field.offset + field.size)
                if at + 1 < fields.count, properties[fields[at + 1]].offset < end { moves[index] = false }
            }
            return moves
        }
    }

    /// The bytes of a zeroed struct that its initial values change, as one piece: from the first byte that is not zero to the last.
    struct InitialImage: Sendable {
        private let start: Int
        private let bytes: [UInt8]

        /// `given` has `size` bytes; nil stands for zeros.
        init(size: Int, _ properties: [Property], over given: UnsafeRawPointer? = nil) {
            // Fields of a struct that only the host knows the size of are the host's to fill.
            let end = size > 0 ? properties.filter(\.isField).map { $0.offset + $0.size }.max() ?? 0 : 0
            var image =
                given.map { Array(UnsafeRawBufferPointer(start: $0, count: size)) } ?? [UInt8](repeating: 0, count: end)
            image.withUnsafeMutableBytes { buffer in
                guard let base = buffer.baseAddress else { return }
                for property in properties { property.writeInitial(to: base) }
            }
            start = image.firstIndex { $0 != 0 } ?? 0
            bytes = Array(image[start..<(image.lastIndex { $0 != 0 }.map { $0 + 1 } ?? start)])
        }

        func apply(to base: UnsafeMutableRawPointer) {
            bytes.withUnsafeBytes { source in
                if let first = source.baseAddress { (base + start).copyMemory(from: first, byteCount: source.count) }
            }
        }
    }

    /// The strings and tables of a type that C borrows.
    struct Borrowed: Sendable {
        let store: CStrings
        let name: CText
        let parameters: CTable<invivo_parameter>
        let properties: CTable<invivo_property>
        let methods: CTable<invivo_method>
    }

    /// The name as C borrows it.
    public var cName: UnsafePointer<CChar> { borrowed.name.pointer }
    /// The constructor's parameters as C borrows them.
    public var cParameters: UnsafeBufferPointer<invivo_parameter> { borrowed.parameters.buffer }
    /// The properties and methods as C borrows them.
    public var cProperties: UnsafeBufferPointer<invivo_property> { borrowed.properties.buffer }
    public var cMethods: UnsafeBufferPointer<invivo_method> { borrowed.methods.buffer }

    public var properties: [Property] { members.properties }
    public var methods: [Method] { members.methods }

    /// A property by its name or a former one.
    public func property(named name: String) throws(Failure) -> (property: Property, formerName: Bool) {
        try members.property(named: name, of: self.name)
    }

    /// Returns the index of the property with this name, or with this former name, in the type.
    public func index(ofProperty name: String) -> Int? { members.index(ofProperty: name) }

    public func method(named name: String) throws(Failure) -> Method { try members.method(named: name, of: self.name) }

    /// The index of a property in the type.
    public func index(of property: Property) -> Int { properties.firstIndex { $0 === property } ?? 0 }

    /// Whether setting property number `index` moves no other.
    public func movesNoOther(_ index: Int) -> Bool { members.movesNoOther[index] }

    // MARK: Initial values

    /// Sets the initial values of the fields of an instance of `size` zeroed bytes.
    public func applyInitialValues(to instance: UnsafeMutableRawPointer) { members.instanceImage.apply(to: instance) }

    /// A copy of a block's bytes (`blockSize` bytes, or zeros), with the initial values that properties declare
    /// themselves. The values that properties read from it must be allowed.
    public func checkedBlock(_ given: UnsafeRawPointer?, under key: String) throws(Failure) -> [UInt8] {
        var image =
            given.map { Array(UnsafeRawBufferPointer(start: $0, count: blockSize)) }
            ?? Array(repeating: 0, count: blockSize)
        var failures: [Failure] = []
        image.withUnsafeMutableBytes { buffer in
            guard let base = buffer.baseAddress else { return }
            for property in properties where property.isInBlock {
                property.writeInitial(to: base)
                do throws(Failure) { _ = try property.checkedContent(property.read(base)) } catch {
                    failures.append(
                        Failure(error.code, "the initial value: \(error.message)", path: "\(key).\(property.name)"))
                }
            }
        }
        if let failure = Failure.gathered(failures) { throw failure }
        return image
    }

    /// Fills `blockSize` bytes with the block's initial values, zeros between them.
    public func writeInitialBlock(to block: UnsafeMutableRawPointer) {
        block.initializeMemory(as: UInt8.self, repeating: 0, count: blockSize)
        members.blockImage.apply(to: block)
    }
}
