"""Builds the library and puts it into the wheel: `invivo/_lib/libinvivo.so.0`.

The library is taken from INVIVO_LIBRARY when that is set; else it is built by CMake, or by `swift build` where there is
no CMake, from the repository that this directory is part of.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
NAME = "libinvivo.so.0"


def build_library(scratch: Path) -> Path:
    """The path of a freshly built library."""
    given = os.environ.get("INVIVO_LIBRARY")
    if given:
        return Path(given)
    if not (ROOT / "Package.swift").is_file():
        raise SystemExit(f"there are no sources in {ROOT}: install from a clone, or set INVIVO_LIBRARY to a {NAME}")
    if (ROOT / "CMakeLists.txt").is_file() and shutil.which("cmake"):
        generator = ["-G", "Ninja"] if shutil.which("ninja") else []
        subprocess.run(
            ["cmake", "-S", ROOT, "-B", scratch, *generator, "-DCMAKE_BUILD_TYPE=Release", "-DINVIVO_TOOL=OFF"],
            check=True,
        )
        subprocess.run(["cmake", "--build", scratch], check=True)
        found = sorted(scratch.rglob(NAME))
    else:
        command = ["swift", "build", "--package-path", ROOT, "--scratch-path", scratch, "-c", "release"]
        subprocess.run([*command, "--product", "InvivoC", "-Xswiftc", "-static-stdlib"], check=True)
        found = sorted(scratch.rglob("libInvivoC.so"))
    if not found:
        raise SystemExit(f"the build left no {NAME} in {scratch}")
    return found[0]


class BuildWithLibrary(build_py):
    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return  # the development build beside the package is used
        target = Path(self.build_lib) / "invivo" / "_lib" / NAME
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="invivo-") as scratch:
            shutil.copyfile(build_library(Path(scratch)), target)

    def get_outputs(self, include_bytecode: bool = True) -> list[str]:
        outputs = super().get_outputs(include_bytecode)
        return outputs if self.editable_mode else [*outputs, f"{self.build_lib}/invivo/_lib/{NAME}"]


class PlatformWheel(bdist_wheel):
    """For any Python 3 (ctypes), but for one kind of machine."""

    def get_tag(self) -> tuple[str, str, str]:
        return ("py3", "none", super().get_tag()[2])


class BinaryDistribution(Distribution):
    def has_ext_modules(self) -> bool:
        return True


setup(distclass=BinaryDistribution, cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": PlatformWheel})
