import CInvivo
import InvivoBase
import Testing

extension Border {
    @Suite struct Properties {
        /// Memory for one instance, zeroed.
        final class Instance {
            let base = UnsafeMutableRawPointer.allocate(byteCount: 256, alignment: 16)
            init() { base.initializeMemory(as: UInt8.self, repeating: 0, count: 256) }
            deinit { base.deallocate() }
        }

        let tables = Tables()
        let instance = Instance()

        func property(
            _ kind: ValueKind, at offset: Int = 16, size: Int? = nil, _ fill: (inout invivo_property) -> Void = { _ in }
        ) throws -> Property {
            try tables.type(properties: [tables.property("gain", kind, at: offset, size: size, fill)])
                .property(named: "gain").property
        }

        func wave(_ kind: ValueKind = .uint8, _ fill: (inout invivo_property) -> Void = { _ in }) throws -> Property {
            try property(kind) {
                tables.choices([("sine", 0), ("saw", 1), ("square", 7)], in: &$0)
                fill(&$0)
            }
        }

        // MARK: fields

        @Test(
            arguments: [
                Value.bool(true), .int8(.min), .int8(.max), .int16(.min), .int32(.max), .int64(.min), .uint8(.max),
                .uint16(.max), .uint32(.max), .uint64(.max), .float(-0.0), .float(.infinity), .double(.nan),
                .double(.leastNonzeroMagnitude),
            ], [16, 13])
        func a_field_gives_back_what_was_written(_ value: Value, _ offset: Int) throws {
            let property = try property(value.kind, at: offset)
            let checked = try property.check(value)
            property.write(checked, to: instance.base)
            #expect(property.read(instance.base).isSame(as: value))
            #expect(try property.get(instance.base).isSame(as: value))
            let width = try #require(value.kind.width)
            let around = (0..<64).filter { !(offset..<offset + width).contains($0) }
            #expect(around.allSatisfy { instance.base.load(fromByteOffset: $0, as: UInt8.self) == 0 })
        }

        @Test func values_are_converted_to_the_kind_of_the_field() throws {
            #expect(try property(.uint8).check(.int64(200)).isSame(as: .uint8(200)))
            #expect(try property(.double).check(.int64(2)).isSame(as: .double(2)))
            #expect(try property(.float).check(.double(0.1)).isSame(as: .float(0.1)))
        }

        @Test func a_value_of_another_kind_writes_nothing() throws {
            let property = try property(.uint8)
            property.write(.double(.nan), to: instance.base)
            property.write(.string("much too long for one byte"), to: instance.base)
            property.write(.enumeration(number: -1, name: nil), to: instance.base)
            #expect((0..<256).allSatisfy { instance.base.load(fromByteOffset: $0, as: UInt8.self) == 0 })
        }

        @Test func text_fills_its_field_and_clears_the_rest() throws {
            let property = try property(.string, size: 8)
            property.write(try property.check(.string("longer!")), to: instance.base)
            #expect(property.read(instance.base).isSame(as: .string("longer!")))
            property.write(try property.check(.string("\u{e9}")), to: instance.base)
            #expect(property.read(instance.base).isSame(as: .string("\u{e9}")))
            #expect((18..<24).allSatisfy { instance.base.load(fromByteOffset: $0, as: UInt8.self) == 0 })
        }

        @Test func text_of_the_hosts_without_nul_ends_with_the_field() throws {
            let property = try property(.string, size: 4)
            for index in 16..<32 { instance.base.storeBytes(of: 65, toByteOffset: index, as: UInt8.self) }
            #expect(property.read(instance.base).isSame(as: .string("AAAA")))
        }

        @Test func bytes_fill_their_field_exactly() throws {
            let property = try property(.bytes, size: 3)
            property.write(try property.check(.bytes([1, 0, 255])), to: instance.base)
            #expect(property.read(instance.base).isSame(as: .bytes([1, 0, 255])))
        }

        @Test func an_enumeration_is_set_by_name_or_number_and_read_with_both() throws {
            for kind in ValueKind.allCases where kind.isInteger {
                let wave = try wave(kind)
                for given in [Value.string("square"), .int64(7), .double(7), .enumeration(number: 0, name: "square")] {
                    let checked = try wave.check(given)
                    wave.write(checked, to: instance.base)
                    #expect(wave.read(instance.base).isSame(as: .enumeration(number: 7, name: "square")))
                }
            }
        }

        @Test func a_number_without_a_name_is_read_and_restored() throws {
            let wave = try wave(.int16)
            instance.base.storeBytes(of: -3, toByteOffset: 16, as: Int16.self)
            let before = wave.read(instance.base)
            guard case .enumeration(number: -3, name: nil) = before else {
                Issue.record("read \(before)")
                return
            }
            wave.write(try wave.check(.string("saw")), to: instance.base)
            wave.write(before, to: instance.base)
            #expect(instance.base.load(fromByteOffset: 16, as: Int16.self) == -3)
        }

        // MARK: nested structs

        func envelope() throws -> Property {
            try property(.map, size: 24) { property in
                let steps = tables.property("steps", .uint8, at: 16)
                var attack = tables.property("attack", .double, at: 0) { $0.max = 2 }
                tables.was(["rise"], in: &attack)
                let release = tables.property("release", .float, at: 8) { $0.flags = UInt32(INVIVO_PROPERTY_READ_ONLY) }
                tables.fields([attack, release, steps], in: &property)
            }
        }

        @Test func a_nested_struct_is_a_map_and_missing_fields_keep_what_they_have() throws {
            let envelope = try envelope()
            instance.base.storeBytes(of: 0.25, toByteOffset: 24, as: Float.self)
            envelope.write(try envelope.check(.map([(name: "steps", value: .int64(9))])), to: instance.base)
            envelope.write(try envelope.check(.map([(name: "rise", value: .int64(1))])), to: instance.base)
            #expect(
                envelope.read(instance.base).isSame(
                    as: .map([
                        (name: "attack", value: .double(1)), (name: "release", value: .float(0.25)),
                        (name: "steps", value: .uint8(9)),
                    ])))
        }

        @Test func everything_wrong_in_a_nested_struct_is_said_at_once() throws {
            let envelope = try envelope()
            let failure = failure { () throws(Failure) in
                _ = try envelope.check(
                    .map([
                        (name: "atack", value: .double(1)), (name: "attack", value: .double(3)),
                        (name: "release", value: .double(1)), (name: "steps", value: .int64(1)),
                        (name: "steps", value: .int64(2)),
                    ]))
            }
            #expect(
                failure.text == """
                    gain.atack: 'gain' has no field 'atack'; did you mean 'attack'?
                    gain.attack: 3 is outside 0...2
                    gain.release: 'release' cannot be set: it is read only
                    gain.steps: the field 'steps' is given twice
                    """)
        }

        // MARK: refused descriptions

        func refusal(_ property: Property, _ value: Value) -> Failure {
            failure { () throws(Failure) in _ = try property.check(value) }
        }

        @Test func values_outside_are_refused_with_the_range_and_unit() throws {
            let cutoff = try property(.double) {
                ($0.min, $0.max, $0.initial, $0.unit) = (20, 20000, 800, tables.store.string("Hz"))
            }
            #expect(refusal(cutoff, .int64(5)).text == "gain: 5 is outside 20...20000 Hz")
            #expect(refusal(cutoff, .double(20000.5)).code == .range)
            #expect(refusal(cutoff, .double(.nan)).text == "gain: nan is outside 20...20000 Hz")
            #expect(try cutoff.check(.int64(20000)).isSame(as: .double(20000)))
            #expect(refusal(cutoff, .string("5")).text == "gain: '5' (a string) is not a number")
            #expect(refusal(cutoff, .null).text == "gain: expected a number, got null")
            #expect(refusal(cutoff, .null).code == .null)
        }

        @Test func bounds_are_compared_in_the_kind_of_the_property() throws {
            let float = try property(.float) { ($0.min, $0.max, $0.initial) = (0.1, 0.7, 0.5) }
            #expect(try float.check(.double(0.1)).isSame(as: .float(0.1)))
            #expect(try float.check(.double(0.7)).isSame(as: .float(0.7)))
            let wide = try property(.uint64) { $0.max = 0x1p64 }
            #expect(try wide.check(.uint64(.max)).isSame(as: .uint64(.max)))
            let signed = try property(.int64) { ($0.min, $0.max) = (-0x1p63, 0x1p63) }
            #expect(try signed.check(.int64(.max)).isSame(as: .int64(.max)))
            let tight = try property(.int64) { $0.max = 9_007_199_254_740_992 }
            #expect(refusal(tight, .int64(9_007_199_254_740_993)).code == .range)
            let upwards = try property(.double) { ($0.min, $0.max, $0.initial) = (1, .infinity, 1) }
            #expect(refusal(upwards, .double(0.5)).text == "gain: 0.5 is outside the range from 1")
            let downwards = try property(.float) { ($0.min, $0.max) = (-.infinity, 50) }
            #expect(refusal(downwards, .int64(60)).text == "gain: 60 is outside the range up to 50")
        }

        @Test func read_only_properties_are_refused() throws {
            let property = try property(.double) { $0.flags = UInt32(INVIVO_PROPERTY_READ_ONLY) }
            #expect(refusal(property, .double(1)).code == .readOnly)
            #expect(refusal(property, .double(1)).text == "gain: 'gain' cannot be set: it is read only")
        }

        @Test func unknown_choices_name_the_nearest_and_the_others() throws {
            let wave = try wave()
            #expect(
                refusal(wave, .string("squar")).text
                    == "gain: 'squar' is not one of sine, saw, square; did you mean 'square'?")
            #expect(refusal(wave, .string("x9z8y7")).text == "gain: 'x9z8y7' is not one of sine, saw, square")
            #expect(refusal(wave, .int64(3)).text == "gain: 3 is not one of 0 (sine), 1 (saw), 7 (square)")
            #expect(refusal(wave, .uint64(.max)).code == .range)
            #expect(refusal(wave, .bool(true)).code == .type)
            #expect(refusal(wave, .null).text == "gain: expected one of sine, saw, square, got null")
        }

        @Test func several_names_of_a_number_stand_for_its_first_name() throws {
            let wave = try property(.uint8) { tables.choices([("sine", 0), ("saw", 1), ("tooth", 1)], in: &$0) }
            let saw = Value.enumeration(number: 1, name: "saw")
            for value in [Value.string("tooth"), .string("saw"), .int64(1)] {
                #expect(try wave.check(value).isSame(as: saw))
            }
        }

        @Test func text_that_does_not_fit_is_refused() throws {
            let text = try property(.string, size: 4)
            #expect(try text.check(.string("abc")).isSame(as: .string("abc")))
            #expect(refusal(text, .string("abcd")).text == "gain: the string has 4 bytes; at most 3 fit")
            #expect(
                refusal(text, .string("a\0")).text
                    == "gain: the string contains a NUL character, which a C string cannot hold")
            let bytes = try property(.bytes, size: 2)
            #expect(refusal(bytes, .bytes([1])).text == "gain: 1 byte where exactly 2 are needed")
        }

        // MARK: by functions

        static let get: Property.Getter = { instance, userData, out, error in
            guard let instance else { return INVIVO_E_ARGUMENT.status }
            switch instance.load(as: Int.self) {
            case 1: out?.pointee = invivo_int64(Int64(Int(bitPattern: userData)))
            case 2: out?.pointee = literal("loud")
            case 3:
                error?.pointee = ErrorBox.make(Failure(.busy, "not now", cause: Failure(.system, "fire")))
                return INVIVO_E_BUSY.status
            default: out?.pointee = invivo_null()
            }
            return 0
        }
        static let set: Property.Setter = { instance, _, value, error in
            guard let value, value.pointee.kind == UInt32(INVIVO_KIND_DOUBLE) else {
                return INVIVO_E_TYPE.status
            }
            if value.pointee.as.number > 10 {
                error?.pointee = ErrorBox.make(Failure(.range, "eleven is too loud"))
                return INVIVO_E_RANGE.status
            }
            instance?.storeBytes(of: value.pointee.as.number, toByteOffset: 8, as: Double.self)
            return 0
        }

        func functions(_ kind: ValueKind, set: Property.Setter? = nil) throws -> Property {
            try property(kind, size: 0) {
                $0.get = Self.get
                $0.set = set
                $0.user_data = UnsafeMutableRawPointer(bitPattern: 42)
            }
        }

        @Test func a_get_function_answers_in_the_kind_of_the_property() throws {
            try leavingNothing {
                instance.base.storeBytes(of: 1, as: Int.self)
                let property = try functions(.double)
                #expect(try property.get(instance.base).isSame(as: .double(42)))
                instance.base.storeBytes(of: 0, as: Int.self)
                #expect(try property.get(instance.base).isNull)
                instance.base.storeBytes(of: 2, as: Int.self)
                let failure = failure { () throws(Failure) in _ = try property.get(instance.base) }
                #expect(failure.code == .type)
                #expect(
                    failure.text
                        == "gain: the get function of 'gain' returned a value of another kind: "
                        + "'loud' (a string) is not a number")
            }
        }

        @Test func the_errors_of_get_and_set_functions_arrive_whole() throws {
            try leavingNothing {
                instance.base.storeBytes(of: 3, as: Int.self)
                let property = try functions(.double, set: Self.set)
                let got = failure { () throws(Failure) in _ = try property.get(instance.base) }
                #expect(got.code == .busy)
                #expect(got.text == "not now (because fire)")
                let set = failure { () throws(Failure) in try property.set(instance.base, .double(11)) }
                #expect(set.text == "eleven is too loud")
                #expect(set.code == .range)
                let silent = failure { () throws(Failure) in try property.set(instance.base, .int8(1)) }
                #expect(
                    silent.text
                        == "the set function of 'gain' failed with status -7: the value or object has another type")
                try property.set(instance.base, property.check(.int64(10)))
                #expect(instance.base.load(fromByteOffset: 8, as: Double.self) == 10)
            }
        }

        @Test func a_get_function_without_set_is_read_only() throws {
            let property = try functions(.double)
            #expect(property.isReadOnly)
            #expect(refusal(property, .double(1)).code == .readOnly)
            #expect(failure { () throws(Failure) in try property.set(instance.base, .double(1)) }.code == .readOnly)
            let type = try tables.type(properties: [tables.property("gain", .double, size: 0) { $0.get = Self.get }])
            #expect(type.cProperties[0].flags & UInt32(INVIVO_PROPERTY_READ_ONLY) != 0)
        }

        @Test func references_may_be_set_to_none() throws {
            #expect(try functions(.object, set: Self.set).check(.null).isNull)
            #expect(try functions(.any, set: Self.set).check(.list([])).isSame(as: .list([])))
        }
    }
}
