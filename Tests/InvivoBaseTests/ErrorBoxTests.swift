import CInvivo
import InvivoBase
import Testing

extension Border {
    @Suite struct Errors {
        @Test func an_error_keeps_everything_a_failure_says() throws {
            try leavingNothing {
                let failure = Failure(
                    .range, "5 is outside 0...2", path: "synth.gain", at: Location(file: "t.yaml", line: 3, column: 9),
                    cause: Failure(.host, "no"))
                let error = ErrorBox.make(failure)
                defer { ErrorBox.release(error) }
                let box = try #require(ErrorBox.at(error))
                #expect(String(cString: box.message) == "5 is outside 0...2")
                #expect(String(cString: box.path) == "synth.gain")
                #expect(String(cString: box.file) == "t.yaml")
                #expect(String(cString: box.text) == "t.yaml:3:9: synth.gain: 5 is outside 0...2 (because no)")
                #expect(box.count == 1)
                #expect(box.part(0) == error)
                #expect(box.part(1) == nil)
                #expect(box.part(-1) == nil)
                let cause = try #require(ErrorBox.at(box.cause))
                #expect(cause.failure.code == .host)
                #expect(cause.cause == nil)
            }
        }

        @Test func several_errors_can_be_read_one_by_one() throws {
            try leavingNothing {
                let all = try #require(
                    Failure.gathered([Failure(.range, "one"), Failure(.type, "two"), Failure(.null, "three")]))
                let error = ErrorBox.make(all)
                defer { ErrorBox.release(error) }
                let box = try #require(ErrorBox.at(error))
                #expect(box.count == 3)
                let texts = (0..<3).compactMap { ErrorBox.at(box.part($0)).map { String(cString: $0.text) } }
                #expect(texts == ["one", "two", "three"])
                #expect(box.part(3) == nil)
                #expect(String(cString: box.text) == "one\ntwo\nthree")
            }
        }

        @Test func reporting_answers_the_code_and_an_owned_error() {
            leavingNothing {
                var error: OpaquePointer?
                #expect(report(Failure(.busy, "busy"), &error) == INVIVO_E_BUSY.status)
                #expect(ErrorBox.take(error)?.message == "busy")
                #expect(report(Failure(.busy, "busy"), nil) == INVIVO_E_BUSY.status)
                #expect(report(Failure(.ok, "?"), nil) == INVIVO_E_INTERNAL.status)
                #expect(answering(nil) { () throws(Failure) in } == 0)
                #expect(ErrorBox.take(nil) == nil)
            }
        }

        @Test func paths_nest() throws {
            let both = try #require(
                Failure.gathered([Failure(.range, "one", path: "attack"), Failure(.type, "two")]))
            #expect(both.under("envelope").under("synth").text == "synth.envelope.attack: one\nsynth.envelope: two")
        }

        @Test func an_error_from_host_code_is_never_a_success() {
            #expect(ErrorBox.failure(hostCode: 0, message: nil, path: nil, cause: nil).code == .host)
            #expect(ErrorBox.failure(hostCode: 99, message: nil, path: nil, cause: nil).code == .host)
            let failure = ErrorBox.failure(hostCode: INVIVO_E_RANGE.status, message: nil, path: "a.b", cause: nil)
            #expect(failure.text == "a.b: the value is outside the range")
        }
    }
}
