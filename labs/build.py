"""Make the notebooks of the labs: source (with solutions and hidden tests) and release, from their templates.

python labs/build.py                                  the public ones, under the demonstration secret
python labs/build.py --check                          write nothing; fail when a file is not current
python labs/build.py --new-secret ~/course-secret     write a secret for a graded course
python labs/build.py --secret ~/course-secret --to ~/my-course 1 2     labs 1 and 2 of that course
"""

from __future__ import annotations

import argparse
import secrets
import sys
from pathlib import Path

from grading.draws import DEMONSTRATION, read_secret
from grading.kit import LABS, Variant, find, names
from grading.lab import files


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("labs", nargs="*", help="default: all")
    parser.add_argument("--secret", type=Path, help="file of the course secret")
    parser.add_argument("--to", type=Path, help="folder of a graded course; the solutions in it are not for students")
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 when a file is not current")
    parser.add_argument("--new-secret", type=Path, metavar="FILE", help="write a new secret and stop")
    options = parser.parse_args(arguments)
    try:
        if options.new_secret:
            with open(options.new_secret, "x", encoding="utf-8") as file:
                file.write(secrets.token_urlsafe(24) + "\n")
            options.new_secret.chmod(0o600)
            print(f"{options.new_secret} has the secret of a course; keep it as you keep the solutions")
            return 0
        secret = read_secret(options.secret) if options.secret or options.to else DEMONSTRATION
        if secret != DEMONSTRATION and options.to is None:
            parser.error("a graded course goes to a folder of its own: --to FOLDER")
        if options.to and options.to.resolve().is_relative_to(LABS):
            parser.error("the folder of a graded course lies outside this repository, which is public")
        found = [find(lab) for lab in options.labs] or names()
        made = {}
        for lab in found:
            made |= files(Variant(lab, secret), (options.to or LABS).resolve())
    except (OSError, ValueError) as error:  # SecretError is a ValueError
        print(f"labs: {error}", file=sys.stderr)
        return 2
    stale = [path for path, text in made.items() if not path.is_file() or path.read_text(encoding="utf-8") != text]
    for path in stale:
        if not options.check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(made[path], encoding="utf-8", newline="\n")
        print(f"{path}: {'not current, run `make labs`' if options.check else 'written'}")
    return 1 if options.check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
