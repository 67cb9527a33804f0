internal import CInvivo
public import InvivoBase
public import InvivoLoop
internal import InvivoModules
internal import InvivoWiring

/// The modules that a runtime has loaded. Any thread may call.
public final class ModuleTable: Sendable {
    /// The types of settings that modules have for manifests.
    public let settings: SettingsTypes
    private let container: Container
    private let options: FixedOptions
    /// The handles of the modules. Each keeps its `KeptModule`.
    private let handles: Guarded<[UInt64]>

    init(_ container: Container, _ options: FixedOptions) {
        self.container = container
        self.options = options
        handles = Guarded([], by: container.monitor)
        settings = SettingsTypes(container)
    }

    /// Refuses a file that other users can change, or warns about it. See `FileTrust`.
    public func trust(_ path: FilePath, _ what: String) throws(Failure) {
        guard !options.allowsForeignFiles, let warning = try FileTrust.check(path, what) else { return }
        container.log(.warning, warning.text)
    }

    /// Loads a module and runs its entry, which registers types. Returns the handle of the module.
    public func load(_ path: String, table: UnsafeRawPointer) throws(Failure) -> UInt64 {
        try trust(FilePath(path), "module")
        let module = try ModuleLoader().load(path: path)
        let entry = module.entry
        try CallbackResult.run("the entry of the module '\(path)'") { error in
            entry(table.assumingMemoryBound(to: invivo_table.self), invivo_runtime(bits: container.handle), error)
        }
        let handle = HandleTable.insert(KeptModule(module), kind: .module)
        let isKept = handles.locked { handles -> Bool in
            guard !container.isClosing else { return false }
            handles.append(handle)
            return true
        }
        guard isKept else {
            HandleTable.remove(handle, .module)
            throw Failure(.closed, "the runtime is closing")
        }
        container.log(.debug, "the module '\(path)' is loaded")
        return handle
    }

    /// For close.
    func closeHandles() {
        settings.close()
        let former = handles.locked { handles in
            defer { handles = [] }
            return handles
        }
        for handle in former { HandleTable.remove(handle, .module) }
    }
}

/// A module that this runtime loaded. Its code stays until the process ends, its handle until the runtime closes.
private final class KeptModule: Sendable {
    let module: LoadedModule
    init(_ module: LoadedModule) { self.module = module }
}
