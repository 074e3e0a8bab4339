"""Make the files of notebooks/data/: sweeps over more seeds than a notebook should run.

    python tools/data.py                     what is missing, on all cores
    python tools/data.py --fresh             everything anew
    python tools/data.py --executor serial   one process (also: processes, threads, cluster)

A sweep that was stopped goes on where it was. The files are the same bytes on every machine and executor.
"""

import argparse
import json
import os
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path

from contextlab import compare, forecast, retrieval
from contextlab.compare import cluster_executor, sweep
from contextlab.errors import MissingDependency
from contextlab.script import CAFE, CAFE_QUESTIONS

DATA = Path(__file__).resolve().parent.parent / "notebooks" / "data"

# File name -> task, columns, seeds.
SWEEPS = {
    "forecast_errors.csv": (forecast.sweep_rows, forecast.SWEEP_COLUMNS, range(1, 1501)),
    "comparison.csv": (compare.comparison_rows, compare.COMPARISON_COLUMNS, range(1, 101)),
}
EXECUTORS = {
    "processes": lambda: ProcessPoolExecutor(os.cpu_count()),
    "threads": lambda: ThreadPoolExecutor(os.cpu_count()),
    "serial": lambda: nullcontext(None),
    "cluster": lambda: cluster_executor(os.cpu_count()),
}


def embedded() -> str:
    """Return what the small model finds for the questions of chapter 12, as JSON: its file in notebooks/data/."""
    found = retrieval.likeness(CAFE, [question for question, _ in CAFE_QUESTIONS])
    rows = [json.dumps([round(score, 2) + 0.0 for score in scores]) for scores in found]
    made_with = "wordllama's model, from its package; cosine of each question (rows) and each text (columns)"
    listed = ",\n    ".join(rows)
    return f'{{\n  "made with": "{made_with}",\n  "scores": [\n    {listed}\n  ]\n}}\n'


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--executor", choices=EXECUTORS, default="processes")
    parser.add_argument("--fresh", action="store_true", help="make every file anew")
    options = parser.parse_args()
    for name, (task, columns, seeds) in SWEEPS.items():
        path = DATA / name
        if path.exists() and not options.fresh:
            print(f"{name}: is there")
            continue
        with EXECUTORS[options.executor]() as executor:
            for done in sweep(task, seeds, path, columns, executor):
                print(f"\r{name}: {done:,} of {len(seeds):,} seeds", end="", flush=True)
        print()
    path = DATA / "embeddings.json"
    if path.exists() and not options.fresh:
        print(f"{path.name}: is there")
        return
    try:
        path.write_text(embedded(), encoding="utf-8", newline="\n")
    except MissingDependency as error:
        print(f"{path.name}: not made, {error}")


if __name__ == "__main__":
    sys.exit(main())
