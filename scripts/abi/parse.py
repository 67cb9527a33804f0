"""Reads the C headers of include/invivo: the subset of C that they keep to, and nothing more.

Whatever is not understood is an error with its place: a declaration that is silently left out would be missing in
every language.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

from .model import Function, FunctionType, Interface, Named, Pointer, Record, Type, Variable

TAGS = {"INVIVO_NOWAIT": True, "INVIVO_WAITS": False}
TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|[A-Za-z_]\w*|0[xX][0-9a-fA-F]+[uUlL]*|\d+[uUlL]*|<<|>>|\.\.\.|[^\s\w]')
LITERAL = re.compile(r'\(?\s*(-?\s*(?:0[xX][0-9a-fA-F]+|\d+)[uUlL]*|"[^"]*")\s*\)?')


class HeaderError(Exception):
    """A header has a declaration that the bindings cannot express."""


# Read in this order, because each includes the ones before it; a header that is not listed here follows by name.
ORDER = [
    "base.h",
    "value.h",
    "type.h",
    "runtime.h",
    "object.h",
    "wiring.h",
    "assembly.h",
    "pool.h",
    "scope.h",
    "view.h",
    "source.h",
    "reload.h",
    "config.h",
    "module.h",
    "app.h",
    "graph.h",
    "callbacks.h",
]


def headers_in(directory: Path) -> list[Path]:
    """The headers with declarations, each after its dependencies."""
    found = {path.name: path for path in sorted(directory.glob("*.h")) if path.name not in ("table.h", "invivo.h")}
    return [found.pop(name) for name in ORDER if name in found] + list(found.values())


def read_headers(paths: list[Path]) -> Interface:
    interface = Interface()
    for path in paths:
        interface.merge(Header(path, interface).read())
    names = [function.name for function in interface.functions]
    for name in names:
        if names.count(name) > 1:
            raise HeaderError(f"{name} is declared twice")
    return interface


class Header:
    """Reads one header. `known` contains the declarations of the preceding headers."""

    def __init__(self, path: Path, known: Interface) -> None:
        self.path = path
        self.known = known
        self.found = Interface()
        self.macros: dict[str, tuple[list[str], str]] = {}
        self.tokens: list[tuple[str, int]] = []
        self.at = 0

    def read(self) -> Interface:
        for line, number in self.preprocessed():
            self.tokens += [(match.group(), number) for match in TOKEN.finditer(line)]
        while self.at < len(self.tokens):
            self.declaration()
        return self.found

    def fail(self, message: str, line: int | None = None) -> HeaderError:
        if line is None:
            line = self.tokens[min(self.at, len(self.tokens) - 1)][1] if self.tokens else 1
        return HeaderError(f"{self.path}:{line}: {message}")

    # ---- lines ----

    def preprocessed(self) -> list[tuple[str, int]]:
        """The lines of code after preprocessing: without comments, with directives and table macros applied."""
        text = re.sub(
            r"/\*.*?\*/", lambda match: " " + "\n" * match.group().count("\n"), self.path.read_text(), flags=re.S
        )
        lines = text.split("\n")
        kept: list[tuple[str, int]] = []
        conditions: list[bool] = []
        index = 0
        while index < len(lines):
            number = index + 1
            line = lines[index]
            while line.endswith("\\") and index + 1 < len(lines):
                index += 1
                line = line[:-1] + " " + lines[index]
            index += 1
            if line.lstrip().startswith("#"):
                self.directive(line.lstrip()[1:].strip(), conditions, number)
            elif all(conditions):
                kept.append((self.expanded(line), number))
        return kept

    def directive(self, text: str, conditions: list[bool], number: int) -> None:
        word, _, rest = text.partition(" ")
        rest = rest.strip()
        if word in ("if", "ifdef", "ifndef"):
            if word == "ifndef" and rest.endswith("_H"):
                conditions.append(True)
            elif (word, rest) in (("ifdef", "__cplusplus"), ("if", "defined(__cplusplus)")):
                conditions.append(False)
            else:
                raise self.fail(
                    f"only include guards and __cplusplus are understood in conditions, not '{rest}'", number
                )
        elif word == "else":
            conditions[-1] = not conditions[-1]
        elif word == "endif":
            conditions.pop()
        elif word == "define" and all(conditions):
            self.define(rest)
        elif word not in ("include", "undef", "define"):
            raise self.fail(f"the directive #{word} is not understood", number)

    def define(self, rest: str) -> None:
        match = re.match(r"(\w+)(?:\(([^)]*)\))?\s*(.*)", rest, re.S)
        name, parameters, body = match.groups()
        if parameters is None:
            if LITERAL.fullmatch(body):
                self.found.constants[name] = self.literal(body)
            return
        self.macros[name] = ([parameter.strip() for parameter in parameters.split(",")], body)
        if name.endswith("_TABLE"):
            rows = re.findall(r"\bX\(([^()]*(?:\"[^\"]*\")?[^()]*)\)", body)
            self.found.tables[name] = [tuple(part.strip() for part in split(row)) for row in rows]

    @staticmethod
    def literal(text: str) -> int | str:
        text = text.strip("() ")
        return text[1:-1] if text.startswith('"') else int(text.rstrip("uUlL").replace(" ", ""), 0)

    def expanded(self, line: str) -> str:
        def rows(match: re.Match[str]) -> str:
            parameters, body = self.macros[match.group(2)]
            return " ".join(substitute(body, parameters, row) for row in self.found.tables[match.group(1)])

        return re.sub(r"\b(INVIVO_\w+_TABLE)\((\w+)\)", rows, line)

    # ---- declarations ----

    @property
    def token(self) -> str:
        return self.tokens[self.at][0] if self.at < len(self.tokens) else ""

    def take(self, wanted: str | None = None) -> str:
        token = self.token
        if wanted is not None and token != wanted:
            raise self.fail(f"expected '{wanted}', found '{token}'")
        self.at += 1
        return token

    def accept(self, wanted: str) -> bool:
        if self.token == wanted:
            self.at += 1
            return True
        return False

    def declaration(self) -> None:
        if self.token in ("INVIVO_EXTERN_C_BEGIN", "INVIVO_EXTERN_C_END"):
            self.take()
        elif self.accept("static"):
            self.take("inline")
            self.skip_function()
        elif self.accept("typedef"):
            type, name = self.declarator(self.base_type())
            if not (isinstance(type, Record) and type.name == name):
                self.found.aliases[name] = type
            self.take(";")
        elif self.accept("INVIVO_API"):
            self.function()
        elif self.token in ("struct", "union"):
            self.base_type()
            self.take(";")
        elif self.accept("enum"):
            self.enumeration()
            self.take(";")
        else:
            raise self.fail(
                f"'{self.token}' begins no declaration that is understood (functions begin with INVIVO_API)"
            )

    def skip_function(self) -> None:
        while self.token != "{":
            self.take()
        depth = 0
        while True:
            token = self.take()
            depth += {"{": 1, "}": -1}.get(token, 0)
            if depth == 0:
                return

    def function(self) -> None:
        line = self.tokens[self.at][1]
        type, name = self.declarator(self.base_type())
        if not isinstance(type, FunctionType):
            raise self.fail(f"{name} is not a function", line)
        tags = []
        while self.token != ";":
            tags.append(self.take())
        if len(tags) != 1 or tags[0] not in TAGS:
            raise self.fail(
                f"{name} must carry exactly one of {' and '.join(TAGS)} after its parameters, "
                f"and carries {' '.join(tags) or 'none'}",
                line,
            )
        self.take(";")
        if not name.startswith("invivo_"):
            raise self.fail(f"{name} does not begin with invivo_", line)
        self.found.functions.append(Function(name, type.result, type.parameters, TAGS[tags[0]], self.path.name))

    def enumeration(self) -> None:
        if self.token != "{":
            self.take()
        self.take("{")
        next_value = 0
        while not self.accept("}"):
            name = self.take()
            if self.accept("="):
                expression = []
                while self.token not in (",", "}"):
                    expression.append(self.take())
                next_value = self.evaluate(expression)
            self.found.constants[name] = next_value
            next_value += 1
            if self.token != "}":
                self.take(",")

    def evaluate(self, expression: list[str]) -> int:
        constants = {**self.known.constants, **self.found.constants}
        words = [str(constants.get(word, word)) for word in expression]
        text = " ".join(word.rstrip("uUlL") if word[0].isdigit() else word for word in words)
        tree = ast.parse(text, mode="eval")
        plain = (ast.Expression, ast.BinOp, ast.UnaryOp, ast.Constant, ast.operator, ast.unaryop)
        if not all(isinstance(node, plain) for node in ast.walk(tree)):
            raise self.fail(f"'{text}' is no constant that is understood")
        return eval(compile(tree, str(self.path), "eval"), {"__builtins__": {}})

    # ---- types ----

    def base_type(self) -> Type:
        const = False
        while self.accept("const"):
            const = True
        if self.token in ("struct", "union"):
            record = self.record()
            return Named(record.name, const) if const else record
        words = [self.take()]
        while words[-1] in ("unsigned", "signed", "long", "short") and self.token in ("int", "long", "char", "short"):
            words.append(self.take())
        while self.accept("const"):
            const = True
        return Named(" ".join(words), const)

    def record(self) -> Record:
        union = self.take() == "union"
        name = self.take() if self.token not in ("{", ";") else ""
        if not self.accept("{"):
            record = Record(name, union, None)
            self.found.records.setdefault(name, record)
            return record
        fields: list[Variable] = []
        while not self.accept("}"):
            base = self.base_type()
            while True:
                type, field = self.declarator(base)
                fields.append(Variable(field, type))
                if not self.accept(","):
                    break
            self.take(";")
        record = Record(name, union, tuple(fields))
        if name:
            self.found.records.pop(name, None)
            self.found.records[name] = record
        return record

    def declarator(self, base: Type) -> tuple[Type, str]:
        """What follows a base type: stars, a name, parameters. A function pointer is `(*name)(...)`."""
        type: Type = base
        if isinstance(base, Record) and base.name:
            type = base if self.token not in ("*", "(") else Named(base.name)
        while self.accept("*"):
            const = False
            while self.accept("const"):
                const = True
            type = Pointer(type, const)
        if self.token == "(" and self.tokens[self.at + 1][0] == "*":
            self.take("(")
            self.take("*")
            name = self.take()
            self.take(")")
            return Pointer(FunctionType(type, self.parameters())), name
        name = self.take() if re.match(r"[A-Za-z_]", self.token) else ""
        if self.token == "(":
            return FunctionType(type, self.parameters()), name
        if self.token == "[":
            raise self.fail(f"arrays are not understood ({name})")
        return type, name

    def parameters(self) -> tuple[Variable, ...]:
        self.take("(")
        if self.token == "void" and self.tokens[self.at + 1][0] == ")":
            self.take()
        found: list[Variable] = []
        while not self.accept(")"):
            base = self.base_type()
            type, name = self.declarator(Named(base.name) if isinstance(base, Record) else base)
            if not name:
                raise self.fail("a parameter has no name")
            found.append(Variable(name, type))
            if self.token != ")":
                self.take(",")
        return tuple(found)


def substitute(body: str, parameters: list[str], arguments: tuple[str, ...]) -> str:
    values = dict(zip(parameters, arguments, strict=True))
    text = re.sub(r"\w+", lambda match: values.get(match.group(), match.group()), body)
    return re.sub(r"\s*##\s*", "", text)


def split(row: str) -> list[str]:
    """The arguments of a macro; commas inside string literals do not separate."""
    return re.findall(r'\s*("(?:\\.|[^"\\])*"|[^,]+)\s*(?:,|$)', row)
