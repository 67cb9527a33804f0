/// The names and texts of the status codes, as base.h lists them. A test compares the two.
public enum StatusTable {
    public struct Entry: Sendable {
        public let name: StaticString
        public let text: StaticString
    }

    /// The entry of a status; nil for a number that is none.
    public static func entry(_ status: Int32) -> Entry? {
        guard status <= 0, status > -Int32(entries.count) else { return nil }
        return entries[Int(-status)]
    }

    // In the order of their numbers: 0, -1, -2, ...
    static let entries: [Entry] = [
        Entry(name: "INVIVO_OK", text: "success"),
        Entry(name: "INVIVO_E_ARGUMENT", text: "an argument is missing or not allowed"),
        Entry(name: "INVIVO_E_HANDLE", text: "the handle is stale, foreign or of another kind"),
        Entry(name: "INVIVO_E_CLOSED", text: "the runtime is closed"),
        Entry(name: "INVIVO_E_MEMORY", text: "out of memory"),
        Entry(name: "INVIVO_E_NOT_FOUND", text: "no such key, name or file"),
        Entry(name: "INVIVO_E_EXISTS", text: "the name is taken"),
        Entry(name: "INVIVO_E_TYPE", text: "the value or object has another type"),
        Entry(name: "INVIVO_E_RANGE", text: "the value is outside the range"),
        Entry(name: "INVIVO_E_READ_ONLY", text: "the property cannot be set"),
        Entry(name: "INVIVO_E_PROPERTY", text: "the type has no such property"),
        Entry(name: "INVIVO_E_METHOD", text: "the type has no such method"),
        Entry(name: "INVIVO_E_ARITY", text: "the number of arguments is wrong"),
        Entry(name: "INVIVO_E_COLD", text: "the shared object is not built yet"),
        Entry(name: "INVIVO_E_STALE", text: "the handle belongs to a generation that is gone"),
        Entry(name: "INVIVO_E_DOMAIN", text: "the object may only be touched in its domain"),
        Entry(name: "INVIVO_E_WOULD_WAIT", text: "the call would have to wait, and may not wait here"),
        Entry(name: "INVIVO_E_IN_CALLBACK", text: "the call is not allowed from inside a callback"),
        Entry(name: "INVIVO_E_BUSY", text: "something is still in use"),
        Entry(name: "INVIVO_E_TIMEOUT", text: "the deadline has passed"),
        Entry(name: "INVIVO_E_CYCLE", text: "the wiring goes round in a circle"),
        Entry(name: "INVIVO_E_SYNTAX", text: "the document is not well-formed"),
        Entry(name: "INVIVO_E_SPEC", text: "the document says something that is not known here"),
        Entry(name: "INVIVO_E_ENCODING", text: "the text is not UTF-8"),
        Entry(name: "INVIVO_E_EMPTY", text: "the document is empty"),
        Entry(name: "INVIVO_E_TOO_LARGE", text: "a limit is exceeded"),
        Entry(name: "INVIVO_E_FILE", text: "not a readable regular file"),
        Entry(name: "INVIVO_E_SYSTEM", text: "the operating system refused"),
        Entry(name: "INVIVO_E_MODULE", text: "the module cannot be used"),
        Entry(name: "INVIVO_E_VERSION", text: "the versions do not fit"),
        Entry(name: "INVIVO_E_HOST", text: "host code failed"),
        Entry(name: "INVIVO_E_FORKED", text: "the runtime belongs to the parent process"),
        Entry(name: "INVIVO_E_NOT_READY", text: "not built, not started or not there yet"),
        Entry(name: "INVIVO_E_CHANGED", text: "something else changed it meanwhile"),
        Entry(name: "INVIVO_E_NULL", text: "null where a value is needed"),
        Entry(name: "INVIVO_E_UNSUPPORTED", text: "not supported here"),
        Entry(name: "INVIVO_E_INTERNAL", text: "a fault of the runtime itself; please report it"),
        Entry(name: "INVIVO_E_AMBIGUOUS", text: "several fit, and none comes first"),
        Entry(name: "INVIVO_E_ABSTRACT", text: "the definition is abstract: only its children are made"),
    ]
}
