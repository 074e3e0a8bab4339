"""Measure speed as ratios: two things run in turn (A B A B …), so that a busy machine slows both.

    python bench/run.py                 every row
    python bench/run.py --only lab      the rows whose name holds this text
    python bench/run.py --quick         small sizes, one pair, no verdict: does every row run?
    python bench/run.py --strict        exit status 1 when a row is over its limit

A ratio is the median of the ratios of all pairs; beside it stand its quartiles. The table goes to standard output,
everything measured to bench/results/latest.json.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter

from reading import peak
from rows import Row, rows

RESULTS = Path(__file__).resolve().parent / "results" / "latest.json"
WARM_UPS = 2
SHORTEST = 0.002  # seconds; a function that takes less is called many times a run

# As a reader starts the command: no variable of this shell changes what Python does (PYTHONDONTWRITEBYTECODE, say,
# would have it compile every module again at every start).
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


def seconds_of(side, calls=1):
    """Return the seconds that one run of a command, or one of ``calls`` calls of a function, takes."""
    if callable(side):
        start = perf_counter()
        for _ in range(calls):
            side()
        return (perf_counter() - start) / calls
    start = perf_counter()
    done = subprocess.run(side, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    elapsed = perf_counter() - start
    if done.returncode:
        raise SystemExit(f"{' '.join(side)} failed:\n{done.stderr}")
    return elapsed


def calls_of(side):
    """Return how many calls of a function make a run long enough for the clock."""
    calls = 1
    while callable(side) and calls * seconds_of(side, calls) < SHORTEST:
        calls *= 10
    return calls


def spread(values):
    """Return the median and the two quartiles of some values."""
    low, _, high = quantiles(values, method="inclusive") if len(values) > 1 else values * 3
    return {"median": median(values), "lower_quartile": low, "upper_quartile": high}


def measure(row: Row, pairs: int) -> dict:
    """Run both sides of a row in turn and return what was measured."""
    sides = row.sides() if callable(row.sides) else row.sides
    if row.same and sides[0]() != sides[1]():
        raise SystemExit(f"{row.name}: the two sides have different results, so there is nothing to compare")
    calls = [calls_of(side) for side in sides]
    gc.collect()
    gc.freeze()  # what rows before left behind is not looked through again
    measured = []
    for _ in range(min(WARM_UPS, pairs) + pairs):
        measured.append([seconds_of(side, n) for side, n in zip(sides, calls, strict=True)])
    measured = measured[-pairs:]
    subject, against = zip(*measured, strict=True)
    ratio = spread([a / b for a, b in measured])
    result = {
        "name": row.name,
        "shows": row.shows,
        "pairs": pairs,
        "ratio": ratio,
        "limit": row.limit,
        "stretch": row.stretch,
        "seconds_limit": row.seconds,
        "megabytes_limit": row.megabytes,
        "subject_megabytes": None if row.megabytes is None else peak(sides[0]),
        "subject_seconds": spread(subject),
        "against_seconds": spread(against),
    }
    return {**result, "verdict": verdict(result)}


def verdict(result: dict) -> str:
    """Return "pass" or "over" for a row with a limit, "" for a row without."""
    bounds = [
        (result["ratio"]["median"], result["limit"]),
        (result["subject_seconds"]["median"], result["seconds_limit"]),
        (result["subject_megabytes"], result["megabytes_limit"]),
    ]
    bounds = [(value, limit) for value, limit in bounds if limit is not None]
    if not bounds:
        return ""
    return "pass" if all(value <= limit for value, limit in bounds) else "over"


def table(results: list[dict]) -> str:
    """Return the results as lines of text."""
    cells = [("row", "ratio", "quartiles", "at most", "", "subject", "against")]
    for result in results:
        ratio = result["ratio"]
        limits = [] if result["limit"] is None else [f"{result['limit']:g}"]
        if result["stretch"] is not None:
            limits.append(f"better {result['stretch']:g}")
        if result["seconds_limit"] is not None:
            limits.append(f"{result['seconds_limit']:g} s")
        if result["megabytes_limit"] is not None:
            limits.append(f"{result['megabytes_limit']:g} MB (takes {result['subject_megabytes']:.0f})")
        cells.append(
            (
                result["name"],
                f"{ratio['median']:.3g}",
                f"{ratio['lower_quartile']:.3g} to {ratio['upper_quartile']:.3g}",
                ", ".join(limits),
                result["verdict"],
                duration(result["subject_seconds"]["median"]),
                duration(result["against_seconds"]["median"]),
            )
        )
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    aligns = [str.ljust, str.rjust, str.rjust, str.ljust, str.ljust, str.rjust, str.rjust]
    lines = [
        "  ".join(align(*cell) for align, *cell in zip(aligns, row, widths, strict=True)).rstrip() for row in cells
    ]
    notes = [f"{result['name']}: {result['shows']}" for result in results]
    return "\n".join([*lines, "", *notes])


def duration(seconds: float) -> str:
    """Return seconds as text, in the unit that fits."""
    for unit, size in (("s", 1), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} µs"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sizes, one pair: does every row run?")
    parser.add_argument("--only", metavar="TEXT", default="", help="the rows whose name holds this text")
    parser.add_argument("--pairs", type=int, metavar="N", help="pairs of runs a row (default: each row has its own)")
    parser.add_argument("--strict", action="store_true", help="exit status 1 when a row is over its limit")
    parser.add_argument("--output", type=Path, default=RESULTS, metavar="FILE", help="the JSON (default: %(default)s)")
    options = parser.parse_args(arguments)
    if options.pairs is not None and options.pairs < 1:
        parser.error(f"--pairs is at least 1, not {options.pairs}")
    chosen = [row for row in rows(options.quick) if options.only in row.name]
    if not chosen:
        parser.error(f"no row has {options.only!r} in its name")

    results = []
    for row in chosen:
        if sys.stderr.isatty():
            print(f"\r\033[K{row.name} …", end="", file=sys.stderr, flush=True)
        result = measure(row, options.pairs or (1 if options.quick else row.pairs))
        if options.quick:
            result["verdict"] = ""  # the limits are for the full sizes
        results.append(result)
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr, flush=True)
    print(table(results))
    report = {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "quick": options.quick,
        "rows": results,
    }
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(json.dumps(report, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return 1 if options.strict and any(result["verdict"] == "over" for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
