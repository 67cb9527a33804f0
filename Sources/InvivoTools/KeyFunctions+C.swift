internal import InvivoBase
internal import InvivoReload

extension KeyFunctions {
    /// A header for C and C++.
    public var c: String {
        var text = Self.cHead
        for name in typeNames {
            let id = Self.identifier(name)
            text += """
                #ifndef INVIVO_KEYS_\(id)
                #define INVIVO_KEYS_\(id)
                typedef struct \(id)_object { invivo_object object; } \(id)_object;
                /* Borrowed while the lease is held; NULL when there is none. */
                static inline void *\(id)_instance(\(id)_object it) { return invivo_keys_instance(it.object); }
                #endif

                """
        }
        for (name, members) in types {
            for other in members.supertypes where other != name {
                let (id, other) = (Self.identifier(name), Self.identifier(other))
                text += """
                    #ifndef INVIVO_KEYS_\(id)_as_\(other)
                    #define INVIVO_KEYS_\(id)_as_\(other)
                    static inline \(other)_object \(id)_as_\(other)(\(id)_object it) {
                        \(other)_object as;
                        as.object = it.object;
                        return as;
                    }
                    #endif

                    """
            }
        }
        for function in functions { text += "\n" + c(function) }
        return text
    }

    private func c(_ function: Function) -> String {
        let reserved: Set = ["runtime", "out", "error", "arguments"]
        let names = Self.names(function.parameters, reserved: Self.cKeywords.union(reserved))
        var parameters = ["invivo_runtime runtime", "\(Self.cObject(function.type)) *out"]
        var values: [String] = []
        for (name, parameter) in zip(names, function.parameters) {
            let (declared, value) = Self.cParameter(name, parameter)
            parameters.append(declared)
            values.append(value)
        }
        parameters.append("invivo_error **error")
        let name = Self.identifier(function.key)
        let id = Self.cKeywords.contains(name) ? name + "_" : name
        let out = function.type.isEmpty ? "out" : "out ? &out->object : NULL"
        let key = "\(Self.cLiteral(function.key)), \(function.isNullable)"
        let known = "    static uint64_t known;\n"
        let body =
            values.isEmpty
            ? known + "    return invivo_keys_resolve(runtime, &known, \(key), NULL, 0, \(out), error);\n"
            : known + """
                    const invivo_value arguments[] = {\(values.joined(separator: ", "))};
                    return invivo_keys_resolve(runtime, &known, \(key), arguments, \(values.count), \(out), error);

                """
        let note = function.isNullable ? "; `out` may have no object" : ""
        return "/* \(Self.comment("\(function.key): \(function.summary)\(note)")). */\n"
            + "static inline invivo_status \(id)(\(parameters.joined(separator: ", "))) {\n\(body)}\n"
    }

    private static func cObject(_ type: String) -> String {
        type.isEmpty ? "invivo_object" : "\(identifier(type))_object"
    }

    /// The value of an optional parameter for which the caller passes NULL.
    private static func cDefault(_ parameter: Signature.Parameter) -> String {
        guard let value = parameter.defaultValue, isLiteral(parameter) else { return "invivo_null()" }
        return switch value {
        case .bool(let boolean): "invivo_bool(\(boolean))"
        case .string(let text): "invivo_string(\(cLiteral(text)))"
        case .float: "invivo_float((float)\(number(value)))"
        case .double: "invivo_double(\(number(value)))"
        default:
            value.signedInteger == nil
                ? "invivo_uint64(UINT64_C(\(number(value))))"
                : value.signedInteger == .min ? "invivo_int64(INT64_MIN)" : "invivo_int64(INT64_C(\(number(value))))"
        }
    }

    /// The declaration of a parameter, and the expression that converts it to an `invivo_value`.
    private static func cParameter(_ name: String, _ parameter: Signature.Parameter) -> (
        declared: String, value: String
    ) {
        let fallback = cDefault(parameter)
        func plain(_ type: String, _ make: String) -> (String, String) {
            parameter.isOptional
                ? ("const \(type) *\(name)", "\(name) ? \(make)(*\(name)) : \(fallback)")
                : ("\(type) \(name)", "\(make)(\(name))")
        }
        switch parameter.kind {
        case .bool: return plain("bool", "invivo_bool")
        case .int8, .int16, .int32, .int64: return plain("\(parameter.kind.name)_t", "invivo_int64")
        case .uint8, .uint16, .uint32, .uint64: return plain("\(parameter.kind.name)_t", "invivo_uint64")
        case .float: return plain("float", "invivo_float")
        case .double: return plain("double", "invivo_double")
        case .string:
            return (
                "const char *\(name)",
                parameter.isOptional ? "\(name) ? invivo_string(\(name)) : \(fallback)" : "invivo_string(\(name))"
            )
        case .object:
            let object = parameter.typeName == nil ? name : "\(name).object"
            let value = "invivo_object_value(\(object))"
            return (
                "\(cObject(parameter.typeName ?? "")) \(name)",
                parameter.isOptional ? "\(object).bits ? \(value) : invivo_null()" : value
            )
        case .type: return plain("invivo_type", "invivo_type_value")
        case .callable: return plain("invivo_callable", "invivo_callable_value")
        default: return ("invivo_value \(name)", name)
        }
    }

    private static let cHead = """
        /* Written by `invivo keys`; do not edit. A function for each key, which resolves it with the arguments that its definition
         * takes. What comes through `out` is a lease: give it back with invivo_object_release(it.object). An argument that may be left
         * out is a pointer, or an object without bits. */
        #pragma once
        #include <invivo/invivo.h>

        #ifndef INVIVO_KEYS_FUNCTIONS
        #define INVIVO_KEYS_FUNCTIONS
        /* `known` is the key that the function last found: it is that of its name as long as the runtime lives. */
        static inline invivo_status invivo_keys_resolve(invivo_runtime runtime, uint64_t *known, const char *name, bool is_nullable,
                                                        const invivo_value *arguments, size_t count, invivo_object *out,
                                                        invivo_error **error) {
            invivo_key key;
            if (out) out->bits = 0;
            key.bits = __atomic_load_n(known, __ATOMIC_RELAXED);
            if (!invivo_key_is_of(key, runtime)) {
                invivo_status status = invivo_key_find(runtime, name, &key, error);
                if (status) return status;
                __atomic_store_n(known, key.bits, __ATOMIC_RELAXED);
            }
            return is_nullable ? invivo_resolve_optional(runtime, key, arguments, count, out, error)
                               : invivo_resolve_with(runtime, key, arguments, count, out, error);
        }
        static inline void *invivo_keys_instance(invivo_object object) {
            invivo_type any;
            void *instance = NULL;
            any.bits = 0;
            return invivo_object_instance(object, any, &instance, NULL) ? NULL : instance;
        }
        #endif


        """

    private static let cKeywords: Set<String> = [
        "alignas", "alignof", "and", "asm", "auto", "bool", "break", "case", "catch", "char", "class", "concept",
        "const",
        "constexpr", "continue", "decltype", "default", "delete", "do", "double", "else", "enum", "explicit", "export",
        "extern", "false", "float", "for", "friend", "goto", "if", "inline", "int", "long", "mutable", "namespace",
        "new",
        "noexcept", "not", "nullptr", "operator", "or", "private", "protected", "public", "register", "requires",
        "restrict", "return", "short", "signed", "sizeof", "static", "struct", "switch", "template", "this", "throw",
        "true", "try", "typedef", "typeid", "typename", "typeof", "union", "unsigned", "using", "virtual", "void",
        "volatile", "while", "xor",
    ]
}
