"""A Python host: opens a runtime, loads the modules of C and Swift, and runs the drivers of all languages on the
probes of all languages in one process. Argument: the build directory."""

import ctypes
import sys
from pathlib import Path

import driver
import invivo
import probe


def main(built: Path) -> int:
    before = vars(invivo.live())
    failed = False
    with invivo.Runtime() as runtime:
        runtime.load_module(built / "libprobe.so")
        runtime.load_module(built / "libPairsModule.so")
        runtime.type(probe.Probe)
        token = runtime.share()
        for language, library, name in (("C", "libdriver.so", "c"), ("Swift", "libPairsDriver.so", "swift")):
            drive = getattr(ctypes.CDLL(str(built / library)), f"pairs_drive_{name}")
            drive.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
            for component in driver.COMPONENTS:
                failed |= not driver.report(language, component, drive(token, f"{component}Probe".encode()))
        failed |= not driver.drive_all(runtime)
    after = vars(invivo.live())
    if after != before:
        print(f"something is left: {before} before, {after} after", file=sys.stderr)
        failed = True
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
