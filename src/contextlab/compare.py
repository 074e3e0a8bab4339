"""Sweeps: the same task over many seeds, on any executor, into one file, resumable."""

from __future__ import annotations

import csv
import os
from pathlib import Path

from .errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from concurrent.futures import Executor

CHUNK = 20  # keys that one job of the executor takes on


def sweep(
    task: Callable[[int], list[Sequence]],
    keys: Iterable[int],
    path: str | os.PathLike,
    columns: Sequence[str],
    executor: Executor | None = None,
) -> Iterator[int]:
    """Run ``task`` for each key and write its rows to the CSV file ``path``; yield the number of keys done so far.

    ``task(key)`` returns rows of whole numbers, the key first; it is a function that the executor can send elsewhere.
    ``executor`` is any `concurrent.futures` executor (None: one key after the other, here). Rows are kept in
    ``path`` + ``.part`` until every key is done, so that a sweep that was stopped goes on where it was; then the file
    is written in the order of its rows and put in place in one step. The same keys give the same bytes, on every
    executor. Raises `InputError` when the part file has other columns.
    """
    path = Path(path)
    part = path.with_name(path.name + ".part")
    rows = _read_part(part, columns)
    keys = sorted(set(keys))
    done = {row[0] for row in rows}
    todo = [key for key in keys if key not in done]
    chunks = [todo[i : i + CHUNK] for i in range(0, len(todo), CHUNK)]
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(part, "a", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        if stream.tell() == 0:
            writer.writerow(columns)
        for finished in _results(task, chunks, executor):
            rows.extend(finished)
            writer.writerows(finished)
            stream.flush()
            done.update(row[0] for row in finished)
            yield len(done)
    ready = path.with_name(path.name + ".ready")
    wanted = set(keys)
    with open(ready, "w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(sorted(row for row in rows if row[0] in wanted))
    os.replace(ready, path)
    part.unlink()


def data_file(name: str) -> Path:
    """Return where the book's data file of this name is: beside the notebooks, or in the installed package.

    Raises `InputError` when it is in neither place.

    >>> data_file("forecast_errors.csv").name
    'forecast_errors.csv'
    """
    here = Path(__file__).resolve().parent
    places = [here.parents[1] / "notebooks" / "data" / name, here / "sweeps" / name]
    for place in places:
        if place.is_file():
            return place
    raise InputError(f"there is no data file {name}: `make data` in the repository makes it")


def read_sweep(path: str | os.PathLike) -> tuple[list[str], list[tuple[int, ...]]]:
    """Return the columns and the rows of a sweep's file; a bare name is looked up with `data_file`."""
    path = Path(path)
    if path.name == str(path) and not path.exists():
        path = data_file(path.name)
    with open(path, newline="", encoding="utf-8") as stream:
        reader = csv.reader(stream)
        columns = next(reader)
        return columns, [tuple(map(int, row)) for row in reader]


def _results(task, chunks, executor):
    if executor is None:
        for chunk in chunks:
            yield _run(task, chunk)
        return
    from concurrent.futures import as_completed

    jobs = [executor.submit(_run, task, chunk) for chunk in chunks]
    try:
        for job in as_completed(jobs):
            yield job.result()
    finally:
        for job in jobs:
            job.cancel()


def _run(task, chunk):
    return [tuple(row) for key in chunk for row in task(key)]


def _read_part(part, columns):
    """Return the rows of a sweep that was stopped; a last line or a last key cut off in the middle is left out."""
    if not part.exists():
        return []
    text = part.read_text(encoding="utf-8")
    lines = text[: text.rfind("\n") + 1].splitlines()
    if lines and lines[0] != ",".join(columns):
        raise InputError(f"{part} has the columns {lines[0]}; expected {','.join(columns)}; delete it to begin anew")
    rows = [tuple(map(int, line.split(","))) for line in lines[1:]]
    if rows:
        last = rows[-1][0]  # it may lack rows
        rows = [row for row in rows if row[0] != last]
    with open(part, "w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)
    return rows
