"""The library needs the C library, the C++ runtime, libuv and libyaml, and nothing else: needed.py LIBRARY"""

import re
import subprocess
import sys

ALLOWED = {"libc", "libm", "libstdc++", "libgcc_s", "ld-linux-x86-64", "ld-linux-aarch64", "libuv", "libyaml-0"}

listing = subprocess.run(["readelf", "-dW", sys.argv[1]], check=True, capture_output=True, text=True).stdout
needed = re.findall(r"\(NEEDED\).*\[(.*?)\.so", listing)
print("needs:", ", ".join(needed))
unexpected = set(needed) - ALLOWED
if unexpected:
    print("must not need:", ", ".join(sorted(unexpected)))
soname = re.findall(r"\(SONAME\).*\[(.*?)\]", listing)
if soname != ["libinvivo.so.0"]:
    print("its soname is", soname, "and not libinvivo.so.0")
sys.exit(bool(unexpected) or soname != ["libinvivo.so.0"] or "libuv" not in needed)
