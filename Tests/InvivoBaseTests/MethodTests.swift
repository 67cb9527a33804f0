import CInvivo
import InvivoBase
import Testing

extension Border {
    @Suite struct Methods {
        let tables = Tables()

        /// Returns its arguments as a list.
        static let echo: Method.Call = { _, _, arguments, count, result, error in
            let list = invivo_list(arguments, UInt64(count))
            do throws(Failure) {
                result?.pointee = try Value(borrowing: list).owned()
                return 0
            } catch {
                return INVIVO_E_ARGUMENT.status
            }
        }

        func play(_ result: ValueKind = .any, _ call: Method.Call? = echo) throws(Failure) -> Method {
            let parameters = [
                tables.parameter("note", .int32), tables.parameter("velocity", .double),
                tables.parameter("tag", .any, optional: true),
            ]
            return try tables.type(methods: [tables.method("play", parameters, result: result, call)])
                .method(named: "play")
        }

        func call(_ method: Method, _ arguments: [Value]) throws(Failure) -> Value {
            var instance = 0
            return try withUnsafeMutableBytes(of: &instance) { (bytes) throws(Failure) in
                guard let base = bytes.baseAddress else { return .null }
                return try method.call(base, arguments)
            }
        }

        @Test func arguments_arrive_in_the_kinds_of_the_parameters() throws {
            try leavingNothing {
                let played = try call(play(), [.int64(60), .int8(1)])
                #expect(played.isSame(as: .list([.int32(60), .double(1)])))
                let tagged = try call(play(), [.int64(60), .float(0.5), .string("x")])
                #expect(tagged.isSame(as: .list([.int32(60), .double(0.5), .string("x")])))
                let null = try call(play(), [.int64(60), .float(0.5), .null])
                #expect(null.isSame(as: .list([.int32(60), .double(0.5), .null])))
            }
        }

        @Test func wrong_arguments_are_refused_before_the_call() throws {
            let method = try play { _, _, _, _, _, _ in
                Issue.record("the method was called")
                return 0
            }
            func refusal(_ arguments: [Value]) -> Failure {
                failure { () throws(Failure) in _ = try call(method, arguments) }
            }
            let text = "play(note: int32, velocity: double, tag: any?)"
            #expect(refusal([]).text == "\(text) takes 2 to 3 arguments, got 0: 'note' is missing")
            #expect(refusal([]).code == .arity)
            #expect(refusal([.null, .null, .null, .null]).code == .arity)
            let wrong = refusal([.string("C4"), .double(1)])
            #expect(wrong.code == .type)
            #expect(wrong.text == "argument 'note' of \(text): 'C4' (a string) is not a whole number")
            #expect(refusal([.int64(1 << 40), .double(1)]).code == .range)
            #expect(
                refusal([.null, .double(1)]).text == "argument 'note' of \(text): expected a whole number, got null")
            #expect(refusal([.null, .double(1)]).code == .null)
        }

        func play(_ call: Method.Call?) throws -> Method { try play(.any, call) }

        @Test func counts_are_said_in_words_that_fit() {
            func arity(_ parameters: [Signature.Parameter]) -> String {
                failure { () throws(Failure) in
                    _ = try Signature(name: "f", parameters: parameters).check([.null, .null, .null, .null])
                }.text
            }
            #expect(arity([]) == "f() takes 0 arguments, got 4")
            let one = Signature(name: "stop", parameters: [])
            #expect(one.text == "stop()")
        }

        @Test func results_come_in_the_kind_declared() throws {
            let answer: Method.Call = { _, _, _, _, result, _ in
                result?.pointee = invivo_int64(3)
                return 0
            }
            let arguments: [Value] = [.int8(1), .int8(2)]
            #expect(try call(play(.double, answer), arguments).isSame(as: .double(3)))
            #expect(try call(play(.any, answer), arguments).isSame(as: .int64(3)))
            #expect(try call(play(.null, answer), arguments).isNull)
            let failure = failure { () throws(Failure) in _ = try call(play(.string, answer), arguments) }
            #expect(
                failure.text == "the method 'play' returned a value of another kind: 3 (a whole number) is not a string"
            )
        }

        @Test func errors_of_methods_keep_their_cause() throws {
            try leavingNothing {
                let method = try play { _, _, _, _, _, error in
                    error?.pointee = ErrorBox.make(Failure(.host, "broken string", cause: Failure(.system, "wear")))
                    return INVIVO_E_HOST.status
                }
                let failure = failure { () throws(Failure) in _ = try call(method, [.int8(1), .int8(2)]) }
                #expect(failure.text == "broken string (because wear)")
            }
        }
    }
}
