import CInvivo
import CPlatform
import Testing

@testable import InvivoBase

extension Border {
    @Suite struct ValueBorder {
        /// A random value of a kind without a runtime.
        func random(_ depth: Int, _ generator: inout SeededGenerator, _ callable: Callable, _ type: TypeDescription)
            -> Value
        {
            func text() -> String {
                String(
                    (0..<Int.random(in: 0...20, using: &generator)).map { _ in
                        ["a", "z", "\u{e9}", "\u{1F3B9}", "\0", "'", " "].randomElement(using: &generator) ?? "a"
                    })
            }
            switch Int.random(in: 0..<(depth > 0 ? 18 : 16), using: &generator) {
            case 0: return .null
            case 1: return .bool(.random(using: &generator))
            case 2: return .int8(.random(in: .min ... .max, using: &generator))
            case 3: return .int16(.random(in: .min ... .max, using: &generator))
            case 4: return .int32(.random(in: .min ... .max, using: &generator))
            case 5: return .int64(.random(in: .min ... .max, using: &generator))
            case 6: return .uint8(.random(in: .min ... .max, using: &generator))
            case 7: return .uint16(.random(in: .min ... .max, using: &generator))
            case 8: return .uint32(.random(in: .min ... .max, using: &generator))
            case 9: return .uint64(.random(in: .min ... .max, using: &generator))
            case 10: return .float(Float(bitPattern: .random(in: 0 ... .max, using: &generator) & 0xFFBF_FFFF))
            case 11: return .double(Double(bitPattern: generator.next()))
            case 12: return .string(text())
            case 13: return .bytes((0..<Int.random(in: 0...9, using: &generator)).map { UInt8($0) })
            case 14:
                let name = text().filter { $0 != "\0" }
                return .enumeration(
                    number: Int64(bitPattern: generator.next()), name: Bool.random(using: &generator) ? nil : name)
            case 15: return Bool.random(using: &generator) ? .callable(callable) : .type(type)
            case 16:
                return .list(
                    (0..<Int.random(in: 0...4, using: &generator)).map { _ in
                        random(depth - 1, &generator, callable, type)
                    })
            default:
                return .map(
                    (0..<Int.random(in: 0...4, using: &generator)).map {
                        (name: "\($0)\(text())", value: random(depth - 1, &generator, callable, type))
                    })
            }
        }

        @Test func random_values_come_back_the_same() throws {
            let seed = UInt64.random(in: 0 ... .max)
            var generator = SeededGenerator(seed: seed)
            for batch in 0..<100 {
                try leavingNothing { try checkRandomValues(&generator, "seed \(seed), batch \(batch)") }
            }
        }

        func checkRandomValues(_ generator: inout SeededGenerator, _ note: String) throws {
            let callable = Callable("it") { (_) throws(Failure) in .null }
            let type = try Tables().type()
            for round in 0..<50 {
                let value = random(4, &generator, callable, type)
                let back = try value.throughC()
                #expect(back.isSame(as: value), "\(note), round \(round): \(value) came back as \(back)")
                let lent = Value.withBorrowed([value, .int8(1)]) { pointer, count -> Bool in
                    guard let pointer, count == 2, let seen = try? Value(borrowing: pointer.pointee) else {
                        return false
                    }
                    return seen.isSame(as: value)
                }
                #expect(lent, "\(note), round \(round): \(value) lent")
            }
        }

        @Test func no_arguments_are_no_array() {
            #expect(Value.withBorrowed([]) { $0 == nil && $1 == 0 })
            #expect(throws: Never.self) { try Value.borrowed(nil, 0) }
        }

        @Test func signed_kinds_travel_as_signed_and_unsigned_as_unsigned() throws {
            var value = Value.int8(-5).owned()
            #expect(value.as.signed_integer == -5)
            value = Value.uint8(250).owned()
            #expect(value.as.unsigned_integer == 250)
            var zero = Value.string("").owned()
            defer { Value.free(&zero) }
            #expect(zero.as.string.data != nil && zero.as.string.length == 0)
        }

        @Test func clearing_frees_only_what_was_made_here() throws {
            // A literal that a callback returned, as value.h permits: nothing of it must be freed.
            var answered = literal("a literal")
            Value.free(&answered)
            #expect(answered.kind == UInt32(INVIVO_KIND_NULL))
            var owned = Value.list([.string("x"), .map([(name: "y", value: .bytes([1]))])]).owned()
            Value.free(&owned)
            #expect(owned.kind == UInt32(INVIVO_KIND_NULL))
            Value.free(&owned)
        }

        @Test func a_copy_holds_callables_by_leases() throws {
            try leavingNothing {
                var copy = Value.list([.callable(Callable("it") { (_) throws(Failure) in .int8(7) })]).owned()
                let back = try Value(borrowing: copy)
                guard case .list(let items) = back, case .callable(let callable)? = items.first else {
                    Issue.record("not a callable")
                    return
                }
                let result = try callable.call([])
                #expect(result.isSame(as: .int8(7)))
                Value.free(&copy)
            }
        }

        @Test func a_copy_holds_objects_by_leases() throws {
            let record = Record.allocate(capacity: 1)
            record.initialize(to: iv_record())
            defer { record.deallocate() }
            // Held as by a graph: only this test disposes of it.
            let slot = try #require(ObjectTable.takeSlot())
            let bits = ObjectTable.open(slot, record, owner: 0, leases: 1, hold: true)
            defer { ObjectTable.close(slot) }
            var owned = invivo_null()
            do {
                let value = Value.object(try ObjectLease.retaining(bits))
                #expect(try value.throughC().isSame(as: value))
                owned = value.owned()
            }
            #expect(ObjectTable.release(bits))
            #expect(ObjectTable.leases(bits) == 1)
            do {
                let back = try Value(borrowing: owned)
                guard case .object(let lease) = back else {
                    Issue.record("not an object")
                    return
                }
                #expect(lease.bits == bits && ObjectTable.leases(bits) == 2)
            }
            Value.free(&owned)
            #expect(ObjectTable.leases(bits) == 0)
        }

        // MARK: invalid C values

        func refused(_ value: invivo_value) -> Failure {
            failure { () throws(Failure) in _ = try Value(borrowing: value) }
        }

        @Test func numbers_outside_the_kind_they_claim_are_refused() {
            var value = invivo_int64(300)
            value.kind = UInt32(INVIVO_KIND_INT8)
            #expect(refused(value).text == "300 is outside -128...127 (int8)")
            value = invivo_uint64(1 << 40)
            value.kind = UInt32(INVIVO_KIND_UINT32)
            #expect(refused(value).code == .range)
        }

        @Test(arguments: [20, 254, 255, 256, UInt32.max]) func numbers_of_no_kind_are_refused(_ kind: UInt32) {
            var value = invivo_null()
            value.kind = kind
            #expect(refused(value).text == "\(kind) is not the kind of a value")
            #expect(refused(value).code == .argument)
        }

        @Test func null_with_a_length_is_refused() {
            #expect(refused(invivo_string_n(nil, 3)).text == "a string: NULL with a length of 3")
            #expect(refused(invivo_bytes(nil, 3)).text == "bytes: NULL with a length of 3")
            #expect(refused(invivo_list(nil, 1)).text == "a list: NULL with a length of 1")
            #expect(refused(invivo_map(nil, 1)).text == "a map: NULL with a length of 1")
            #expect(failure { () throws(Failure) in _ = try Value.borrowed(nil, 2) }.code == .argument)
            #expect(failure { () throws(Failure) in _ = try Value(borrowing: nil, "value") }.text == "value is NULL")
        }

        @Test func lengths_that_cannot_be_are_refused() {
            "x".withCString { #expect(refused(invivo_string_n($0, .max)).code == .tooLarge) }
            var item = invivo_null()
            #expect(refused(invivo_list(&item, 1 << 60)).code == .tooLarge)
        }

        @Test func null_with_no_length_is_empty() throws {
            #expect(try Value(borrowing: invivo_string_n(nil, 0)).isSame(as: .string("")))
            #expect(try Value(borrowing: invivo_list(nil, 0)).isSame(as: .list([])))
            #expect(try Value(borrowing: invivo_map(nil, 0)).isSame(as: .map([])))
            #expect(try Value(borrowing: invivo_bytes(nil, 0)).isSame(as: .bytes([])))
        }

        @Test func text_that_is_not_utf8_is_refused() {
            let bytes: [CChar] = [65, -61, 40]
            bytes.withUnsafeBufferPointer {
                let failure = refused(invivo_string_n($0.baseAddress, 3))
                #expect(failure.code == .encoding)
                #expect(failure.text == "a string is not UTF-8")
            }
        }

        @Test func values_nested_too_deep_are_refused() throws {
            func nested(_ depth: Int) -> Value { (0..<depth).reduce(.int8(1)) { inner, _ in .list([inner]) } }
            #expect(try nested(64).throughC().isSame(as: nested(64)))
            let failure = failure { () throws(Failure) in _ = try nested(65).throughC() }
            #expect(failure.code == .tooLarge)
            #expect(failure.text == "lists and maps are nested deeper than 64")
        }

        @Test func bad_handles_in_values_are_refused() {
            #expect(refused(invivo_object_value(invivo_object(bits: 0))).code == .handle)
            #expect(refused(invivo_type_value(invivo_type(bits: 42))).code == .handle)
            #expect(refused(invivo_callable_value(invivo_callable(bits: .max))).code == .handle)
        }

        @Test func a_bool_of_c_is_true_when_it_is_not_zero() throws {
            var value = invivo_bool(false)
            value.as.unsigned_integer = 2
            #expect(try Value(borrowing: value).isSame(as: .bool(true)))
        }
    }
}
