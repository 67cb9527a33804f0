import CInvivo
import Glibc
import Invivo
import InvivoABI
import Synchronization
import Testing

private let destroyed = Atomic<Int>(0)

extension SwiftAPI {
    /// base.h, value.h and type.h as C calls them.
    @Suite struct BorderFunctions {
        /// A runtime opened through C, and names for its tables. Closed by `run`, which compares the live counts.
        final class Host {
            var runtime = invivo_runtime()
            private var texts: [UnsafeMutablePointer<CChar>] = []

            func text(_ text: String) -> UnsafePointer<CChar>? {
                guard let copy = strdup(text) else { return nil }
                texts.append(copy)
                return UnsafePointer(copy)
            }

            deinit { for text in texts { free(text) } }

            static func run(_ location: SourceLocation = #_sourceLocation, _ body: (Host) throws -> Void) throws {
                let before = Live.now
                do {
                    let host = Host()
                    var error: OpaquePointer?
                    #expect(invivo_runtime_open(&host.runtime, nil, &error) == 0)
                    try body(host)
                    #expect(invivo_runtime_close(host.runtime, &error) == 0, "\(told(error))")
                }
                #expect(Live.now == before, sourceLocation: location)
            }

            func options(_ name: String, size: UInt64 = 8) -> invivo_type_options {
                var options = invivo_type_options()
                options.struct_size = MemoryLayout<invivo_type_options>.size
                options.name = text(name)
                options.size = size
                options.destroy = { _ in destroyed.add(1, ordering: .relaxed) }
                return options
            }
        }

        /// The code and text of an error, which is released.
        static func told(_ error: OpaquePointer?) -> String {
            defer { invivo_error_release(error) }
            return "\(invivo_error_code(error)) " + String(cString: invivo_error_text(error))
        }

        func answer(_ call: (UnsafeMutablePointer<OpaquePointer?>) -> invivo_status) -> String {
            var error: OpaquePointer?
            let status = call(&error)
            #expect(status == invivo_error_code(error))
            return Self.told(error)
        }

        // MARK: base.h

        @Test func versions_and_statuses_are_named() {
            #expect(invivo_version() == 1000 && String(cString: invivo_version_text()) == "0.1.0")
            #expect(String(cString: invivo_status_name(-8)) == "INVIVO_E_RANGE")
            #expect(String(cString: invivo_status_text(0)) == "success")
            for status in [1, -1000, Int32.min] {
                #expect(String(cString: invivo_status_name(status)) == "INVIVO_E_UNKNOWN")
                #expect(String(cString: invivo_status_text(status)) == "an unknown status")
            }
        }

        @Test func an_error_takes_over_its_cause() {
            let before = Live.now
            let cause = invivo_error_make(-27, "no space", nil, nil)
            let error = invivo_error_make(-30, "cannot save", "synth.lead", cause)
            #expect(invivo_error_code(error) == -30)
            #expect(String(cString: invivo_error_message(error)) == "cannot save")
            #expect(String(cString: invivo_error_path(error)) == "synth.lead")
            #expect(String(cString: invivo_error_text(error)) == "synth.lead: cannot save (because no space)")
            #expect(String(cString: invivo_error_message(invivo_error_cause(error))) == "no space")
            #expect(invivo_error_cause(invivo_error_cause(error)) == nil)
            #expect(invivo_error_count(error) == 1 && invivo_error_at(error, 0) == error)
            #expect(invivo_error_at(error, 1) == nil)
            invivo_error_release(error)
            #expect(Live.now == before)
        }

        @Test func an_error_keeps_its_place_and_joins_others() {
            let before = Live.now
            let first = invivo_error_make_at(-8, "too loud", "synth.lead", "patch.bin", 3, 7, nil)
            #expect(String(cString: invivo_error_text(first)) == "patch.bin:3:7: synth.lead: too loud")
            #expect(invivo_error_line(first) == 3 && invivo_error_column(first) == 7)
            let second = invivo_error_join(invivo_error_make(-5, "no voice", nil, nil), nil)
            let third = invivo_error_join(nil, invivo_error_make(-7, "no text", nil, nil))
            let all = invivo_error_join(invivo_error_join(first, second), third)
            #expect(invivo_error_count(all) == 3 && invivo_error_code(all) == -8)
            #expect(String(cString: invivo_error_file(invivo_error_at(all, 0))) == "patch.bin")
            #expect(invivo_error_code(invivo_error_at(all, 2)) == -7)
            #expect(invivo_error_join(nil, nil) == nil)
            invivo_error_release(all)
            #expect(Live.now == before)
        }

        @Test func no_error_answers_neutral_values() {
            #expect(invivo_error_code(nil) == 0 && invivo_error_line(nil) == 0 && invivo_error_column(nil) == 0)
            #expect(String(cString: invivo_error_message(nil)) == "" && String(cString: invivo_error_text(nil)) == "")
            #expect(String(cString: invivo_error_path(nil)) == "" && String(cString: invivo_error_file(nil)) == "")
            #expect(invivo_error_count(nil) == 0 && invivo_error_at(nil, 0) == nil && invivo_error_cause(nil) == nil)
            invivo_error_release(nil)
        }

        // MARK: value.h

        @Test func a_conversion_that_fails_leaves_null() {
            var value = invivo_int64(300)
            var out = invivo_int64(7)
            #expect(
                answer { invivo_value_convert(&out, &value, UInt32(INVIVO_KIND_UINT8), $0) }
                    == "-8 300 is outside 0...255 (uint8)")
            #expect(out.kind == UInt32(INVIVO_KIND_NULL))
            #expect(invivo_value_convert(&out, &value, UInt32(INVIVO_KIND_DOUBLE), nil) == 0)
            #expect(out.kind == UInt32(INVIVO_KIND_DOUBLE) && out.as.number == 300)
            #expect(answer { invivo_value_convert(nil, &value, UInt32(INVIVO_KIND_INT8), $0) }.hasPrefix("-"))
            #expect(answer { invivo_value_convert(&out, nil, UInt32(INVIVO_KIND_INT8), $0) } == "-1 value is NULL")
            #expect(answer { invivo_value_copy(nil, &value, $0) } == "-1 out is NULL")
        }

        @Test func a_copy_in_place_owns_what_it_pointed_to() {
            var value = invivo_null()
            "lent".withCString { lent in
                value = invivo_string(lent)
                let place = withUnsafeMutablePointer(to: &value) { $0 }
                #expect(invivo_value_copy(place, place, nil) == 0)
                #expect(value.as.string.data != lent)
            }
            #expect(value.as.string.length == 4 && value.as.string.data[0] == 108)
            invivo_value_clear(&value)
            invivo_value_clear(&value)
            invivo_value_clear(nil)
            #expect(value.kind == UInt32(INVIVO_KIND_NULL))
        }

        @Test func kinds_are_named() {
            #expect(String(cString: invivo_kind_name(UInt32(INVIVO_KIND_UINT16))) == "uint16")
            #expect(String(cString: invivo_kind_name(200)) == "unknown")
        }

        @Test func a_callable_is_counted_and_called() throws {
            try Host.run { host in
                let count = destroyed.load(ordering: .relaxed)
                var options = invivo_callable_options()
                options.struct_size = MemoryLayout<invivo_callable_options>.size
                options.name = host.text("double it")
                options.user_data = UnsafeMutableRawPointer(bitPattern: 2)
                options.destroy = { _ in destroyed.add(1, ordering: .relaxed) }
                var callable = invivo_callable(bits: 1)
                #expect(answer { invivo_callable_make(host.runtime, &options, &callable, $0) }.hasPrefix("-1 "))
                #expect(callable.bits == 0)
                options.invoke = { userData, arguments, count, result, error in
                    guard count == 1, let arguments else {
                        error?.pointee = invivo_error_make(-12, "one number, please", nil, nil)
                        return -12
                    }
                    result?.pointee = invivo_int64(arguments[0].as.signed_integer * Int64(Int(bitPattern: userData)))
                    return 0
                }
                #expect(answer { invivo_callable_make(invivo_runtime(), &options, &callable, $0) }.hasPrefix("-2 "))
                #expect(invivo_callable_make(host.runtime, &options, &callable, nil) == 0)
                #expect(invivo_callable_user_data(callable, options.invoke) == options.user_data)

                var argument = invivo_int64(21)
                var result = invivo_null()
                #expect(invivo_callable_call(callable, &argument, 1, &result, nil) == 0)
                #expect(result.as.signed_integer == 42)
                #expect(answer { invivo_callable_call(callable, nil, 0, &result, $0) } == "-12 one number, please")
                #expect(result.kind == UInt32(INVIVO_KIND_NULL))
                #expect(invivo_callable_call(callable, &argument, 1, nil, nil) == 0)

                #expect(invivo_callable_retain(callable) == 0)
                #expect(invivo_callable_release(callable) == 0 && invivo_callable_release(callable) == 0)
                #expect(destroyed.load(ordering: .relaxed) == count + 1)
                #expect(invivo_callable_release(callable) == -2 && invivo_callable_retain(callable) == -2)
                #expect(invivo_callable_user_data(callable, options.invoke) == nil)
            }
        }

        // MARK: type.h

        @Test func a_type_is_registered_once_and_found_by_name() throws {
            let count = destroyed.load(ordering: .relaxed)
            try Host.run { host in
                var options = host.options("Oscillator")
                var type = invivo_type()
                #expect(invivo_type_register(host.runtime, &options, &type, nil) == 0)
                #expect(String(cString: invivo_type_name(type)) == "Oscillator")
                var again = invivo_type(bits: 3)
                #expect(answer { invivo_type_register(host.runtime, &options, &again, $0) }.hasPrefix("-6 "))
                #expect(again.bits == 0)
                #expect(destroyed.load(ordering: .relaxed) == count)
                #expect(invivo_type_find(host.runtime, "Oscillator", &again, nil) == 0)
                #expect(again.bits == type.bits)
                let unknown = answer { invivo_type_find(host.runtime, "Osclllator", &again, $0) }
                #expect(unknown.hasPrefix("-5 ") && unknown.contains("'Oscillator'"))
                #expect(again.bits == 0)
                #expect(answer { invivo_type_find(host.runtime, nil, &again, $0) } == "-1 name is NULL")
                #expect(answer { invivo_type_register(host.runtime, nil, &again, $0) } == "-1 options is NULL")
                var other = host.options("Mixer")
                other.destroy = nil
                #expect(invivo_type_register(host.runtime, &other, nil, nil) == 0)
                #expect(invivo_type_find(host.runtime, "Mixer", &again, nil) == 0)
            }
            #expect(destroyed.load(ordering: .relaxed) == count + 1)
        }

        @Test func members_are_described_as_they_were_given() throws {
            try Host.run { host in
                var gain = invivo_property()
                gain.struct_size = MemoryLayout<invivo_property>.size
                gain.name = host.text("gain")
                gain.kind = UInt32(INVIVO_KIND_DOUBLE)
                (gain.max, gain.initial, gain.unit) = (2, 0.5, host.text("dB"))
                var method = invivo_method()
                method.struct_size = MemoryLayout<invivo_method>.size
                method.name = host.text("reset")
                method.call = { _, _, _, _, _, _ in 0 }
                var type = invivo_type()
                withUnsafePointer(to: gain) { gain in
                    withUnsafePointer(to: method) { method in
                        var options = host.options("Voice")
                        (options.properties, options.property_count) = (gain, 1)
                        (options.methods, options.method_count) = (method, 1)
                        #expect(invivo_type_register(host.runtime, &options, &type, nil) == 0)
                    }
                }
                #expect(invivo_type_property_count(type) == 1 && invivo_type_method_count(type) == 1)
                var seen = invivo_property()
                #expect(invivo_type_property_at(type, 0, &seen) == 0)
                #expect(String(cString: seen.name) == "gain" && String(cString: seen.unit) == "dB")
                #expect(seen.max == 2 && seen.initial == 0.5 && seen.size == 8)
                #expect(invivo_type_property_at(type, 1, &seen) == -5 && seen.name == nil)
                #expect(invivo_type_property_at(type, 0, nil) == -1)
                var seenMethod = invivo_method()
                #expect(invivo_type_method_at(type, 0, &seenMethod) == 0)
                #expect(String(cString: seenMethod.name) == "reset")
                #expect(invivo_type_method_at(type, .max, &seenMethod) == -5)

                let bad = invivo_type(bits: type.bits ^ 1 << 40)
                #expect(invivo_type_name(bad) == nil && invivo_type_property_count(bad) == 0)
                #expect(
                    invivo_type_property_at(bad, 0, &seen) == -2 && invivo_type_method_at(bad, 0, &seenMethod) == -2)
            }
        }

        @Test func an_object_of_another_type_is_no_argument() throws {
            try Host.run { host in
                var mixer = invivo_type()
                var voice = invivo_type()
                var options = host.options("Voice")
                #expect(invivo_type_register(host.runtime, &options, &voice, nil) == 0)
                var wanted = invivo_parameter(
                    name: host.text("to"), kind: UInt32(INVIVO_KIND_OBJECT), flags: 0, type_name: host.text("Mixer"))
                withUnsafePointer(to: &wanted) { wanted in
                    var options = host.options("Mixer")
                    (options.parameters, options.parameter_count) = (wanted, 1)
                    #expect(invivo_type_register(host.runtime, &options, &mixer, nil) == 0)
                }
                var object = invivo_object()
                #expect(invivo_object_make(host.runtime, voice, nil, 0, &object, nil) == 0)
                var argument = invivo_object_value(object)
                var made = invivo_object()
                #expect(
                    answer { invivo_object_make(host.runtime, mixer, &argument, 1, &made, $0) }
                        == "-7 argument 'to' of Mixer(to: Mixer): an object of type Voice is not a Mixer")
                #expect(made.bits == 0)
                #expect(invivo_object_release(object) == 0)
            }
        }
    }
}
