"""The library exports every function of the headers, and nothing else: exports.py LIBRARY"""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "scripts"))

from abi.parse import headers_in, read_headers  # noqa: E402

declared = {function.name for function in read_headers(headers_in(ROOT / "include" / "invivo")).functions}
listing = subprocess.run(["nm", "-D", "--defined-only", sys.argv[1]], check=True, capture_output=True, text=True).stdout
# A capital letter marks an exported symbol.
exported = {line.split()[-1].split("@")[0] for line in listing.splitlines() if line.split()[-2].isupper()}
for name in sorted(declared - exported):
    print(f"declared and not exported: {name}")
for name in sorted(exported - declared):
    print(f"exported and not declared: {name}")
print(f"{len(declared)} functions declared, {len(exported)} exported")
sys.exit(declared != exported)
