"""The mutants of scripts/soak name code that exists: one whose code is gone would test nothing."""

from __future__ import annotations

import importlib.util
import pathlib
import sys
import types

root = pathlib.Path(__file__).resolve().parents[2]


def mutants() -> types.ModuleType:
    spec = importlib.util.spec_from_file_location("mutants", root / "Tests/Soak/mutants.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["mutants"] = module  # dataclasses look for it
    spec.loader.exec_module(module)
    return module


def test_the_code_of_each_mutant_occurs_once_in_its_file() -> None:
    missing = []
    for mutant in mutants().ALL:
        file = root / "Sources" / mutant.file
        if not file.is_file() or mutant.insert(file.read_text()) is None:
            missing.append(str(mutant))
    assert missing == []
