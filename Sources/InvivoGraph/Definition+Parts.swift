public import InvivoBase

// The parts of a definition that most definitions do not have.

extension Definition.Body {
    /// An immutable part that copies of a definition share.
    final class Shared<Part: Sendable>: Sendable {
        let part: Part
        init(_ part: Part) { self.part = part }
    }

    /// How an object is created, beyond its initializer and properties.
    struct Creation: Sendable {
        var factory: Factory?
        var keepAlive: Factory?
        var maker: MakerMethod?
        var constant: ObjectLease?
        var parameters: Signature?
        var methods: [Invocation] = []
        var before: [Invocation] = []
        var after: [Invocation] = []
        var afterAll: [Invocation] = []
        var inject: Injector?
        var blockImage: [UInt8]?
        var choice: DefinitionChoice?
    }

    /// The names by which a definition refers to others, and by which it was described.
    struct Relations: Sendable {
        var scopeName: String?
        var alias: String?
        var origin: String?
        var generic: String?
        var parent: String?
        var typeName: String?
        var each: String?
        var entry: String?
        var isPattern: Bool = false
        var owner: String?
        var specKey: String?
    }

    /// Values that most definitions leave as they are.
    struct Settings: Sendable {
        var rank: Int32 = 0
        var startTimeout: UInt64 = 0
        var stopTimeout: UInt64 = 0
        var base: [Int: Value] = [:]
        var isPartial: Bool = false
        var onChange: OnChange?
        var onChangeReason: String?
    }
}

extension Definition.Body {
    private mutating func changeCreation(_ change: (inout Creation) -> Void) {
        var part = creation?.part ?? Creation()
        change(&part)
        creation = Shared(part)
    }

    public var factory: Factory? {
        get { creation?.part.factory }
        set { if newValue != nil || factory != nil { changeCreation { $0.factory = newValue } } }
    }

    /// Destroyed with the definition, although it is no factory of objects.
    public var keepAlive: Factory? {
        get { creation?.part.keepAlive }
        set { if newValue != nil || keepAlive != nil { changeCreation { $0.keepAlive = newValue } } }
    }

    public var maker: MakerMethod? {
        get { creation?.part.maker }
        set { if newValue != nil || maker != nil { changeCreation { $0.maker = newValue } } }
    }

    /// The object itself, created elsewhere.
    public var constant: ObjectLease? {
        get { creation?.part.constant }
        set { if newValue != nil || constant != nil { changeCreation { $0.constant = newValue } } }
    }

    /// The declared runtime arguments. Nil stands for those of the parent, or of an alias's target, or for none.
    public var parameters: Signature? {
        get { creation?.part.parameters }
        set { if newValue != nil || parameters != nil { changeCreation { $0.parameters = newValue } } }
    }

    public var methods: [Invocation] {
        get { creation?.part.methods ?? [] }
        set { if !newValue.isEmpty || !methods.isEmpty { changeCreation { $0.methods = newValue } } }
    }

    public var before: [Invocation] {
        get { creation?.part.before ?? [] }
        set { if !newValue.isEmpty || !before.isEmpty { changeCreation { $0.before = newValue } } }
    }

    public var after: [Invocation] {
        get { creation?.part.after ?? [] }
        set { if !newValue.isEmpty || !after.isEmpty { changeCreation { $0.after = newValue } } }
    }

    public var afterAll: [Invocation] {
        get { creation?.part.afterAll ?? [] }
        set { if !newValue.isEmpty || !afterAll.isEmpty { changeCreation { $0.afterAll = newValue } } }
    }

    public var inject: Injector? {
        get { creation?.part.inject }
        set { if newValue != nil || inject != nil { changeCreation { $0.inject = newValue } } }
    }

    /// The initial content of the block; it replaces that of the type.
    public var blockImage: [UInt8]? {
        get { creation?.part.blockImage }
        set { if newValue != nil || blockImage != nil { changeCreation { $0.blockImage = newValue } } }
    }

    /// A choice among other definitions. The definition then creates nothing itself.
    public var choice: DefinitionChoice? {
        get { creation?.part.choice }
        set { if newValue != nil || choice != nil { changeCreation { $0.choice = newValue } } }
    }
}

extension Definition.Body {
    private mutating func changeRelations(_ change: (inout Relations) -> Void) {
        var part = relations?.part ?? Relations()
        change(&part)
        relations = Shared(part)
    }

    /// The name of a host scope.
    public var scopeName: String? {
        get { relations?.part.scopeName }
        set { if newValue != nil || scopeName != nil { changeRelations { $0.scopeName = newValue } } }
    }

    public var alias: String? {
        get { relations?.part.alias }
        set { if newValue != nil || alias != nil { changeRelations { $0.alias = newValue } } }
    }

    /// The key under which its assembly knows it, if it is another: of a mount, or of an assembly that was taken over.
    public var origin: String? {
        get { relations?.part.origin }
        set { if newValue != nil || origin != nil { changeRelations { $0.origin = newValue } } }
    }

    /// The type with its arguments: "Repository[User]".
    public var generic: String? {
        get { relations?.part.generic }
        set { if newValue != nil || generic != nil { changeRelations { $0.generic = newValue } } }
    }

    public var parent: String? {
        get { relations?.part.parent }
        set { if newValue != nil || parent != nil { changeRelations { $0.parent = newValue } } }
    }

    /// Its type by name, until it is looked up.
    public var typeName: String? {
        get { relations?.part.typeName }
        set { if newValue != nil || typeName != nil { changeRelations { $0.typeName = newValue } } }
    }

    /// The path of a map or list. There is a definition for each entry, and this one is only their pattern.
    public var each: String? {
        get { relations?.part.each }
        set { if newValue != nil || each != nil { changeRelations { $0.each = newValue } } }
    }

    /// The entry for which the definition was created.
    public var entry: String? {
        get { relations?.part.entry }
        set { if newValue != nil || entry != nil { changeRelations { $0.entry = newValue } } }
    }

    /// Whether it is inside a pattern.
    public var isPattern: Bool {
        get { relations?.part.isPattern ?? false }
        set { if newValue || isPattern { changeRelations { $0.isPattern = newValue } } }
    }

    /// The key whose traits apply to its objects, or `Definition.noSpecKey`; nil = as the parent's, or its own key.
    public var specKey: String? {
        get { relations?.part.specKey }
        set { if newValue != nil || specKey != nil { changeRelations { $0.specKey = newValue } } }
    }

    /// The key of the definition that contains it.
    public var owner: String? {
        get { relations?.part.owner }
        set { if newValue != nil || owner != nil { changeRelations { $0.owner = newValue } } }
    }
}

extension Definition.Body {
    private mutating func changeSettings(_ change: (inout Settings) -> Void) {
        var part = settings?.part ?? Settings()
        change(&part)
        settings = Shared(part)
    }

    public var rank: Int32 {
        get { settings?.part.rank ?? 0 }
        set { if newValue != 0 || rank != 0 { changeSettings { $0.rank = newValue } } }
    }

    /// In nanoseconds; 0 = the value of the runtime's options.
    public var startTimeout: UInt64 {
        get { settings?.part.startTimeout ?? 0 }
        set { if newValue != 0 || startTimeout != 0 { changeSettings { $0.startTimeout = newValue } } }
    }

    /// In nanoseconds; 0 = the value of the runtime's options.
    public var stopTimeout: UInt64 {
        get { settings?.part.stopTimeout ?? 0 }
        set { if newValue != 0 || stopTimeout != 0 { changeSettings { $0.stopTimeout = newValue } } }
    }

    /// How its objects follow changes of what they receive by injections that do not declare it; nil = as the parent's.
    public var onChange: OnChange? {
        get { settings?.part.onChange }
        set { if newValue != nil || onChange != nil { changeSettings { $0.onChange = newValue } } }
    }

    /// Why changes are refused.
    public var onChangeReason: String? {
        get { settings?.part.onChangeReason }
        set { if newValue != nil || onChangeReason != nil { changeSettings { $0.onChangeReason = newValue } } }
    }

    /// Base values of tunable properties set by change sets, over those of the declaration.
    public var base: [Int: Value] {
        get { settings?.part.base ?? [:] }
        set { if !newValue.isEmpty || !base.isEmpty { changeSettings { $0.base = newValue } } }
    }

    /// Whether missing initializer arguments are no errors, because no initializer runs or an invalid part was omitted.
    public var isPartial: Bool {
        get { settings?.part.isPartial ?? false }
        set { if newValue || isPartial { changeSettings { $0.isPartial = newValue } } }
    }
}
