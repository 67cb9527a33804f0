internal import CInvivo
internal import Glibc

/// A build plan of Swift objects, which runs without the library: the outline of a key (`invivo_key_outline`), with the
/// initializers of its definitions called one after the other.
///
/// Compiled at the second call of a definition, for a version of its key. Hooks, injections, arguments and values that
/// are no class are not supported; they are left to a resolve. Shared objects are read in one view, so that a graph
/// belongs to one generation while other threads commit. An initializer that uses the runtime itself must find the
/// shared objects of its graph. A plan with such an initializer is abandoned, and the graph is resolved.
final class Plan: @unchecked Sendable {
    /// The calls of the steps, in their order.
    private struct Making {
        /// Kept by `steps`.
        let direct: Unmanaged<Draft.Direct>
        /// The index of its first argument in `taken`.
        let first: Int
        /// The number of the created object.
        let number: Int
    }

    private struct Step {
        let direct: Draft.Direct
        let first: Int
        let key: String
        let file: String
        let line: Int
    }

    private let core: Core
    private let word: UnsafePointer<UInt64>
    private let version: UInt64
    private let shared: [(key: invivo_key, type: UInt64)]
    private let steps: [Step]
    private let makings: UnsafeMutablePointer<Making>
    /// The indices of the arguments, as `Instances` reads them; freed with the plan.
    private let taken: UnsafeMutablePointer<Int32>
    /// The number of the outermost object.
    private let outermost: Int

    enum Outcome {
        case made(UnsafeMutableRawPointer)
        /// A shared object is unavailable here, or a reload was committed: this call resolves.
        case resolve
        /// An initializer uses the runtime.
        case givenUp
    }

    var holds: Bool { invivo_version_read(word) == version }

    deinit {
        taken.deallocate()
        makings.deallocate()
    }

    // MARK: - Compiling

    init?(_ core: Core, _ key: invivo_key, result: AnyClass) {
        // Keeps the definitions that the outline names, also if they are replaced meanwhile.
        let view = core.table.pointee.view_begin(core.handle)
        defer { core.table.pointee.view_end(view) }
        guard let word = core.table.pointee.key_version(key) else { return nil }
        let version = invivo_version_read(word)
        var raw = invivo_null()
        guard core.table.pointee.key_outline(core.handle, key, &raw, nil) == 0 else { return nil }
        defer { core.table.pointee.value_clear(&raw) }
        guard let compiled = Compiler(core).compile(raw, result) else { return nil }
        self.core = core
        self.word = word
        self.version = version
        shared = compiled.shared
        steps = compiled.steps
        let offset = shared.count
        outermost = (compiled.numbers.last ?? 0) + offset
        taken = .allocate(capacity: max(1, compiled.taken.count))
        // The last receiver of an object gets the plan's own reference. The caller gets that of the outermost object.
        var isTaken: Set<Int> = [outermost]
        for (index, source) in compiled.taken.enumerated().reversed() {
            let number = source.isShared ? source.number : source.number + offset
            taken[index] = isTaken.insert(number).inserted ? ~Int32(number) : Int32(number)
        }
        makings = .allocate(capacity: max(1, steps.count))
        for (index, step) in steps.enumerated() {
            (makings + index).initialize(
                to: Making(
                    direct: .passUnretained(step.direct), first: step.first, number: compiled.numbers[index] + offset))
        }
    }

    private struct Compiler {
        let core: Core
        var shared: [(key: invivo_key, type: UInt64)] = []
        var steps: [Step] = []
        var numbers: [Int] = []
        var taken: [(number: Int, isShared: Bool)] = []
        private var classes: [Int: AnyClass] = [:]
        private var last: AnyClass?

        init(_ core: Core) { self.core = core }

        /// Compiles an outline; nil when a plan does not support it.
        func compile(_ outline: invivo_value, _ result: AnyClass) -> Compiler? {
            var compiler = self
            guard outline["parameters"]?.list.isEmpty == true, let steps = outline["steps"]?.list, !steps.isEmpty else {
                return nil
            }
            for step in steps { guard compiler.add(step) else { return nil } }
            guard let last = compiler.last, last == result || isKind(last, of: result) else { return nil }
            return compiler
        }

        private mutating func add(_ step: invivo_value) -> Bool {
            guard let number = step["make"]?.as.signed_integer, let type = step["type"]?.as.type,
                let function = step["function"]?.as.unsigned_integer, let data = step["data"]?.as.unsigned_integer,
                let factory = Factory.own(function, data), let direct = factory.direct,
                let instances = core.registry.withLock({ $0.types[type.bits]?.instances }),
                let arguments = step["arguments"]?.list, arguments.count == direct.parameters.count
            else { return false }
            let first = taken.count
            for (argument, parameter) in zip(arguments, direct.parameters as [Any.Type?]) {
                guard let parameter, let found = source(argument), isKind(found.instances, of: parameter) else {
                    return false
                }
                taken.append((found.number, found.isShared))
            }
            classes[Int(number)] = instances
            if step["for"]?.as.signed_integer == -1 { last = instances }
            numbers.append(Int(number))
            steps.append(
                Step(
                    direct: direct, first: first, key: step["key"]?.text ?? "", file: step["file"]?.text ?? "",
                    line: Int(step["line"]?.as.signed_integer ?? 0)))
            return true
        }

        private mutating func source(
            _ source: invivo_value
        ) -> (number: Int, isShared: Bool, instances: AnyClass)? {
            if let number = source["object"]?.as.signed_integer, let instances = classes[Int(number)] {
                return (Int(number), false, instances)
            }
            guard let value = source["value"], value.kind == InvivoKind.object.rawValue else { return nil }
            var key = invivo_key()
            var type = invivo_type()
            guard core.table.pointee.object_key(value.as.object, &key, nil) == 0, key.bits != 0,
                core.table.pointee.object_type(value.as.object, &type, nil) == 0,
                let instances = core.registry.withLock({ $0.types[type.bits]?.instances })
            else { return nil }
            let index =
                shared.firstIndex { $0.key.bits == key.bits }
                ?? {
                    shared.append((key, type.bits))
                    return shared.count - 1
                }()
            return (index, true, instances)
        }
    }

    // MARK: - Making

    /// Creates the graph. The caller owns the reference to its outermost object.
    func make() throws(InvivoError) -> Outcome {
        do {
            return try withUnsafeTemporaryAllocation(
                of: UnsafeMutableRawPointer?.self, capacity: shared.count + steps.count
            ) { try make($0) }
        } catch { throw InvivoError(error) }
    }

    private func make(_ all: UnsafeMutableBufferPointer<UnsafeMutableRawPointer?>) throws -> Outcome {
        all.initialize(repeating: nil)
        guard let base = all.baseAddress, !core.isInTaskPin else { return .resolve }
        if !shared.isEmpty || !holds {
            let view = core.table.pointee.view_begin(core.handle)
            defer { core.table.pointee.view_end(view) }
            guard holds else { return .resolve }
            for (index, source) in shared.enumerated() {
                guard let instance = core.instance(view, source.key, source.type) else {
                    Self.release(base, index)
                    return .resolve
                }
                base[index] = Unmanaged<AnyObject>.fromOpaque(instance).retain().toOpaque()
            }
        }
        let former = Planning.enter(core)
        var index = 0
        do {
            while index < steps.count {
                let making = makings[index]
                var instances = Instances(base, taken + making.first, base + making.number)
                try making.direct._withUnsafeGuaranteedRef { try $0.make(&instances) }
                index += 1
            }
        } catch {
            let isSpoilt = Planning.leave(former)
            Self.release(base, all.count)
            if isSpoilt { return .givenUp }
            throw located(error, steps[index])
        }
        let isSpoilt = Planning.leave(former)
        if isSpoilt {
            Self.release(base, all.count)
            return .givenUp
        }
        let made = base[outermost]
        base[outermost] = nil
        Self.release(base, all.count)
        return made.map { .made($0) } ?? .givenUp
    }

    private static func release(_ all: UnsafeMutablePointer<UnsafeMutableRawPointer?>, _ count: Int) {
        for index in (0..<count).reversed() {
            if let instance = all[index] { Unmanaged<AnyObject>.fromOpaque(instance).release() }
        }
    }

    /// The error of an initializer, with the source location of its definition.
    private func located(_ error: any Error, _ step: Step) -> InvivoError {
        var located = InvivoError(error)
        if located.path.isEmpty {
            located.path = step.key
            located.file = step.file
            located.line = step.line
        }
        return located
    }
}

/// Whether the calling thread runs a plan, and whether something in it uses its runtime.
@usableFromInline
enum Planning {
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()

    /// The runtime of the plan that runs, 0 for none; 1 if the plan was given up, 2 inside a callback of any runtime.
    private static var state: UInt { UInt(bitPattern: pthread_getspecific(key)) }

    /// Whether the calling code runs outside of any construction. Inside of one, new objects may belong to the graph
    /// under construction and reads become dependencies, so no plan may begin.
    @usableFromInline static var isOutside: Bool { state == 0 }

    static func beginCallback() -> UInt {
        let former = state
        pthread_setspecific(key, UnsafeRawPointer(bitPattern: former | 2))
        return former
    }

    static func endCallback(_ former: UInt) {
        pthread_setspecific(key, UnsafeRawPointer(bitPattern: former | (state & 1)))
    }

    static func enter(_ core: Core) -> UInt {
        let former = state
        pthread_setspecific(key, Unmanaged.passUnretained(core).toOpaque())
        return former
    }

    /// Returns whether the plan was given up.
    static func leave(_ former: UInt) -> Bool {
        let isSpoilt = state & 1 == 1
        pthread_setspecific(key, UnsafeRawPointer(bitPattern: former))
        return isSpoilt
    }

    /// Called by every resolve. Inside a plan of the runtime, abandons the plan and throws.
    static func notice(_ core: Core) throws(InvivoError) {
        let state = state
        guard state > 3, state & ~3 == UInt(bitPattern: Unmanaged.passUnretained(core).toOpaque()) else { return }
        pthread_setspecific(key, UnsafeRawPointer(bitPattern: state | 1))
        throw InvivoError(
            .inCallback, "the graph is resolved in another way, because this initializer uses the runtime")
    }
}

extension invivo_value {
    fileprivate subscript(name: StaticString) -> invivo_value? {
        guard kind == InvivoKind.map.rawValue else { return nil }
        return UnsafeBufferPointer(start: `as`.map.pairs, count: Int(`as`.map.count)).first { pair in
            Int(pair.length) == name.utf8CodeUnitCount && memcmp(pair.name, name.utf8Start, Int(pair.length)) == 0
        }?.value
    }

    fileprivate var list: UnsafeBufferPointer<invivo_value> {
        guard kind == InvivoKind.list.rawValue else { return UnsafeBufferPointer(start: nil, count: 0) }
        return UnsafeBufferPointer(start: `as`.list.items, count: Int(`as`.list.count))
    }

    fileprivate var text: String? {
        guard kind == InvivoKind.string.rawValue else { return nil }
        return String(
            decoding: UnsafeBufferPointer(start: `as`.string.data, count: Int(`as`.string.length)).lazy.map(
                UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
