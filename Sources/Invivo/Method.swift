internal import CInvivo

/// A method as it is declared to the runtime.
struct Method: Sendable {
    var name: String
    var text: String?
    var parameters: [Parameter]
    var result: @Sendable () -> InvivoKind
    var call: @Sendable (AnyObject, [InvivoValue]) throws -> InvivoValue

    func described(_ arena: Arena, box: MethodBox) throws(InvivoError) -> invivo_method {
        var method = invivo_method()
        method.struct_size = MemoryLayout<invivo_method>.size
        method.name = try arena.name(name)
        method.text = try arena.name(text)
        method.parameters = try parameters.described(arena)
        method.parameter_count = UInt64(parameters.count)
        method.result = result().rawValue
        method.call = MethodBox.call
        method.user_data = Unmanaged.passUnretained(box).toOpaque()
        return method
    }
}

/// A parameter of a method or initializer.
struct Parameter: Sendable {
    var name: String
    /// Evaluated when the type is registered, because the description of a class may refer to the class.
    var shape: @Sendable () -> InvivoShape

    /// Combines names and types; a parameter without a name is identified by its position.
    static func list<each Value: InvivoConvertible>(
        _ names: [String], _ types: repeat (each Value).Type
    ) -> [Parameter] {
        var parameters: [Parameter] = []
        func add<Type: InvivoConvertible>(_ type: Type.Type) {
            let index = parameters.count
            parameters.append(
                Parameter(
                    name: index < names.count ? names[index] : "argument\(index + 1)", shape: { Type.invivoShape }))
        }
        repeat add(each types)
        return parameters
    }
}

extension [Parameter] {
    func described(_ arena: Arena) throws(InvivoError) -> UnsafePointer<invivo_parameter>? {
        var table: [invivo_parameter] = []
        let shapes = map { $0.shape() }
        let needed = shapes.map(\.isOptional).neededCount
        for (index, (parameter, shape)) in zip(self, shapes).enumerated() {
            // A required parameter that may be null is declared with any kind. The conversion checks its kind.
            let isKnown = shape.choices.isEmpty && (!shape.isOptional || index >= needed)
            table.append(
                invivo_parameter(
                    name: try arena.name(parameter.name), kind: (isKnown ? shape.kind : .any).rawValue,
                    flags: index >= needed ? UInt32(INVIVO_PARAMETER_OPTIONAL) : 0,
                    type_name: isKnown ? try arena.name(shape.typeName) : nil))
        }
        return UnsafePointer(arena.table(table))
    }
}

extension [Bool] {
    /// The number of required arguments, from whether each parameter may be null. Only the last ones may be omitted.
    var neededCount: Int { (lastIndex(of: false) ?? -1) + 1 }
}

/// The Swift side of a method; owned by the box of its type.
final class MethodBox: Sendable {
    private let core: Core
    private let method: Method

    init(_ method: Method, _ core: Core) {
        self.core = core
        self.method = method
    }

    static let call:
        @convention(c) (
            UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, UnsafePointer<invivo_value>?, Int,
            UnsafeMutablePointer<invivo_value>?, ErrorOut?
        ) -> invivo_status = { instance, data, arguments, count, result, error in
            guard let instance, let data else { return InvivoError.Code.internal.rawValue }
            let box = Unmanaged<MethodBox>.fromOpaque(data).takeUnretainedValue()
            let object = Unmanaged<AnyObject>.fromOpaque(instance).takeUnretainedValue()
            return answering(box.core, error) {
                let values = try InvivoValue.array(arguments, count, box.core, .component)
                try box.method.call(object, values).answered(result, box.core)
            }
        }
}
