internal import Glibc
internal import InvivoBase
internal import InvivoConfig
internal import InvivoSpec

/// The converters that every runtime has from the start.
enum StandardConverters {
    static let all: [TextConverter] =
        [
            TextConverter("number") { (text, format) throws(Failure) in
                guard let property = format.property else { return try TextReader.number(text, unit: nil) }
                return try TextReader.value(text, of: property)
            },
            TextConverter("bool") { (text, _) throws(Failure) in .bool(try TextReader.bool(text)) },
            TextConverter("duration") { (text, format) throws(Failure) in .double(try TextReader.duration(text)) },
            TextConverter("bytes") { (text, _) throws(Failure) in
                let count = try TextReader.bytes(text)
                return Int64(exactly: count).map { .int64($0) } ?? .uint64(count)
            },
            TextConverter("base64") { (text, _) throws(Failure) in .bytes(try TextReader.base64(text)) },
            TextConverter("path") { (text, format) throws(Failure) in
                .string(try TextReader.path(text, from: try Self.absolute(format.folder)))
            },
            TextConverter("url") { (text, _) throws(Failure) in .string(try TextReader.url(text)) },
            TextConverter("colour") { (text, format) throws(Failure) in
                Self.color(try TextReader.hexColor(text), isNumber: format.kind.isInteger)
            },
        ]

    private static func color(_ parts: [UInt8], isNumber: Bool) -> Value {
        if isNumber { return .int64(parts.reduce(0) { $0 << 8 | Int64($1) }) }
        return .map(zip(PropertyCodec.color.parts, parts).map { ($0[0], .double(Double($1) / 255)) })
    }

    /// The absolute path of a folder that a document names.
    private static func absolute(_ folder: String?) throws(Failure) -> String {
        if let folder, folder.hasPrefix("/") { return folder }
        guard let current = getcwd(nil, 0) else {
            throw Failure(.system, "the working directory cannot be read: \(String(cString: strerror(errno)))")
        }
        defer { free(current) }
        let here = String(cString: current)
        return folder.map { here.hasSuffix("/") ? here + $0 : "\(here)/\($0)" } ?? here
    }
}
