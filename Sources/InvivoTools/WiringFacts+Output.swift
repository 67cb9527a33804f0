internal import CInvivo
public import InvivoBase
public import InvivoReload

extension WiringFacts {
    /// The facts in one of the formats `INVIVO_GRAPH_...` of graph.h.
    ///
    /// `UNREAD` needs facts of a check, which looks for entries of the configuration that nothing reads.
    public func output(_ format: UInt32) throws(Failure) -> Value {
        switch Int(format) {
        case INVIVO_GRAPH_FACTS: value
        case INVIVO_GRAPH_JSON: .string(json)
        case INVIVO_GRAPH_DOT: .string(dot)
        case INVIVO_GRAPH_MERMAID: .string(mermaid)
        case INVIVO_GRAPH_KEYS_C: .string(try KeyFunctions(self).c)
        case INVIVO_GRAPH_KEYS_SWIFT: .string(try KeyFunctions(self).swift)
        case INVIVO_GRAPH_KEYS_PYTHON: .string(try KeyFunctions(self).python)
        case INVIVO_GRAPH_SCHEMA: .string(try DocumentSchema(schema).text)
        case INVIVO_GRAPH_UNREAD: .string(try unreadLines())
        default: throw Failure(.argument, "format \(format) is not one of INVIVO_GRAPH_...")
        }
    }

    /// One line for each unread entry: `FILE:LINE:COLUMN: PATH`.
    private func unreadLines() throws(Failure) -> String {
        guard let unread else {
            throw Failure(
                .unsupported, "only the check of an application reports unused values of the configuration")
        }
        return unread.map { "\($0.location.text): \($0.path)\n" }.joined()
    }
}
