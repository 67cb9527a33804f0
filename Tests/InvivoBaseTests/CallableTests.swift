import CInvivo
import InvivoBase
import Synchronization
import Testing

private let destroyed = Atomic<Int>(0)
private let answered = Atomic<Int>(0)

extension Border {
    @Suite struct Callables {
        static let sum: Callable.Invoke = { userData, arguments, count, result, error in
            var total = Int64(Int(bitPattern: userData))
            for index in 0..<count { total += arguments?[index].as.signed_integer ?? 0 }
            result?.pointee = invivo_int64(total)
            return 0
        }
        static let refuse: Callable.Invoke = { _, _, _, result, error in
            result?.pointee = literal("left behind")
            error?.pointee = ErrorBox.make(
                Failure(.timeout, "too late", path: "a.b", cause: Failure(.system, "the clock stopped")))
            return INVIVO_E_TIMEOUT.status
        }

        func options(_ invoke: Callable.Invoke?, userData: Int = 0) -> invivo_callable_options {
            var options = invivo_callable_options()
            options.struct_size = MemoryLayout<invivo_callable_options>.size
            options.invoke = invoke
            options.user_data = UnsafeMutableRawPointer(bitPattern: userData)
            options.destroy = { _ in destroyed.add(1, ordering: .relaxed) }
            return options
        }

        func make(_ invoke: Callable.Invoke?, userData: Int = 0) throws(Failure) -> Callable {
            var options = options(invoke, userData: userData)
            return try Callable(options: &options)
        }

        @Test func swift_calls_c_with_its_user_data() throws {
            try leavingNothing {
                let callable = try make(Self.sum, userData: 100)
                #expect(try callable.call([.int64(20), .int64(3)]).isSame(as: .int64(123)))
                #expect(callable.userData(ifInvokedBy: Self.sum) == UnsafeMutableRawPointer(bitPattern: 100))
                #expect(callable.userData(ifInvokedBy: Self.refuse) == nil)
                #expect(callable.userData(ifInvokedBy: nil) == nil)
            }
        }

        @Test func destroy_runs_once_after_the_last_holder() throws {
            let before = destroyed.load(ordering: .relaxed)
            var callable: Callable? = try make(Self.sum)
            let bits = try #require(callable?.leasedBits())
            try Callable.retain(bits)
            callable = nil
            try Callable.release(bits)
            #expect(destroyed.load(ordering: .relaxed) == before)
            try Callable.release(bits)
            #expect(destroyed.load(ordering: .relaxed) == before + 1)
            #expect(failure { () throws(Failure) in try Callable.release(bits) }.code == .handle)
            #expect(failure { () throws(Failure) in try Callable.retain(bits) }.code == .handle)
        }

        @Test func a_release_too_many_takes_nobody_elses_hold() throws {
            try leavingNothing {
                let callable = try make(Self.sum)
                let bits = callable.leasedBits()
                try Callable.release(bits)
                let failure = failure { () throws(Failure) in try Callable.release(bits) }
                #expect(failure.code == .handle)
                #expect(failure.text == "'callable' was released more often than retained")
                #expect(try callable.call([]).isSame(as: .int64(0)))
            }
        }

        @Test func an_error_of_c_arrives_with_code_message_path_and_cause() throws {
            try leavingNothing {
                let callable = try make(Self.refuse)
                let failure = failure { () throws(Failure) in _ = try callable.call([]) }
                #expect(failure.code == .timeout)
                #expect(failure.path == "a.b")
                #expect(failure.text == "a.b: too late (because the clock stopped)")
                #expect(failure.cause.first?.code == .system)
            }
        }

        @Test func a_status_without_an_error_still_says_something() throws {
            let silent = try make { _, _, _, _, _ in INVIVO_E_RANGE.status }
            #expect(
                failure { () throws(Failure) in _ = try silent.call([]) }.text
                    == "'callable' failed with status -8: the value is outside the range")
            let strange = try make { _, _, _, _, _ in 12345 }
            let failure = failure { () throws(Failure) in _ = try strange.call([]) }
            #expect(failure.code == .host)
            #expect(failure.text == "'callable' failed with status 12345: an unknown status")
        }

        @Test func an_error_beside_success_is_dropped_and_freed() throws {
            try leavingNothing {
                let callable = try make { _, _, _, result, error in
                    error?.pointee = ErrorBox.make(Failure(.host, "never mind"))
                    result?.pointee = invivo_bool(true)
                    return 0
                }
                #expect(try callable.call([]).isSame(as: .bool(true)))
            }
        }

        @Test func an_unusable_result_is_the_callables_failure() throws {
            let callable = try make { _, _, _, result, _ in
                result?.pointee = invivo_string_n(nil, 4)
                return 0
            }
            let failure = failure { () throws(Failure) in _ = try callable.call([]) }
            #expect(
                failure.text
                    == "the result of 'callable' is not usable (because a string: NULL with a length of 4)")
        }

        @Test func options_that_cannot_be_used_leave_the_user_data_alone() {
            let before = destroyed.load(ordering: .relaxed)
            leavingNothing {
                #expect(failure { () throws(Failure) in _ = try Callable(options: nil) }.text == "options is NULL")
                #expect(
                    failure { () throws(Failure) in _ = try make(nil) }.text
                        == "invivo_callable_options has no invoke function")
                var small = options(Self.sum)
                small.struct_size = 0
                #expect(
                    failure { () throws(Failure) in _ = try Callable(options: &small) }.text
                        == "invivo_callable_options has struct_size 0: "
                        + "set it to sizeof(its type), \(MemoryLayout<invivo_callable_options>.size) in this version")
            }
            #expect(destroyed.load(ordering: .relaxed) == before)
        }
    }
}

extension Int {
    /// Constants of base.h are imported as Int.
    var status: invivo_status { invivo_status(truncatingIfNeeded: self) }
}
