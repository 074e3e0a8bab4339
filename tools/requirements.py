"""Write requirements.txt from pyproject.toml: python tools/requirements.py [--upgrade]."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "requirements.txt"
HEADER = """\
# Everything that the book, its tests and its tools need, for Python 3.11 and later on any platform.
# Made from pyproject.toml by `make requirements`; never edit it by hand.
# sha256 of the dependency tables of pyproject.toml: {digest}
"""


def digest() -> str:
    """The hash of everything in pyproject.toml that decides what is installed."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    tables = {key: project.get(key) for key in ("requires-python", "dependencies", "optional-dependencies")}
    return hashlib.sha256(json.dumps(tables, sort_keys=True).encode()).hexdigest()


def main() -> int:
    uv = shutil.which("uv", path=str(Path(sys.executable).parent)) or "uv"
    # Given the old pins, uv keeps every version that still fits; --upgrade starts anew.
    output = ROOT / "_build" / "requirements.txt"
    output.parent.mkdir(exist_ok=True)
    output.unlink(missing_ok=True)
    if FILE.exists() and "--upgrade" not in sys.argv[1:]:
        output.write_text(FILE.read_text(encoding="utf-8").removesuffix("\n.\n") + "\n", encoding="utf-8")
    command = [uv, "pip", "compile", "--quiet", "--universal", "--python-version", "3.11", "--no-header"]
    command += ["--extra", "test", "--output-file", str(output), "pyproject.toml"]
    subprocess.run(command, cwd=ROOT, check=True)
    pins = output.read_text(encoding="utf-8")
    FILE.write_text(f"{HEADER.format(digest=digest())}{pins.rstrip()}\n.\n", encoding="utf-8")
    print(f"{FILE.name}: {sum('==' in line for line in pins.splitlines())} pins")
    return 0


if __name__ == "__main__":
    sys.exit(main())
