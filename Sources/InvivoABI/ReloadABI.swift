public import CInvivo
internal import InvivoBase
internal import InvivoGraph
internal import InvivoObjects
internal import InvivoReload
internal import InvivoWiring

// reload.h: observers of reloads.

/// The report behind C's borrowed pointer.
private func report(_ pointer: OpaquePointer?) -> Report? {
    guard let pointer else { return nil }
    return Unmanaged<Report>.fromOpaque(UnsafeRawPointer(pointer)).takeUnretainedValue()
}

@c @implementation
public func invivo_report_generation(_ report: OpaquePointer!) -> UInt64 { InvivoABI.report(report)?.generation ?? 0 }

@c @implementation
public func invivo_report_status(_ report: OpaquePointer!) -> invivo_status {
    guard let report = InvivoABI.report(report) else { return Status.argument.rawValue }
    return report.failure?.code.rawValue ?? 0
}

@c @implementation
public func invivo_report_cause(_ report: OpaquePointer!) -> UnsafePointer<CChar>! {
    InvivoABI.report(report)?.strings.cause ?? cString("")
}

@c @implementation
public func invivo_report_cause_count(_ report: OpaquePointer!) -> Int {
    InvivoABI.report(report)?.causes.parts.count ?? 0
}

@c @implementation
public func invivo_report_cause_kind(_ report: OpaquePointer!, _ index: Int) -> UInt32 {
    guard let parts = InvivoABI.report(report)?.causes.parts, parts.indices.contains(index) else { return 0 }
    return parts[index].kind.rawValue
}

@c @implementation
public func invivo_report_cause_name(_ report: OpaquePointer!, _ index: Int) -> UnsafePointer<CChar>! {
    InvivoABI.report(report)?.names.cause(index) ?? cString("")
}

@c @implementation
public func invivo_report_error(_ report: OpaquePointer!) -> OpaquePointer! { InvivoABI.report(report)?.strings.error }

@c @implementation
public func invivo_report_stop_error(_ report: OpaquePointer!) -> OpaquePointer! {
    InvivoABI.report(report)?.strings.stopError
}

@c @implementation
public func invivo_report_warning_count(_ report: OpaquePointer!) -> Int {
    InvivoABI.report(report)?.warnings.count ?? 0
}

@c @implementation
public func invivo_report_warning(_ report: OpaquePointer!, _ index: Int) -> UnsafePointer<CChar>! {
    InvivoABI.report(report)?.strings.warning(index) ?? cString("")
}

/// The warning at an index of a report.
private func warning(_ pointer: OpaquePointer?, _ index: Int) -> Report.Warning? {
    guard let report = report(pointer), report.warnings.indices.contains(index) else { return nil }
    return report.warnings[index]
}

@c @implementation
public func invivo_report_warning_kind(_ report: OpaquePointer!, _ index: Int) -> UInt32 {
    warning(report, index)?.kind.rawValue ?? 0
}

@c @implementation
public func invivo_report_warning_file(_ report: OpaquePointer!, _ index: Int) -> UnsafePointer<CChar>! {
    InvivoABI.report(report)?.names.warningFile(index) ?? cString("")
}

@c @implementation
public func invivo_report_warning_line(_ report: OpaquePointer!, _ index: Int) -> UInt32 {
    warning(report, index)?.location.line ?? 0
}

@c @implementation
public func invivo_report_warning_column(_ report: OpaquePointer!, _ index: Int) -> UInt32 {
    warning(report, index)?.location.column ?? 0
}

@c @implementation
public func invivo_report_count(_ report: OpaquePointer!) -> Int { InvivoABI.report(report)?.changes.count ?? 0 }

@c @implementation
public func invivo_report_key(_ report: OpaquePointer!, _ index: Int) -> UnsafePointer<CChar>! {
    InvivoABI.report(report)?.strings.key(index) ?? cString("")
}

@c @implementation
public func invivo_report_change(_ report: OpaquePointer!, _ index: Int) -> UInt32 {
    change(report, index)?.what ?? 0
}

@c @implementation
public func invivo_report_property(_ report: OpaquePointer!, _ index: Int) -> UnsafePointer<CChar>! {
    InvivoABI.report(report)?.strings.property(index) ?? cString("")
}

@c @implementation
public func invivo_report_location(_ report: OpaquePointer!, _ index: Int) -> UnsafePointer<CChar>! {
    InvivoABI.report(report)?.strings.location(index) ?? cString("")
}

/// The change at an index of a report.
private func change(_ pointer: OpaquePointer?, _ index: Int) -> Report.Change? {
    guard let report = report(pointer), report.changes.indices.contains(index) else { return nil }
    return report.changes[index]
}

@c @implementation
public func invivo_report_origin(_ report: OpaquePointer!, _ index: Int) -> UInt32 {
    change(report, index)?.origin.kind.rawValue ?? 0
}

@c @implementation
public func invivo_report_layer(_ report: OpaquePointer!, _ index: Int) -> UnsafePointer<CChar>! {
    InvivoABI.report(report)?.names.layer(index) ?? cString("")
}

@c @implementation
public func invivo_report_file(_ report: OpaquePointer!, _ index: Int) -> UnsafePointer<CChar>! {
    InvivoABI.report(report)?.names.file(index) ?? cString("")
}

@c @implementation
public func invivo_report_line(_ report: OpaquePointer!, _ index: Int) -> UInt32 {
    change(report, index)?.location.line ?? 0
}

@c @implementation
public func invivo_report_column(_ report: OpaquePointer!, _ index: Int) -> UInt32 {
    change(report, index)?.location.column ?? 0
}

@c @implementation
public func invivo_report_omitted(_ report: OpaquePointer!) -> UInt64 { UInt64(InvivoABI.report(report)?.omitted ?? 0) }

@c @implementation
public func invivo_runtime_reports(
    _ runtime: invivo_runtime, _ visit: invivo_report_visit!, _ userData: UnsafeMutableRawPointer!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in
        let engine = try Engine.find(runtime.bits)
        guard let visit else { throw Failure(.argument, "visit is NULL") }
        for report in engine.reports {
            withExtendedLifetime(report) { visit(userData, OpaquePointer(Unmanaged.passUnretained(report).toOpaque())) }
        }
    }
}

@c @implementation
public func invivo_report_untracked(_ report: OpaquePointer!, _ index: Int) -> UInt64 {
    guard let report = InvivoABI.report(report), report.changes.indices.contains(index) else { return 0 }
    return report.untracked[report.changes[index].key] ?? 0
}

@c @implementation
public func invivo_report_nanoseconds(_ report: OpaquePointer!, _ phase: UInt32) -> UInt64 {
    guard let report = InvivoABI.report(report), Int(phase) < report.phases.count else { return 0 }
    return report.phases[Int(phase)]
}

@c @implementation
public func invivo_report_text(_ report: OpaquePointer!) -> UnsafePointer<CChar>! {
    InvivoABI.report(report)?.strings.text ?? cString("")
}

@c @implementation
public func invivo_observe(
    _ runtime: invivo_runtime, _ options: UnsafePointer<invivo_observer_options>!,
    _ out: UnsafeMutablePointer<invivo_observer>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = invivo_observer()
    return answering(error) { () throws(Failure) in
        guard let options else { throw Failure(.argument, "options is NULL") }
        let least = MemoryLayout<invivo_observer_options>.offset(of: \.destroy) ?? 8
        let given = try versioned(options, "options", least: least, as: invivo_observer_options.self)
        let (reloaded, publishing) = (given.reloaded, given.publishing)
        guard reloaded != nil || publishing != nil || given.ready != nil || given.progress != nil else {
            throw Failure(.argument, "options.reloaded, publishing, ready and progress are NULL: one of them is needed")
        }
        let engine = try Engine.find(runtime.bits)
        let subject = try subject(given, engine)
        let domain = given.domain.bits == 0 ? nil : try engine.container.domains.domain(given.domain.bits)
        let userData = HostPointer(given.user_data)
        let destroy = given.destroy
        let ended: (@Sendable () -> Void)? = destroy.map { destroy in { @Sendable in destroy(userData.raw) } }
        var callback: Observer.Callback?
        if let reloaded {
            callback = { report in reloaded(userData.raw, OpaquePointer(Unmanaged.passUnretained(report).toOpaque())) }
        }
        var visible: Observer.Publishing?
        if let publishing { visible = { published in publishing(userData.raw, published ? 1 : 0) } }
        var ready: Observer.Ready?
        if let function = given.ready {
            ready = { generation, failure in
                let error = failure.map { ErrorBox.make($0) }
                function(userData.raw, generation, error)
                if let error { ErrorBox.release(error) }
            }
        }
        let functions = Engine.HostFunctions(
            [
                unsafeBitCast(reloaded, to: UInt.self), unsafeBitCast(publishing, to: UInt.self),
                unsafeBitCast(given.ready, to: UInt.self), unsafeBitCast(given.progress, to: UInt.self),
            ],
            userData: UInt(bitPattern: given.user_data))
        let observer = try engine.observe(
            subject, functions, domain: domain, destroy: ended,
            Observer.Callbacks(
                reloaded: callback, publishing: visible, ready: ready,
                progress: given.progress.map { phases($0, userData) }))
        out?.pointee.bits = observer.handleBits
    }
}

/// Returns a function that passes phases of reloads to the host.
private func phases(
    _ function: @escaping @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<invivo_progress>?) -> Void,
    _ userData: HostPointer
) -> Observer.Phases {
    { progress in
        var given = invivo_progress()
        given.struct_size = MemoryLayout<invivo_progress>.size
        given.phase = progress.phase.rawValue
        given.reload = progress.reload
        given.generation = progress.generation
        let error = progress.failure.map { ErrorBox.make($0) }
        given.error = error
        progress.cause.withCString { cause in
            given.cause = cause
            function(userData.raw, &given)
        }
        if let error { ErrorBox.release(error) }
    }
}

/// Returns the subject of an observer with these options.
private func subject(_ options: invivo_observer_options, _ engine: Engine) throws(Failure) -> Subject {
    let given = [
        options.key == nil ? nil : "key", options.type == nil ? nil : "type",
        options.object.bits == 0 ? nil : "object",
    ].compactMap(\.self)
    guard let first = given.first else { return .everything }
    guard given.count == 1 else {
        throw Failure(.argument, "options.\(first) and options.\(given[1]) are given: an observer observes one of them")
    }
    guard options.publishing == nil else {
        throw Failure(
            .argument,
            "options.\(first) and options.publishing are given: the caches of resolved objects depend on all of them")
    }
    guard options.progress == nil else {
        throw Failure(
            .argument,
            "options.\(first) and options.progress are given: the phases of reloads are those of the whole runtime")
    }
    if let key = options.key { return .key(Name(try text(key, "options.key"))) }
    if let type = options.type { return .type(Name(try text(type, "options.type"))) }
    let lease = try ObjectLease.retaining(options.object.bits)
    guard let record = ObjectTable.record(lease.bits), ObjectType.of(record).container === engine.container else {
        throw Failure(.handle, "options.object belongs to another runtime")
    }
    return .object(options.object.bits)
}

@c @implementation
public func invivo_observer_generation(
    _ observer: invivo_observer, _ out: UnsafeMutablePointer<UInt64>!, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in
        guard let out else { throw Failure(.argument, "out is NULL") }
        out.pointee = try HandleTable.require(observer.bits, .observer, as: Observer.self).since
    }
}

@c @implementation
public func invivo_observer_close(_ observer: invivo_observer, _ error: UnsafeMutablePointer<OpaquePointer?>!)
    -> invivo_status
{
    answering(error) { () throws(Failure) in
        if let observer = HandleTable.find(observer.bits, .observer, as: ContextObserver.self) {
            return try observer.close()
        }
        try HandleTable.require(observer.bits, .observer, as: Observer.self).close()
    }
}
