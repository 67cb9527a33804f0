"""The selection of tests: by their tags, and by what a change can break."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import pathlib
import re
import subprocess
import sys
import types

import pytest

root = pathlib.Path(__file__).resolve().parents[2]


def script(name: str) -> types.ModuleType:
    loader = importlib.machinery.SourceFileLoader(name, str(root / "scripts" / name))
    spec = importlib.util.spec_from_loader(name, loader)
    assert spec
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look for it
    sys.dont_write_bytecode = True
    loader.exec_module(module)
    return module


changed = script("changed")
tagged = script("tagged")

PACKAGE = """
    .systemLibrary(name: "CUv", pkgConfig: "libuv"),
    .target(name: "CPlatform"),
    .target(name: "InvivoBase", dependencies: ["CPlatform"]),
    .target(
        name: "InvivoConfig",
        dependencies: ["InvivoBase", .product(name: "HashTreeCollections", package: "swift-collections")]),
    .target(name: "InvivoSpec", dependencies: ["InvivoBase"]),
    .target(name: "InvivoReload", dependencies: ["InvivoConfig", "InvivoSpec"]),
    .target(name: "Invivo"),
    .testTarget(name: "InvivoBaseTests", dependencies: ["InvivoBase"]),
    .testTarget(name: "InvivoConfigTests", dependencies: ["InvivoConfig"]),
    .testTarget(name: "InvivoSpecTests", dependencies: ["InvivoSpec"]),
    .testTarget(name: "InvivoReloadTests", dependencies: ["InvivoReload"]),
"""


def steps(*paths: str) -> list[list[str]]:
    return changed.steps(list(paths), PACKAGE)


def test_a_module_concerns_its_tests_and_those_of_the_modules_above() -> None:
    assert steps("Sources/InvivoConfig/ConfigTree.swift") == [
        ["shape"],
        ["quick_swift", "InvivoConfigTests", "InvivoReloadTests"],
        ["quick_c"],
        ["quick_python"],
    ]
    assert ["quick_swift", "InvivoBaseTests", "InvivoConfigTests", "InvivoReloadTests", "InvivoSpecTests"] in steps(
        "Sources/InvivoBase/Value.swift"
    )


def test_a_test_target_concerns_itself() -> None:
    assert steps("Tests/InvivoSpecTests/JsonReaderTests.swift") == [["scripts"], ["quick_swift", "InvivoSpecTests"]]


@pytest.mark.parametrize(
    "path", ["include/invivo/pool.h", "Package.swift", "Sources/CPlatform/platform.c", "unknown/file"]
)
def test_headers_and_unknown_paths_concern_everything(path: str) -> None:
    assert [step[0] for step in steps("README.md", path)] == changed.STEPS
    assert ["quick_swift"] in steps(path)


@pytest.mark.parametrize(
    "path, expected",
    [
        ("bindings/python/invivo/pools.py", ["shape", "quick_python"]),
        ("docs/architecture.md", ["samples"]),
        ("CONTRIBUTING.md", ["samples"]),
        ("docs/rules/pools.md", ["rules", "quick_swift", "quick_c", "quick_python"]),
        ("Tests/C/pools.c", ["scripts", "quick_c"]),
        ("Tests/Pairs/host.c", ["pairs"]),
        ("Tests/Soak/mutants.py", ["scripts"]),
        ("scripts/test", ["scripts"]),
        ("scripts/tagged", ["scripts"]),
        ("Benchmarks/c/pool.c", []),
        (".gitignore", []),
    ],
)
def test_other_paths_concern_their_own_steps(path: str, expected: list[str]) -> None:
    assert [step[0] for step in steps(path)] == expected


def test_several_paths_are_joined() -> None:
    assert steps("docs/c.md", "Sources/InvivoSpec/A.swift", "Sources/InvivoConfig/B.swift") == [
        ["shape"],
        ["quick_swift", "InvivoConfigTests", "InvivoReloadTests", "InvivoSpecTests"],
        ["quick_c"],
        ["quick_python"],
        ["samples"],
    ]


def test_every_file_of_the_tree_has_a_rule() -> None:
    files = subprocess.run(["git", "ls-files"], cwd=root, capture_output=True, text=True, check=True).stdout.split("\n")
    unknown = [path for path in files if path and not any(re.match(pattern, path) for pattern, _ in changed.RULES)]
    assert unknown == []


def test_every_module_is_known_from_the_package() -> None:
    known = changed.targets((root / "Package.swift").read_text())
    folders = {path.name for path in (root / "Sources").glob("Invivo*")} | {
        path.name for path in (root / "Tests").glob("*Tests")
    }
    assert folders <= known.keys()


def test_every_step_is_one_of_scripts_test() -> None:
    text = (root / "scripts/test").read_text()
    assert all(re.search(rf'^    "{step} ', text, re.MULTILINE) for step in changed.STEPS)


# ---- tags


def folder_of(tmp_path: pathlib.Path, files: dict[str, str]) -> pathlib.Path:
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return tmp_path


def test_suites_are_found_by_their_tags(tmp_path: pathlib.Path) -> None:
    tests = folder_of(
        tmp_path,
        {
            "ATests/One.swift": "@Suite(.serialized, .tags(.concurrent)) struct Outer {}\n@Suite struct Other {\n}\n",
            "ATests/Two.swift": "extension Outer {\n    @Suite(.tags(.forks)) struct Inner {\n    }\n}\n",
            "ATests/Three.swift": "@Suite(.tags(.rawMemory)) struct Pointers {\n}\n",
        },
    )
    assert tagged.swift_filter(tests, "concurrent") == r"^ATests\.Outer(/|$)"
    assert tagged.swift_filter(tests, "concurrent", "rawMemory") == r"^ATests\.Outer(/|$)|^ATests\.Pointers(/|$)"
    assert re.search(tagged.swift_filter(tests, "forks"), "ATests.Outer/Inner/test()")
    assert tagged.errors(tests) == []


def test_a_suite_that_starts_threads_must_be_tagged(tmp_path: pathlib.Path) -> None:
    threads = "    @Test func a() { pthread_create(nil) }\n"
    tests = folder_of(
        tmp_path,
        {
            "ATests/One.swift": "@Suite(.tags(.concurrent)) struct Outer {}\n",
            "ATests/Two.swift": f"extension Outer {{\n    @Suite struct Inner {{\n{threads}    }}\n}}\n",
            "ATests/Three.swift": f"@Suite struct Untagged {{\n{threads}}}\n",
            "ATests/Four.swift": "@Suite(.tags(.concurent)) struct Misspelled {\n}\n",
            "C/tagged.c": "/* sanitize: yes */\npthread_create();\n",
            "C/excused.c": "/* sanitize: no, it only waits */\npthread_create();\n",
            "C/untagged.c": "pthread_create();\n",
        },
    )
    wrong = tagged.errors(tests)
    assert len(wrong) == 3
    assert "concurent" in wrong[0] and "Untagged" in wrong[1] and "untagged.c" in wrong[2]
    assert tagged.c_programs(tests) == ["tagged"]


def test_the_tests_of_this_tree_are_tagged() -> None:
    assert tagged.errors(root / "Tests") == []
    assert tagged.swift_filter(root / "Tests", "concurrent") and tagged.swift_filter(root / "Tests", "forks")
