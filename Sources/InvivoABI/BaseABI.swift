public import CInvivo
internal import Glibc
internal import InvivoBase

// base.h: status codes, versions, errors. Functions of errors return a neutral value for NULL.

@c @implementation
public func invivo_status_name(_ status: invivo_status) -> UnsafePointer<CChar>! {
    cString(StatusTable.entry(status)?.name ?? "INVIVO_E_UNKNOWN")
}

@c @implementation
public func invivo_status_text(_ status: invivo_status) -> UnsafePointer<CChar>! {
    cString(StatusTable.entry(status)?.text ?? "an unknown status")
}

@c @implementation
public func invivo_version() -> UInt32 {
    UInt32(INVIVO_VERSION_MAJOR) * 1_000_000 + UInt32(INVIVO_VERSION_MINOR) * 1_000 + UInt32(INVIVO_VERSION_PATCH)
}

// Keeps the one text whose pointer is handed out for as long as the process lives.
private let versionStore = CStrings()
private let versionText = versionStore.text(
    "\(INVIVO_VERSION_MAJOR).\(INVIVO_VERSION_MINOR).\(INVIVO_VERSION_PATCH)")

@c @implementation
public func invivo_version_text() -> UnsafePointer<CChar>! { versionText.pointer }

// MARK: - Errors

@c @implementation
public func invivo_error_make(
    _ code: invivo_status, _ message: UnsafePointer<CChar>!, _ path: UnsafePointer<CChar>!, _ cause: OpaquePointer!
) -> OpaquePointer! {
    ErrorBox.make(ErrorBox.failure(hostCode: code, message: message, path: path, cause: ErrorBox.take(cause)))
}

@c @implementation
public func invivo_error_make_at(
    _ code: invivo_status, _ message: UnsafePointer<CChar>!, _ path: UnsafePointer<CChar>!,
    _ file: UnsafePointer<CChar>!,
    _ line: UInt32, _ column: UInt32, _ cause: OpaquePointer!
) -> OpaquePointer! {
    var failure = ErrorBox.failure(hostCode: code, message: message, path: path, cause: ErrorBox.take(cause))
    failure.location = Location(file: file.map { String(cString: $0) } ?? "", line: line, column: column)
    return ErrorBox.make(failure)
}

@c @implementation
public func invivo_error_join(_ first: OpaquePointer!, _ second: OpaquePointer!) -> OpaquePointer! {
    guard let first, let second else { return first ?? second }
    return Failure.gathered([first, second].compactMap { ErrorBox.take($0) }.flatMap(\.all)).map(ErrorBox.make)
}

@c @implementation
public func invivo_error_copy(_ error: OpaquePointer!) -> OpaquePointer! {
    ErrorBox.at(error).map { ErrorBox.make($0.failure) }
}

@c @implementation
public func invivo_error_code(_ error: OpaquePointer!) -> invivo_status {
    ErrorBox.at(error)?.failure.code.rawValue ?? Status.ok.rawValue
}

@c @implementation
public func invivo_error_message(_ error: OpaquePointer!) -> UnsafePointer<CChar>! {
    ErrorBox.at(error)?.message ?? EmptyText.pointer
}

@c @implementation
public func invivo_error_path(_ error: OpaquePointer!) -> UnsafePointer<CChar>! {
    ErrorBox.at(error)?.path ?? EmptyText.pointer
}

@c @implementation
public func invivo_error_file(_ error: OpaquePointer!) -> UnsafePointer<CChar>! {
    ErrorBox.at(error)?.file ?? EmptyText.pointer
}

@c @implementation
public func invivo_error_line(_ error: OpaquePointer!) -> UInt32 {
    ErrorBox.at(error)?.failure.location.line ?? 0
}

@c @implementation
public func invivo_error_column(_ error: OpaquePointer!) -> UInt32 {
    ErrorBox.at(error)?.failure.location.column ?? 0
}

@c @implementation
public func invivo_error_rule(_ error: OpaquePointer!) -> UnsafePointer<CChar>! {
    ErrorBox.at(error)?.rule ?? EmptyText.pointer
}

@c @implementation
public func invivo_error_needed_by(_ error: OpaquePointer!) -> UnsafePointer<CChar>! {
    ErrorBox.at(error)?.neededBy ?? EmptyText.pointer
}

@c @implementation
public func invivo_error_cause(_ error: OpaquePointer!) -> OpaquePointer! {
    ErrorBox.at(error)?.cause
}

@c @implementation
public func invivo_error_count(_ error: OpaquePointer!) -> Int {
    ErrorBox.at(error)?.count ?? 0
}

@c @implementation
public func invivo_error_at(_ error: OpaquePointer!, _ index: Int) -> OpaquePointer! {
    ErrorBox.at(error)?.part(index)
}

@c @implementation
public func invivo_error_text(_ error: OpaquePointer!) -> UnsafePointer<CChar>! {
    ErrorBox.at(error)?.text ?? EmptyText.pointer
}

@c @implementation
public func invivo_error_release(_ error: OpaquePointer!) {
    ErrorBox.release(error)
}

@c @implementation
public func invivo_error_report(_ error: OpaquePointer!) -> Int32 {
    if let failure = ErrorBox.take(error) { writeToStandardError(failure.text + "\n") }
    return 1
}

/// Calls the functions of errors once in a process: see `ErrorBox.prepare`.
let preparedErrors: Void = {
    let text = cString("text")
    let first = invivo_error_make(Status.host.rawValue, text, text, invivo_error_make(0, nil, nil, nil))
    let second = invivo_error_make_at(Status.host.rawValue, text, text, text, 1, 1, nil)
    guard let whole = invivo_error_join(first, second), let copy = invivo_error_copy(whole) else { return }
    for error in [whole, copy] {
        _ = (invivo_error_code(error), invivo_error_message(error), invivo_error_path(error), invivo_error_file(error))
        _ = (invivo_error_line(error), invivo_error_column(error), invivo_error_rule(error), invivo_error_text(error))
        _ = (invivo_error_needed_by(error), invivo_error_cause(error), invivo_error_count(error))
        _ = (invivo_error_at(error, 0), invivo_error_at(error, 1))
        invivo_error_release(error)
    }
    _ = (invivo_status_name(Status.host.rawValue), invivo_status_text(Status.host.rawValue))
}()

private func writeToStandardError(_ text: String) {
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
        let written = bytes.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
        if written < 0 && errno != EINTR { return }
        bytes = bytes.dropFirst(max(written, 0))
    }
}
