public import CInvivo
import Synchronization

/// The object behind an `invivo_error *`: a failure, with C strings that stay valid until the error is released.
///
/// Strings, causes and parts are created on first access, so that wrapping an error has a constant cost. Any thread may
/// read it; no lock is taken.
public final class ErrorBox: Sendable {
    public let failure: Failure
    private let madeStrings = AtomicLazyReference<ErrorStrings>()
    private let madeText = AtomicLazyReference<ErrorText>()
    private let madeCause = AtomicLazyReference<ErrorBox>()
    private let madeParts = AtomicLazyReference<ErrorParts>()
    private static let live = Atomic<Int>(0)

    /// The number of errors that hosts own, without causes and parts.
    public static var liveCount: Int { live.load(ordering: .relaxed) }

    /// An error that Swift owns; C may borrow it.
    public init(_ failure: Failure) { self.failure = failure }

    /// Instantiates every generic type that an error uses, once in a process. Swift does this at the first use, under a
    /// lock. A forked child, which also creates errors, would wait for that lock forever if another thread held it at
    /// the fork.
    public static func prepare() { _ = prepared }

    private static let prepared: Void = {
        // An error with every part, as the functions of the ABI create it.
        let text = cString("text")
        var failure = ErrorBox.failure(
            hostCode: Status.host.rawValue, message: text, path: text,
            cause: ErrorBox.failure(hostCode: .max, message: nil, path: nil, cause: nil))
        failure.location = Location(file: "file", line: 1, column: 1)
        failure.finding = Finding.allCases.first
        let other = ErrorBox.failure(status: Status.host.rawValue, error: nil, from: "")
        let whole = Failure.gathered([failure, other].flatMap(\.all)) ?? failure
        let owned = make(whole.under("text"))
        let error = ErrorBox(whole)
        _ = (error.message, error.path, error.file, error.rule, error.neededBy, error.text, error.cause, error.count)
        _ = (error.part(0), error.part(1), at(owned)?.text, take(owned))
        _ = StatusTable.entry(Status.host.rawValue)
    }()

    // MARK: The owned pointer

    /// An error that C owns. Ended by `release`, or by being taken over.
    public static func make(_ failure: Failure) -> OpaquePointer {
        live.add(1, ordering: .relaxed)
        return OpaquePointer(Unmanaged.passRetained(ErrorBox(failure)).toOpaque())
    }

    public static func release(_ error: OpaquePointer?) {
        _ = take(error)
    }

    /// The box behind a borrowed pointer; nil for NULL.
    public static func at(_ error: OpaquePointer?) -> ErrorBox? {
        error.map { Unmanaged<ErrorBox>.fromOpaque(UnsafeRawPointer($0)).takeUnretainedValue() }
    }

    // MARK: Borrowed strings and errors

    /// The error as C borrows it, as long as Swift retains it.
    public var borrowed: OpaquePointer { OpaquePointer(Unmanaged.passUnretained(self).toOpaque()) }

    public var message: UnsafePointer<CChar> { strings.message.pointer }
    public var path: UnsafePointer<CChar> { strings.path.pointer }
    public var file: UnsafePointer<CChar> { strings.file.pointer }
    public var rule: UnsafePointer<CChar> { strings.rule.pointer }
    public var neededBy: UnsafePointer<CChar> { strings.neededBy.pointer }
    public var text: UnsafePointer<CChar> {
        (madeText.load() ?? madeText.storeIfNil(ErrorText(failure.text))).text.pointer
    }
    public var cause: OpaquePointer? {
        if let made = madeCause.load() { return made.borrowed }
        return failure.cause.first.map { madeCause.storeIfNil(ErrorBox($0)).borrowed }
    }
    public var count: Int { failure.others.isEmpty ? 1 : parts.count }

    public func part(_ index: Int) -> OpaquePointer? {
        if failure.others.isEmpty { return index == 0 ? borrowed : nil }
        return parts.indices.contains(index) ? parts[index].borrowed : nil
    }

    private var strings: ErrorStrings { madeStrings.load() ?? madeStrings.storeIfNil(ErrorStrings(failure)) }
    private var parts: [ErrorBox] {
        (madeParts.load() ?? madeParts.storeIfNil(ErrorParts(failure.all.map(ErrorBox.init)))).boxes
    }
}

/// The C strings of one error; `store` frees them.
private final class ErrorStrings: Sendable {
    let store = CStrings()
    let message, path, file, rule, neededBy: CText

    init(_ failure: Failure) {
        let empty = CText.empty
        message = failure.message.isEmpty ? empty : store.text(failure.message)
        path = failure.path.isEmpty ? empty : store.text(failure.path)
        file = failure.location.file.isEmpty ? empty : store.text(failure.location.file)
        rule = failure.finding.map { [store] in store.text($0.rawValue) } ?? empty
        neededBy = failure.neededBy.isEmpty ? empty : store.text(failure.dependentPath)
    }
}

/// The whole text of an error.
private final class ErrorText: Sendable {
    private let store = CStrings()
    let text: CText

    init(_ text: String) { self.text = store.text(text) }
}

private final class ErrorParts: Sendable {
    let boxes: [ErrorBox]

    init(_ boxes: [ErrorBox]) { self.boxes = boxes }
}

/// "" as C knows it: never freed.
public enum EmptyText {
    public static var pointer: UnsafePointer<CChar> { cString("") }
}

/// A literal as a C string that is never freed.
public func cString(_ literal: StaticString) -> UnsafePointer<CChar> {
    UnsafeRawPointer(literal.utf8Start).assumingMemoryBound(to: CChar.self)
}

// MARK: - The funnel

/// Reports a failure to C: returns the status and, on request, an owned error.
public func report(
    _ failure: Failure, _ error: UnsafeMutablePointer<OpaquePointer?>?
) -> invivo_status {
    error?.pointee = ErrorBox.make(failure)
    return failure.code == .ok ? Status.internalFault.rawValue : failure.code.rawValue
}

/// Runs the body of one ABI function and returns its status.
public func answering(
    _ error: UnsafeMutablePointer<OpaquePointer?>?, _ body: () throws(Failure) -> Void
) -> invivo_status {
    do {
        try Failure.refuseWhileAsking()
        try body()
        return Status.ok.rawValue
    } catch let failure {
        return report(failure, error)
    }
}

// MARK: - Failures of host code

extension ErrorBox {
    /// Takes over an owned error from C, once. Nil for NULL.
    public static func take(_ error: OpaquePointer?) -> Failure? {
        guard let error else { return nil }
        live.subtract(1, ordering: .relaxed)
        return Unmanaged<ErrorBox>.fromOpaque(UnsafeRawPointer(error)).takeRetainedValue().failure
    }

    /// The failure of an error that host code creates. An invalid code, or success, is treated as a failure of host
    /// code.
    public static func failure(
        hostCode: invivo_status, message: UnsafePointer<CChar>?, path: UnsafePointer<CChar>?, cause: Failure?
    ) -> Failure {
        let entry = hostCode == 0 ? nil : StatusTable.entry(hostCode)
        let code = entry == nil ? Status.host : Status(rawValue: hostCode)
        let text = message.map { String(cString: $0) } ?? entry?.text.description ?? "host code failed"
        return Failure(code, text, path: path.map { String(cString: $0) } ?? "", cause: cause)
    }

    /// Returns the failure of a callback: the error that it created, whose ownership is taken, or one from its status. `who`
    /// names the callback.
    public static func failure(status: invivo_status, error: OpaquePointer?, from who: String) -> Failure {
        if let failure = take(error) { return failure }
        let code = StatusTable.entry(status) == nil ? Status.host : Status(rawValue: status)
        let text = StatusTable.entry(status).map { $0.text.description } ?? "an unknown status"
        return Failure(code, "\(who) failed with status \(status): \(text)")
    }
}
