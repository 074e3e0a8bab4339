"""Grade a folder of submissions as a learning platform exports it.

    make grade LAB=1 SUBMISSIONS=~/export
    python labs/grade.py 1 ~/export --secret ~/course-secret --out ~/grades/lab1

Writes grades.csv, review.csv, to_mark.csv and one page of feedback a student. Marks of written answers go into
marks.csv beside them (the columns of to_mark.csv); the next run adds them up. A run that was stopped goes on where it
was. Exit status: 0, or 2 when nothing could be done.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from grading.course import grade
from grading.draws import read_secret
from grading.kit import LABS, Variant, find
from grading.sandbox import Limits, NoSandbox


def bar(done: int, of: int, who: str) -> None:
    """Show how far the run is, on one line of a terminal, or a line a student elsewhere."""
    width = 30
    full = width * done // max(1, of)
    text = f"[{'#' * full}{'.' * (width - full)}] {done} of {of}  {who[:30]}"
    if sys.stderr.isatty():
        print(f"\r{text:<79}", end="" if done < of else "\n", file=sys.stderr, flush=True)
    else:
        print(text, file=sys.stderr, flush=True)


def folder(name: str) -> Path:
    return Path(name).expanduser()


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lab", help="1, lab1 or the whole name")
    parser.add_argument("submissions", type=folder, help="folder of the export; archives in it are read")
    parser.add_argument("--secret", type=folder, help="file of the course secret (default: CONTEXTLAB_SECRET)")
    parser.add_argument("--out", type=folder, help="default: _build/grades/<lab>")
    parser.add_argument("--seconds", type=int, default=60, help="for one submission in all (default: 60)")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1), help="submissions at a time")
    parser.add_argument("--again", action="store_true", help="also what an earlier run has finished")
    parser.add_argument("--no-sandbox", action="store_true", help="run students' code with your own rights")
    options = parser.parse_args(arguments)
    try:
        lab = find(options.lab)
        variant = Variant(lab, read_secret(options.secret))
        out = (options.out or LABS.parent / "_build" / "grades" / lab).resolve()
        if options.no_sandbox:
            print("No sandbox: the code of the students runs with your rights, on your files.", file=sys.stderr)
        results = grade(
            variant,
            options.submissions,
            out,
            limits=Limits(seconds_in_all=options.seconds),
            walled=not options.no_sandbox,
            jobs=options.jobs,
            again=options.again,
            progress=bar,
        )
    except NoSandbox as error:
        print(f"grade: no sandbox: {error}", file=sys.stderr)
        print("grade: nothing was run; --no-sandbox runs the code of the students with your rights", file=sys.stderr)
        return 2
    except (OSError, ValueError) as error:
        print(f"grade: {error}", file=sys.stderr)
        return 2
    look = [result for result in results if result["status"] != "graded" or result["remarks"]]
    print(f"{len(results)} submissions of {lab}, course {variant.course}: {out / 'grades.csv'}")
    print(f"{len(look)} to look at: {out / 'review.csv'}; written answers to mark: {out / 'to_mark.csv'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
