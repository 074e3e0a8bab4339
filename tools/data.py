"""Make the files of notebooks/data/: sweeps over more seeds than a notebook should run.

    python tools/data.py                     what is missing, on all cores
    python tools/data.py --fresh             everything anew
    python tools/data.py --executor serial   one process (also: processes, threads, cluster)

A sweep that was stopped goes on where it was. The files are the same bytes on every machine and executor.
"""

import argparse
import os
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path

from contextlab import compare, forecast
from contextlab.compare import cluster_executor, sweep

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


if __name__ == "__main__":
    sys.exit(main())
