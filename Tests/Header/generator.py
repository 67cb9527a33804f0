"""The generator refuses unknown declarations, and the table never loses a function or changes its order."""

import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "scripts"))

from abi import table  # noqa: E402
from abi.model import Interface, Named, spell  # noqa: E402
from abi.parse import HeaderError, read_headers  # noqa: E402


class Generator(unittest.TestCase):
    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)

    def read(self, text: str) -> Interface:
        path = self.directory / "room.h"
        path.write_text(text)
        return read_headers([path])

    def refuses(self, text: str, reason: str) -> None:
        with self.assertRaisesRegex(HeaderError, reason):
            self.read(text)

    def test_a_function_carries_exactly_one_tag(self) -> None:
        self.refuses(
            "INVIVO_API int invivo_x(void);", "room.h:1: invivo_x must carry exactly one of .* and carries none"
        )
        self.refuses(
            "\nINVIVO_API int invivo_x(void) INVIVO_NOWAIT INVIVO_WAITS;", "room.h:2: .*INVIVO_NOWAIT INVIVO_WAITS"
        )
        self.refuses("INVIVO_API int invivo_x(void) INVIVO_SOMETIMES;", "carries INVIVO_SOMETIMES")
        self.assertTrue(self.read("INVIVO_API int invivo_x(void) INVIVO_NOWAIT;").functions[0].nowait)
        self.assertFalse(self.read("INVIVO_API int invivo_x(void)\n    INVIVO_WAITS;").functions[0].nowait)

    def test_nothing_is_left_out_in_silence(self) -> None:
        self.refuses("int invivo_x(void) INVIVO_WAITS;", "begins no declaration")
        self.refuses("INVIVO_API int other_x(void) INVIVO_WAITS;", "does not begin with invivo_")
        self.refuses("INVIVO_API int invivo_x(int) INVIVO_WAITS;", "a parameter has no name")
        self.refuses("#if defined(_WIN32)\n#endif", "only include guards")
        self.refuses("typedef struct a { int numbers[4]; } a;", "arrays are not understood")
        twice = "INVIVO_API int invivo_x(void) INVIVO_WAITS;\n" * 2
        self.refuses(twice, "declared twice")

    def test_a_function_pointer_is_spelled_as_it_was_read(self) -> None:
        text = "void *invivo_x(const char *name, int32_t (*run)(void *user_data, const double *values, size_t count))"
        function = self.read(f"INVIVO_API {text} INVIVO_WAITS;").functions[0]
        run = function.parameters[1]
        self.assertEqual(
            spell(run.type, run.name), "int32_t (*run)(void *user_data, const double *values, size_t count)"
        )
        self.assertEqual(function.parameters[0].type.target, Named("char", const=True))

    def test_constants_are_those_that_a_compiler_would_see(self) -> None:
        interface = self.read(
            '#define INVIVO_A 0x10u\n#define INVIVO_B "b"\n'
            '#define INVIVO_T_TABLE(X) X(ONE, 1, "one, or (so)") X(TWO, 2, "two")\n'
            "enum {\n#define INVIVO_E(name, number, text) INVIVO_##name = number,\n    INVIVO_T_TABLE(INVIVO_E)\n"
            "#undef INVIVO_E\n    INVIVO_NEXT,\n    INVIVO_SHIFTED = (1 << INVIVO_TWO) - 1\n};\n"
        )
        expected = {
            "INVIVO_A": 16,
            "INVIVO_B": "b",
            "INVIVO_ONE": 1,
            "INVIVO_TWO": 2,
            "INVIVO_NEXT": 3,
            "INVIVO_SHIFTED": 3,
        }
        self.assertEqual(interface.constants, expected)

    def test_the_table_is_only_ever_appended_to(self) -> None:
        def declared(*names: str) -> Interface:
            return self.read("".join(f"INVIVO_API int invivo_{name}(void) INVIVO_WAITS;\n" for name in names))

        path = self.directory / "table.h"
        path.write_text(table.header(table.ordered(declared("b", "c"), [])))
        former = table.former_order(path)
        self.assertEqual(former, ["invivo_b", "invivo_c"])
        self.assertEqual([f.short for f in table.ordered(declared("a", "c", "b"), former)], ["b", "c", "a"])
        with self.assertRaisesRegex(HeaderError, "a table never loses a function"):
            table.ordered(declared("b"), former)


if __name__ == "__main__":
    unittest.main()
