"""The nine pairs of languages, in one process with one runtime, and hosts that embed the others.

Builds what it needs into .build, where the package itself is built. The library is that of INVIVO_LIBRARY, or the one
that `swift build` makes."""

import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILT = ROOT / ".build"
PAIRS = {f"{caller}->{component}" for caller in ("C", "Swift", "Python") for component in ("C", "Swift", "Python")}


def run(*command, **more):
    done = subprocess.run([str(each) for each in command], capture_output=True, text=True, check=False, **more)
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="session")
def library():
    """The library of the Python and C hosts."""
    given = os.environ.get("INVIVO_LIBRARY")
    if given:
        return Path(given).resolve()
    run("swift", "build", "--package-path", ROOT, "--product", "InvivoC", timeout=900)
    return ROOT / ".build" / "debug" / "libInvivoC.so"


@pytest.fixture(scope="session")
def built():
    """The directory of the probes and drivers of C and Swift."""
    package = ("--package-path", HERE / "swift", "--scratch-path", BUILT)
    run("swift", "build", *package, timeout=900)
    directory = Path(run("swift", "build", *package, "--show-bin-path", timeout=60).strip())
    stubs = ROOT / "Sources" / "InvivoStubs"
    for name in ("probe", "driver"):
        run(
            *("cc", "-std=gnu11", "-g", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"),
            *("-I", ROOT / "include", "-I", stubs / "include", HERE / f"{name}.c", stubs / "stubs.c"),
            *("-o", directory / f"lib{name}.so"),
        )
    return directory


@pytest.fixture
def environment(library):
    paths = [str(ROOT / "bindings" / "python"), str(HERE)]
    return {
        **os.environ,
        "INVIVO_LIBRARY": str(library),
        "PYTHONPATH": os.pathsep.join(paths),
        "SWIFT_BACKTRACE": "enable=no",
    }


def check_pairs(output):
    print(output)
    said = dict(re.findall(r"^pair (\S+): ok, (\d+) checks$", output, re.M))
    assert set(said) == PAIRS
    assert all(int(count) > 250 for count in said.values())


def test_every_pair_holds_in_a_python_host(built, environment):
    check_pairs(run(sys.executable, "-X", "faulthandler", HERE / "host.py", built, env=environment, timeout=120))


@pytest.fixture(scope="session")
def libpython():
    """The interpreter as a library, for hosts that embed it."""
    name, directory = sysconfig.get_config_var("INSTSONAME"), sysconfig.get_config_var("LIBDIR")
    path = Path(directory or "", name or "")
    if ".so" not in path.name or not path.is_file():
        pytest.skip(f"this Python has no shared library to embed: there is no {path}")
    return path


def test_every_pair_holds_in_a_c_host_that_embeds_python_and_loads_swift(built, library, libpython, environment):
    host = built / "host"
    run(
        *("cc", "-std=gnu11", "-g", "-Wall", "-Wextra", "-Werror", "-I", ROOT / "include", HERE / "host.c", library),
        *(f"-Wl,-rpath,{library.parent}", "-ldl", "-o", host),
    )
    check_pairs(run(host, built, libpython, env=environment, timeout=120))


def test_every_pair_holds_in_a_swift_host_that_embeds_python(built, libpython, environment):
    check_pairs(run(built / "PairsHost", built, libpython, env=environment, timeout=120))


def test_a_runtime_outlives_the_python_that_a_host_embeds(library, libpython, environment, tmp_path):
    host = tmp_path / "outlive"
    run(
        *("cc", "-std=gnu11", "-g", "-Wall", "-Wextra", "-Werror", "-I", ROOT / "include", HERE / "outlive.c", library),
        *(f"-Wl,-rpath,{library.parent}", "-ldl", "-o", host),
    )
    said = run(host, libpython, env=environment, timeout=60).splitlines()
    assert said[0] == "start"
    assert said[-1] == "closed"
