"""Remember which state of the files has passed `make test`, so that `make test-all` need not repeat it.

python tools/tested.py --record   write the state down
python tools/tested.py            exit with 0 when this very state has passed, with 1 otherwise
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
STAMP = ROOT / "_build" / "tested"


def state() -> str:
    """A hash of every file that git knows or would take, the interpreter, and whether a skip counts as a failure."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True
    )
    if listed.returncode:
        return ""  # A copy without git: nothing is remembered, everything runs.
    digest = hashlib.sha256(f"{sys.version} {strict()}".encode())
    for name in sorted(set(listed.stdout.split(b"\0")) - {b""}):
        path = ROOT / os.fsdecode(name)
        if path.is_file():
            digest.update(name + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def strict() -> bool:
    """Whether a skipped test counts as a failure."""
    return "true" in (os.environ.get("CI", ""), os.environ.get("CONTEXTLAB_NO_SKIP", "").replace("1", "true"))


def main() -> int:
    now = state()
    if "--record" in sys.argv[1:]:
        STAMP.parent.mkdir(exist_ok=True)
        STAMP.write_text(now, encoding="ascii")
        return 0
    return 0 if now and STAMP.is_file() and STAMP.read_text(encoding="ascii") == now else 1


if __name__ == "__main__":
    sys.exit(main())
