public import CPlatform
public import InvivoBase

/// A registered type of one runtime: its description and the domain of its confined objects. Immutable.
///
/// Unchecked: the owner is a runtime, which any thread may have, and `raw` points to memory that does not change.
public final class ObjectType: @unchecked Sendable {
    public let description: TypeDescription
    /// The owner of the type's objects, which is their runtime. It holds the types, and objects that survive a deferred close
    /// keep it by this reference.
    public let owner: AnyObject
    /// The names of the runtime's keys.
    public let keys: KeyNames
    /// The domain of confined objects, for the layer above; nil for shared types, whose objects any thread may touch.
    public let access: Access?

    /// The threads that may touch the objects of a confined type.
    public struct Access: Sendable {
        public let domain: any AnyObject & Sendable
        let thread: UInt64
        let isKnownByThread: Bool

        /// `thread` is the only thread that may resolve them; 0 stands for any thread, `.max` for none. `isKnownByThread` is false if
        /// only the domain can tell whether the calling code may touch them.
        public init(_ domain: any AnyObject & Sendable, thread: UInt64, isKnownByThread: Bool) {
            self.domain = domain
            self.thread = thread
            self.isKnownByThread = isKnownByThread
        }
    }

    public var isConfined: Bool { access != nil }

    /// The properties that are injected into every object of the type.
    public let needs: [Injection]

    /// The part that hot paths read.
    public let raw: UnsafeMutablePointer<iv_type>
    private let image: UnsafeMutableRawPointer?

    public init(
        _ description: TypeDescription, owner: AnyObject, keys: KeyNames, access: Access?, needs: [Injection] = []
    ) {
        self.description = description
        self.needs = needs
        self.owner = owner
        self.keys = keys
        self.access = access
        raw = .allocate(capacity: 1)
        raw.initialize(to: iv_type())
        if description.size > 0 && !description.properties.isEmpty {
            let bytes = UnsafeMutableRawPointer.allocate(byteCount: description.size, alignment: 16)
            bytes.initializeMemory(as: UInt8.self, repeating: 0, count: description.size)
            description.applyInitialValues(to: bytes)
            image = bytes
        } else {
            image = nil
        }
        fillRaw()
    }

    private func fillRaw() {
        let functions = description.functions
        let alignment = max(16, description.alignment)
        raw.pointee.owner = Unmanaged.passUnretained(self).toOpaque()
        raw.pointee.container = Unmanaged.passUnretained(owner).toOpaque()
        raw.pointee.size = UInt64(description.size)
        raw.pointee.offset = UInt64((MemoryLayout<iv_record>.size + alignment - 1) & ~(alignment - 1))
        raw.pointee.image = UnsafeRawPointer(image)
        raw.pointee.`init` = unsafeBitCast(functions.initialize, to: type(of: raw.pointee.`init`))
        raw.pointee.end = description.size > 0 ? functions.deinitialize : functions.release
        raw.pointee.user_data = description.userData
        raw.pointee.thread = access?.thread ?? 0
        raw.pointee.handle = description.handleBits
        let needsNothing = description.signature.parameters.allSatisfy(\.isOptional)
        // If the domain is not one thread, only the domain can tell which code may touch a prototype. The general path
        // asks it.
        let isSimple =
            (access?.isKnownByThread ?? true) && description.size > 0 && alignment == 16
            && !functions.haveLife && functions.willInject == nil && !functions.hasCompletionHook
        raw.pointee.is_simple = isSimple ? 1 : 0
        raw.pointee.is_plain = isSimple && needsNothing ? 1 : 0
        raw.pointee.has_stop = functions.areEnded ? 1 : 0
        raw.pointee.has_weak = description.hasWeakReferences ? 1 : 0
    }

    deinit {
        raw.deallocate()
        image?.deallocate()
    }

    public var name: String { description.name }
    /// Whether its objects are prepared, started, set up, stopped or torn down.
    public var hasLife: Bool { description.functions.haveLife }
    /// Whether its objects acquire something when they are started and release it when they are stopped.
    public var canBeExclusive: Bool { description.functions.start != nil && description.functions.stop != nil }
    /// Whether it is nothing but a block, of which no instance is created.
    public var isBlockOnly: Bool { description.isBlockOnly }
    /// Whether it is a block with values.
    public var hasOnlyValues: Bool { isBlockOnly && description.blockSize > 0 }
}
