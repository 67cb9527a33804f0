/// The names and descriptions of the status codes, as in base.h. A test compares the two.
public enum StatusTable {
    public struct Entry: Sendable {
        public let number: Int32
        public let name: StaticString
        public let text: StaticString

        init(_ number: Int32, _ name: StaticString, _ text: StaticString) {
            self.number = number
            self.name = name
            self.text = text
        }
    }

    /// The entry of a status; nil for a number that is none.
    public static func entry(_ status: Int32) -> Entry? { entries.first { $0.number == status } }

    /// In the order of their numbers, from 0 down; not every number is one.
    public static let entries: [Entry] = [
        Entry(0, "INVIVO_OK", "success"),
        Entry(-1, "INVIVO_E_ARGUMENT", "an argument is missing or not allowed"),
        Entry(-2, "INVIVO_E_HANDLE", "the handle is stale, foreign or of another kind"),
        Entry(-3, "INVIVO_E_CLOSED", "the runtime is closed"),
        Entry(-4, "INVIVO_E_MEMORY", "out of memory"),
        Entry(-5, "INVIVO_E_NOT_FOUND", "no such key, name or file"),
        Entry(-6, "INVIVO_E_EXISTS", "the name is taken"),
        Entry(-7, "INVIVO_E_TYPE", "the value or object has another type"),
        Entry(-8, "INVIVO_E_RANGE", "the value is outside the range"),
        Entry(-9, "INVIVO_E_READ_ONLY", "the property cannot be set"),
        Entry(-10, "INVIVO_E_PROPERTY", "the type has no such property"),
        Entry(-11, "INVIVO_E_METHOD", "the type has no such method"),
        Entry(-12, "INVIVO_E_ARITY", "the number of arguments is wrong"),
        Entry(-13, "INVIVO_E_COLD", "the shared object is not built yet"),
        Entry(-14, "INVIVO_E_STALE", "the handle or change set belongs to a former generation"),
        Entry(-15, "INVIVO_E_DOMAIN", "the object may only be touched in its domain"),
        Entry(-16, "INVIVO_E_WOULD_WAIT", "the call would have to wait, and may not wait here"),
        Entry(-17, "INVIVO_E_IN_CALLBACK", "the call is not allowed from inside a callback"),
        Entry(-18, "INVIVO_E_BUSY", "something is still in use"),
        Entry(-19, "INVIVO_E_TIMEOUT", "the deadline has passed"),
        Entry(-20, "INVIVO_E_CYCLE", "the dependencies form a cycle"),
        Entry(-21, "INVIVO_E_SYNTAX", "the document is not well-formed"),
        Entry(-22, "INVIVO_E_SPEC", "the document names something unknown"),
        Entry(-23, "INVIVO_E_ENCODING", "the text is not UTF-8"),
        Entry(-24, "INVIVO_E_EMPTY", "the document is empty"),
        Entry(-25, "INVIVO_E_TOO_LARGE", "a limit is exceeded"),
        Entry(-26, "INVIVO_E_FILE", "not a readable regular file"),
        Entry(-27, "INVIVO_E_SYSTEM", "the operating system refused"),
        Entry(-28, "INVIVO_E_MODULE", "the module cannot be used"),
        Entry(-29, "INVIVO_E_VERSION", "the versions do not fit"),
        Entry(-30, "INVIVO_E_HOST", "host code failed"),
        Entry(-31, "INVIVO_E_FORKED", "the runtime belongs to the parent process"),
        Entry(-32, "INVIVO_E_NOT_READY", "not built, not started or not there yet"),
        Entry(-33, "INVIVO_E_CHANGED", "something else changed it meanwhile"),
        Entry(-34, "INVIVO_E_NULL", "null where a value is needed"),
        Entry(-35, "INVIVO_E_UNSUPPORTED", "not supported here"),
        Entry(-36, "INVIVO_E_INTERNAL", "a fault of the runtime itself; please report it"),
        Entry(-37, "INVIVO_E_AMBIGUOUS", "several candidates match, and none has priority"),
        Entry(-38, "INVIVO_E_ABSTRACT", "the definition is abstract: only its children can be resolved"),
        Entry(-39, "INVIVO_E_NOT_CONFIGURED", "there is no configuration value at the path"),
        Entry(-40, "INVIVO_E_CONVERSION", "the string cannot be converted to the requested kind"),
        Entry(-41, "INVIVO_E_STOP", "the call succeeded, but an object failed to stop"),
        Entry(-42, "INVIVO_E_DORMANT", "the definition is blocked on a missing dependency"),
        Entry(
            -49, "INVIVO_E_CAPTIVE",
            "captive dependency: a longer-lived object would hold a shorter-lived or thread-confined one"),
        Entry(-50, "INVIVO_E_REFUSED", "a definition refuses a change of its dependency"),
        Entry(-51, "INVIVO_E_ORPHANED", "the parent of the context has ended"),
    ]
}
