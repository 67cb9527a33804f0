import CInvivo
import InvivoBase
import Testing

extension Border {
    @Suite struct ValueConversion {
        static let numbers: [ValueKind] = [
            .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64, .float, .double,
        ]
        static let integers = numbers.dropLast(2)

        /// One value of each kind, numbers all 1.
        func samples(_ tables: Tables) throws -> [Value] {
            [
                .null, .bool(true), .int8(1), .int16(1), .int32(1), .int64(1), .uint8(1), .uint16(1), .uint32(1),
                .uint64(1), .float(1), .double(1), .string("1"), .bytes([1]), .list([.int8(1)]),
                .map([(name: "one", value: .int8(1))]), .type(try tables.type()),
                .callable(Callable("one") { (_) throws(Failure) in .null }), .enumeration(number: 1, name: "one"),
            ]
        }

        @Test func each_kind_converts_to_itself_and_to_what_says_the_same() throws {
            try leavingNothing {
                for value in try samples(Tables()) {
                    for kind in ValueKind.allCases {
                        let allowed =
                            kind == .any || kind == value.kind
                            || (Self.numbers.contains(value.kind) && Self.numbers.contains(kind))
                            || (Self.integers.contains(value.kind) && kind == .enumeration)
                            || (value.kind == .enumeration && Self.integers.contains(kind))
                            || (value.kind == .enumeration && kind == .string)
                        do throws(Failure) {
                            let converted = try value.converted(to: kind)
                            #expect(allowed, "\(value.kind) -> \(kind)")
                            #expect(converted.kind == (kind == .any ? value.kind : kind))
                        } catch {
                            #expect(!allowed, "\(value.kind) -> \(kind): \(error.message)")
                            #expect(error.code == .type)
                        }
                    }
                }
            }
        }

        @Test func integers_of_every_width_fit_exactly_at_their_bounds() throws {
            func check<Integer: FixedWidthInteger>(_ kind: ValueKind, _ type: Integer.Type) throws {
                #expect(
                    try Value.int64(Int64(clamping: Integer.min)).converted(to: kind).description == "\(Integer.min)")
                #expect(try Value.uint64(UInt64(Integer.max)).converted(to: kind).description == "\(Integer.max)")
                if let above = UInt64(exactly: Double(Integer.max) + 1), Integer.bitWidth < 64 {
                    let outside = failure { () throws(Failure) in _ = try Value.uint64(above).converted(to: kind) }
                    #expect(outside.code == .range)
                    #expect(outside.message == "\(above) is outside \(Integer.min)...\(Integer.max) (\(kind.name))")
                }
                if Integer.bitWidth < 64 {
                    let below = Int64(Integer.min) - 1
                    let outside = failure { () throws(Failure) in _ = try Value.int64(below).converted(to: kind) }
                    #expect(outside.message == "\(below) is outside \(Integer.min)...\(Integer.max) (\(kind.name))")
                }
            }
            try check(.int8, Int8.self)
            try check(.int16, Int16.self)
            try check(.int32, Int32.self)
            try check(.int64, Int64.self)
            try check(.uint8, UInt8.self)
            try check(.uint16, UInt16.self)
            try check(.uint32, UInt32.self)
            try check(.uint64, UInt64.self)
        }

        @Test(arguments: [
            (Value.uint64(.max), ValueKind.uint64, "18446744073709551615"),
            (.double(-0.0), .int8, "0"), (.double(255), .uint8, "255"), (.float(-128), .int8, "-128"),
            (.double(0x1p63), .uint64, "9223372036854775808"), (.double(-0x1p63), .int64, "-9223372036854775808"),
            (.int64(1 << 53), .double, "9007199254740992"), (.uint64(1 << 63), .double, "9.223372036854776e+18"),
            (.int32(1 << 24), .float, "16777216"), (.double(0.1), .float, "0.1"), (.float(0.5), .double, "0.5"),
            (.double(.infinity), .float, "inf"), (.double(.nan), .float, "nan"), (.float(.nan), .double, "nan"),
            (.double(0x1p-149), .float, "1e-45"), (.double(3.4028234e38), .float, "3.4028235e+38"),
            (.uint64(3), .enumeration, "3"), (.enumeration(number: -1, name: nil), .int8, "-1"),
            (.enumeration(number: 2, name: "saw"), .string, "'saw'"),
        ])
        func what_fits_is_kept(_ value: Value, _ kind: ValueKind, _ shown: String) throws {
            let converted = try value.converted(to: kind)
            #expect(converted.kind == kind)
            #expect(converted.description == shown)
        }

        @Test(arguments: [
            (Value.int32(300), ValueKind.uint8, Status.range, "300 is outside 0...255 (uint8)"),
            (
                .uint64(.max), .int64, .range,
                "18446744073709551615 is outside -9223372036854775808...9223372036854775807 (int64)"
            ),
            (.int8(-1), .uint64, .range, "-1 is outside 0...18446744073709551615 (uint64)"),
            (.double(256), .uint8, .range, "256 is outside 0...255 (uint8)"),
            (.double(0x1p64), .uint64, .range, "1.8446744073709552e+19 is outside 0...18446744073709551615 (uint64)"),
            (.double(0.5), .int32, .range, "0.5 is not a whole number"),
            (.float(1.5), .int32, .range, "1.5 is not a whole number"),
            (.double(.nan), .int32, .range, "nan is not a whole number"),
            (.double(.infinity), .int32, .range, "inf is outside -2147483648...2147483647 (int32)"),
            (.double(1e39), .float, .range, "a float cannot hold 1e+39"),
            (.double(1e-60), .float, .range, "a float cannot hold 1e-60"),
            (.double(1.1e-44), .float, .range, "a float cannot hold 1.1e-44"),
            (.int64(1 << 53 + 1), .double, .range, "a double cannot hold 9007199254740993 exactly"),
            (.uint64(.max), .double, .range, "a double cannot hold 18446744073709551615 exactly"),
            (.int32(1 << 24 + 1), .float, .range, "a float cannot hold 16777217"),
            (.string("300"), .int32, .type, "'300' (a string) is not a whole number"),
            (.bool(true), .int32, .type, "true (a bool) is not a whole number"),
            (.int32(1), .bool, .type, "1 (a whole number) is not a bool"),
            (.null, .double, .type, "null is not a number"),
            (.enumeration(number: 300, name: "loud"), .uint8, .range, "300 is outside 0...255 (uint8)"),
            (.enumeration(number: 1, name: nil), .string, .type, "1 (an enumeration) is not a string"),
            (
                .uint64(.max), .enumeration, .range,
                "18446744073709551615 is outside -9223372036854775808...9223372036854775807 (int64)"
            ),
        ])
        func what_would_be_lost_is_refused(_ value: Value, _ kind: ValueKind, _ code: Status, _ message: String) {
            let failure = failure { () throws(Failure) in _ = try value.converted(to: kind) }
            #expect(failure.code == code)
            #expect(failure.message == message)
        }

        @Test func numbers_of_no_kind_are_refused() {
            let failure = failure { () throws(Failure) in _ = try Value.int8(1).converted(to: invivo_kind(77)) }
            #expect(failure.code == .argument)
            #expect(failure.message == "77 is not the number of a kind")
        }

        @Test func sameness_is_exact() {
            #expect(Value.double(.nan).isSame(as: .double(.nan)))
            #expect(!Value.double(0).isSame(as: .double(-0.0)))
            #expect(!Value.int8(1).isSame(as: .int16(1)))
            #expect(!Value.string("e\u{301}").isSame(as: .string("\u{e9}")))
            let ab = Value.map([(name: "a", value: .int8(1)), (name: "b", value: .null)])
            #expect(ab.isSame(as: .map([(name: "b", value: .null), (name: "a", value: .int8(1))])))
            #expect(!ab.isSame(as: .map([(name: "a", value: .int8(1)), (name: "b", value: .int8(0))])))
            #expect(Value.enumeration(number: 1, name: "saw").isSame(as: .enumeration(number: 1, name: nil)))
        }
    }
}
