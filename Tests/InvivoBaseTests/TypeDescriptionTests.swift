import CInvivo
import InvivoBase
import Synchronization
import Testing

private let destroyed = Atomic<Int>(0)

extension Border {
    @Suite struct Types {
        let tables = Tables()

        // MARK: contents

        @Test func members_are_found_by_their_names_and_former_names() throws {
            var gain = tables.property("gain", .double)
            tables.was(["volume", "level"], in: &gain)
            let type = try tables.type(properties: [tables.property("phase", .double, at: 8), gain])
            #expect(try type.property(named: "gain").formerName == false)
            let former = try type.property(named: "level")
            #expect(former.formerName && former.property.name == "gain")
            let unknown = failure { () throws(Failure) in _ = try type.property(named: "gian") }
            #expect(unknown.code == .property)
            #expect(unknown.message == "Oscillator has no property 'gian'; did you mean 'gain'?")
            let method = failure { () throws(Failure) in _ = try type.method(named: "play") }
            #expect(method.code == .method)
            #expect(method.message == "Oscillator has no method 'play'")
        }

        @Test func a_type_is_itself_and_its_supertypes() throws {
            let store = tables.store
            let type = try tables.type {
                $0.supertypes = store.table(["Source", "Node"].map { name in store.string(Optional(name)) })
                $0.supertype_count = 2
            }
            #expect(type.isKind(of: "Oscillator") && type.isKind(of: "Node") && !type.isKind(of: "node"))
        }

        @Test func it_is_found_by_its_handle_while_it_lives() throws {
            try leavingNothing {
                var type: TypeDescription? = try tables.type()
                let bits = try #require(type?.handleBits)
                #expect(try TypeDescription.find(bits) === type)
                type = nil
                #expect(failure { () throws(Failure) in _ = try TypeDescription.find(bits) }.code == .handle)
            }
        }

        @Test func c_sees_copies_that_outlive_the_tables_they_came_from() throws {
            var type: TypeDescription?
            do {
                let brief = Tables()
                var wave = brief.property("wave", .int32) {
                    $0.unit = brief.store.string("u")
                    $0.initial_text = brief.store.string("saw")
                }
                brief.choices([("sine", 0), ("saw", 1)], in: &wave)
                let parameters = [brief.parameter("to", .object, optional: true, type: "Mixer")]
                type = try brief.type(properties: [wave], methods: [brief.method("send", parameters, Methods.echo)])
            }
            let property = try #require(type).cProperties[0]
            #expect(property.struct_size == MemoryLayout<invivo_property>.size)
            #expect(String(cString: property.name) == "wave")
            #expect(String(cString: property.unit) == "u")
            #expect(String(cString: property.initial_text) == "saw")
            #expect(String(cString: property.choices[1].name) == "saw")
            let method = try #require(type).cMethods[0]
            #expect(String(cString: method.parameters[0].type_name) == "Mixer")
            #expect(method.parameters[0].flags == UInt32(INVIVO_PARAMETER_OPTIONAL))
        }

        @Test func initial_values_fill_instance_and_block() throws {
            var wave = tables.property("wave", .uint8, at: 40) { $0.initial_text = tables.store.string("saw") }
            tables.choices([("sine", 0), ("saw", 1)], in: &wave)
            var nested = tables.property("envelope", .map, at: 16, size: 16)
            tables.fields([tables.property("attack", .double, at: 8) { $0.initial = 0.5 }], in: &nested)
            let block = tables.property("cutoff", .float, at: 4) {
                $0.initial = 800
                $0.flags = UInt32(INVIVO_PROPERTY_BLOCK)
            }
            let name = tables.property("name", .string, at: 41, size: 8) {
                $0.initial_text = tables.store.string("lead")
            }
            let type = try tables.type(properties: [
                tables.property("gain", .double, at: 0) { $0.initial = 1 }, nested, wave, block, name,
                tables.property("on", .bool, at: 9) { $0.initial = 1 },
            ]) { $0.block_size = 16 }
            let instance = Properties.Instance()
            type.applyInitialValues(to: instance.base)
            func value(_ name: String) throws -> Value {
                try type.property(named: name).property.read(instance.base)
            }
            #expect(try value("gain").isSame(as: .double(1)))
            #expect(try value("envelope").isSame(as: .map([(name: "attack", value: .double(0.5))])))
            #expect(try value("wave").isSame(as: .enumeration(number: 1, name: "saw")))
            #expect(try value("name").isSame(as: .string("lead")))
            #expect(try value("on").isSame(as: .bool(true)))
            let blockMemory = Properties.Instance()
            blockMemory.base.storeBytes(of: 99, toByteOffset: 15, as: UInt8.self)
            type.writeInitialBlock(to: blockMemory.base)
            #expect(try type.property(named: "cutoff").property.read(blockMemory.base).isSame(as: .float(800)))
            #expect(blockMemory.base.load(fromByteOffset: 15, as: UInt8.self) == 0)
        }

        @Test func destroy_runs_once_when_the_type_is_gone() throws {
            let before = destroyed.load(ordering: .relaxed)
            func make() throws(Failure) -> TypeDescription {
                try tables.type { $0.destroy = { _ in destroyed.add(1, ordering: .relaxed) } }
            }
            _ = try make()
            #expect(destroyed.load(ordering: .relaxed) == before + 1)
            try make().disown()
            _ = failure { () throws(Failure) in
                _ = try tables.type(size: 0) { $0.destroy = { _ in destroyed.add(1, ordering: .relaxed) } }
            }
            #expect(destroyed.load(ordering: .relaxed) == before + 1)
        }

        @Test func the_functions_of_a_type_answer_with_their_own_errors() throws {
            try leavingNothing {
                let type = try tables.type(size: 0) {
                    $0.release = { _, _ in }
                    $0.make = { out, _, arguments, count, _, error in
                        guard count == 0 else {
                            error?.pointee = ErrorBox.make(Failure(.host, "no arguments, please"))
                            return INVIVO_E_HOST.status
                        }
                        return 0
                    }
                    $0.start = { _, _, _ in INVIVO_E_BUSY.status }
                }
                #expect(
                    failure { () throws(Failure) in _ = try type.make(nil, []) }.text
                        == "the make function of Oscillator returned success without an instance")
                #expect(
                    failure { () throws(Failure) in _ = try type.make(nil, [.null]) }.text == "no arguments, please")
                let instance = Properties.Instance()
                #expect(
                    failure { () throws(Failure) in try type.start(instance.base) }.text
                        == "the start function of Oscillator failed with status -18: something is still in use")
                try type.stop(instance.base)
                type.dispose(instance.base)
            }
        }

        // MARK: versions

        @Test func an_older_and_shorter_struct_is_accepted() throws {
            var options = invivo_type_options()
            options.name = tables.store.string("Old")
            options.size = 8
            options.block_size = 1 << 50  // beyond the fields of the older struct
            options.struct_size = MemoryLayout<invivo_type_options>.offset(of: \.block_size) ?? 0
            let type = try TypeTables.type(&options)
            #expect(type.size == 8 && type.blockSize == 0)
        }

        @Test func a_newer_and_longer_struct_is_accepted_and_so_are_tables_of_them() throws {
            let longer = MemoryLayout<invivo_property>.stride + 24
            let table = UnsafeMutableRawPointer.allocate(byteCount: 2 * longer, alignment: 8)
            defer { table.deallocate() }
            table.initializeMemory(as: UInt8.self, repeating: 0xEE, count: 2 * longer)
            for (index, name) in ["one", "two"].enumerated() {
                var property = tables.property(name, .double, at: index * 8)
                property.struct_size = longer
                (table + index * longer).copyMemory(from: &property, byteCount: MemoryLayout<invivo_property>.size)
            }
            let type = try tables.type {
                $0.properties = UnsafePointer(table.assumingMemoryBound(to: invivo_property.self))
                $0.property_count = 2
            }
            #expect(type.properties.map(\.name) == ["one", "two"])
        }

        // MARK: contradictions

        func problems(
            _ properties: [invivo_property] = [], methods: [invivo_method] = [], size: Int = 64,
            _ fill: (inout invivo_type_options) -> Void = { _ in }
        ) -> String {
            let failure = failure { () throws(Failure) in
                _ = try tables.type("T", size: size, properties: properties, methods: methods, fill)
            }
            #expect(failure.code == .argument || failure.code == .tooLarge || failure.code == .encoding)
            return failure.text
        }

        @Test func options_without_a_name_or_size_are_refused() {
            #expect(failure { () throws(Failure) in _ = try TypeTables.type(nil) }.text == "options is NULL")
            #expect(problems { $0.name = nil } == "the name of the type is NULL")
            #expect(problems { $0.name = tables.store.string("") } == "the name of the type is empty")
            #expect(
                problems { $0.struct_size = 0 }
                    == "invivo_type_options has struct_size 0: "
                    + "set it to sizeof(its type), \(MemoryLayout<invivo_type_options>.size) in this version")
        }

        @Test func contradictions_of_memory_are_refused() {
            let make: TypeDescription.Make = { _, _, _, _, _, _ in 0 }
            #expect(
                problems {
                    $0.make = make
                    $0.release = { _, _ in }
                } == "T: there is a size and a make function: one of them allocates the instance, not both")
            #expect(
                problems(size: 0)
                    == "T: there is neither a size nor a make function nor a block, so no instance can be created")
            #expect(throws: Never.self) { try tables.type(size: 0) { $0.block_size = 8 } }
            #expect(problems { $0.alignment = 24 } == "T: the alignment 24 is not a power of two up to 4096")
            #expect(
                problems { $0.alignment = 1 << 63 }
                    == "T: the alignment 9223372036854775808 is not a power of two up to 4096")
            #expect(problems { $0.size = .max } == "T: the size 18446744073709551615 is too large")
            #expect(
                problems { $0.concurrency = 2 } == "T: the concurrency 2 is neither INVIVO_CONFINED nor INVIVO_SHARED")
            #expect(
                problems(size: 0) {
                    $0.make = make
                    $0.release = { _, _ in }
                    $0.deinit = { _, _ in }
                } == "T: init and deinit need a size")
            #expect(problems { $0.release = { _, _ in } } == "T: release needs a make function")
            #expect(
                problems(size: 0) {
                    $0.block_size = 8
                    $0.start = { _, _, _ in 0 }
                } == "T: start, stop, setup and methods need an instance: give a size or a make function")
        }

        @Test func tables_that_are_not_there_are_refused() {
            #expect(problems { $0.property_count = 2 } == "T: the table of properties is NULL, and its count is 2")
            #expect(problems { $0.supertype_count = 1 } == "T: the table of supertypes is NULL, and its count is 1")
            #expect(
                problems([tables.property("a", .bool)]) { $0.property_count = .max }.hasPrefix(
                    "T: 18446744073709551615 properties are more than"))
            #expect(problems([tables.property("a", .bool) { $0.name = nil }]) == "T: the name of property 0 is NULL")
            #expect(problems([tables.property("", .bool)]) == "T: the name of property 0 is empty")
            let other = tables.property("b", .bool) { $0.struct_size += 8 }
            #expect(
                problems([tables.property("a", .bool), other])
                    == "T: entry 1 of the properties has another struct_size than entry 0")
        }

        @Test func names_used_twice_are_refused() {
            var b = tables.property("b", .bool)
            tables.was(["a"], in: &b)
            #expect(
                problems([tables.property("a", .bool), b])
                    == "T: the property name 'a' is used twice (former names count)")
            let play = tables.method("play", [], Methods.echo)
            #expect(problems(methods: [play, play]) == "T: two methods are named 'play'")
        }

        @Test(arguments: [
            (ValueKind.double, 60, 8, "T.a: bytes 60..<68 are outside the instance of 64 bytes"),
            (.double, 0, 4, "T.a: a double is 8 bytes long, the size says 4"),
            (.string, 0, 0, "T.a: a string by offset needs a size"),
            (.list, 0, 8, "T.a: a list cannot be a field: it needs a get function"),
            (.null, 0, 8, "T.a: a property cannot be of the kind null"),
            (.enumeration, 0, 8, "T.a: an enumeration is an integer kind with choices, not the kind enumeration"),
            (.map, 0, 8, "T.a: a map by offset is a nested struct: it needs fields"),
            (.bytes, .max, 8, "T.a: the offset 9223372036854775807 or the size 8 is too large"),
        ])
        func fields_that_cannot_be_are_refused(_ kind: ValueKind, _ offset: Int, _ size: Int, _ message: String) {
            #expect(problems([tables.property("a", kind, at: offset, size: size)]) == message)
        }

        func property(_ kind: ValueKind = .double, _ fill: (inout invivo_property) -> Void) -> String {
            problems([tables.property("a", kind, fill)])
        }

        @Test func a_block_field_must_be_inside_the_block() {
            let block = tables.property("a", .double) { $0.flags = UInt32(INVIVO_PROPERTY_BLOCK) }
            #expect(problems([block]) == "T.a: bytes 0..<8 are outside the block of 0 bytes")
            #expect(problems([block]) { $0.block_size = 4 } == "T.a: bytes 0..<8 are outside the block of 4 bytes")
            #expect(
                property {
                    $0.flags = UInt32(INVIVO_PROPERTY_BLOCK)
                    $0.get = Properties.get
                } == "T.a: a property of the block is a field: it has no functions")
        }

        @Test func contradictions_of_properties_are_refused() {
            #expect(property { $0.kind = 99 } == "T.a: the kind 99 is not the number of a kind")
            #expect(property { $0.flags = 1 << 9 } == "T.a: the flags 512 contain unknown ones")
            #expect(property { $0.set = Properties.set } == "T.a: there is a set function without a get function")
            #expect(property { ($0.min, $0.max) = (3, 1) } == "T.a: min 3 is greater than max 1")
            #expect(property { $0.max = .nan } == "T.a: min or max is not a number")
            #expect(property(.bool) { $0.max = 1 } == "T.a: min and max need a number, not a bool")
            #expect(property(.uint8) { $0.max = 300 } == "T.a: max: 300 is outside 0...255 (uint8)")
            #expect(property(.int32) { $0.max = 0.5 } == "T.a: max: 0.5 is not a whole number")
            #expect(property { $0.step = -1 } == "T.a: the step -1.0 is not a distance")
            #expect(property { ($0.min, $0.max) = (1, 2) } == "T.a: the initial value: 0 is outside 1...2")
            #expect(property(.uint8) { $0.initial = 256 } == "T.a: the initial value: 256 is outside 0...255 (uint8)")
            #expect(
                property(.list) { ($0.initial, $0.get) = (1, Properties.get) }
                    == "T.a: a list cannot have an initial number")
        }

        @Test func contradictions_of_choices_are_refused() {
            #expect(property { tables.choices([("x", 0)], in: &$0) } == "T.a: choices need an integer kind, not double")
            #expect(
                property(.uint8) { tables.choices([("x", 300)], in: &$0) }
                    == "T.a: the choice 'x': 300 is outside 0...255 (uint8)")
            #expect(
                property(.uint8) { tables.choices([("x", 0), ("x", 1)], in: &$0) } == "T.a: two choices are named 'x'")
            #expect(
                property(.uint8) { tables.choices([("x", 1)], in: &$0) }
                    == "T.a: the initial value: 0 is not one of 1 (x)")
            #expect(
                property(.uint8) {
                    tables.choices([("saw", 0)], in: &$0)
                    $0.initial_text = tables.store.string("swa")
                } == "T.a: the initial value: 'swa' is not one of saw; did you mean 'saw'?")
        }

        @Test func contradictions_inside_nested_structs_are_refused() {
            let text = property(.map) {
                $0.size = 8
                tables.fields(
                    [tables.property("x", .double, at: 4), tables.property("y", .int8) { $0.get = Properties.get }],
                    in: &$0)
            }
            #expect(
                text == """
                    T.a.x: bytes 4..<12 are outside the nested struct of 8 bytes
                    T.a.y: a field of a nested struct has no functions
                    """)
        }

        @Test func contradictions_of_methods_are_refused() {
            func method(_ parameters: [invivo_parameter], _ fill: (inout invivo_method) -> Void = { _ in }) -> String {
                var method = tables.method("m", parameters, Methods.echo)
                fill(&method)
                return problems(methods: [method])
            }
            #expect(method([]) { $0.call = nil } == "T.m: the method has no call function")
            #expect(method([]) { $0.result = 50 } == "T.m: the kind of the result 50 is not the number of a kind")
            #expect(
                method([tables.parameter("a", .any, optional: true), tables.parameter("b", .any)])
                    == "T.m: parameter 'b' is required, but follows the optional 'a'")
            #expect(
                method([tables.parameter("a", .any), tables.parameter("a", .any)])
                    == "T.m: two parameters are named 'a'")
            #expect(method([tables.parameter("a", .null)]) == "T.m: parameter 'a' cannot be of the kind null")
            #expect(
                method([tables.parameter("a", .string, type: "X")])
                    == "T.m: parameter 'a' names a type, but is not an object")
        }

        @Test func all_that_is_wrong_is_said_at_once() {
            let text = problems([
                tables.property("a", .double) { ($0.min, $0.max) = (3, 1) }, tables.property("b", .double, at: 100),
            ]) { $0.alignment = 3 }
            #expect(text.split(separator: "\n").count == 3)
        }
    }
}
