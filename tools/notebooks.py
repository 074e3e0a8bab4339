"""Execute the notebooks so that every run writes the same bytes.

    python tools/notebooks.py                    execute all notebooks, write them; where nothing has changed since
                                                 but the module of the widgets, that is put in and no cell is run
    python tools/notebooks.py --check            execute all, write nothing, fail when a file would change
    python tools/notebooks.py --check --cwd DIR  the same with DIR as the working directory of the kernels
    python tools/notebooks.py --nbval            compare output by output with nbval, strictly
    python tools/notebooks.py notebooks/04*.ipynb

Each notebook runs alone, on a fresh kernel, with no network.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import difflib
import hashlib
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = ROOT / "notebooks"

# What a person did not write as the name of a cell: our own numbering, nbformat's and JupyterLab's random ids.
AUTOMATIC_ID = re.compile(r"cell-\d+|[0-9a-f]{8}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
# What a kernel tells about itself and what changes with every patch of Python.
KERNELSPEC = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
LANGUAGE_INFO = {"name": "python", "file_extension": ".py", "mimetype": "text/x-python", "pygments_lexer": "ipython3"}
WIDGET_STATE = "application/vnd.jupyter.widget-state+json"
SECONDS_PER_CELL = 120
SETUP_ID = "setup"
SETUP = """\
# On Colab the library is missing: install it there. Elsewhere this does nothing.
import importlib.util

if importlib.util.find_spec("contextlab") is None:
    source = "git+{url}@{branch}"
    %pip install --quiet "contextlab[notebook] @ {{source}}\""""
# What decides the outputs of every notebook, and what was executed last on this machine.
SOURCES = ("src/contextlab/**/*", "notebooks/data/*", "requirements.txt", "tools/notebooks.py")
MODULE = (".js", ".css")  # the module of the widgets and its style sheet: no output depends on them
EXECUTED = ROOT / "_build" / "notebooks.json"


def environment(scratch: str) -> dict[str, str]:
    """The variables under which kernels run: no network, nothing of the user's own, one answer on every run."""
    paths = [str(ROOT / "tools" / "no_network"), os.environ.get("PYTHONPATH", "")]
    return os.environ | {
        "PYTHONPATH": os.pathsep.join(path for path in paths if path),
        "PYTHONHASHSEED": "0",
        "SOURCE_DATE_EPOCH": "1767225600",  # 2026-01-01: the date inside an SVG that has one
        "JUPYTER_PREFER_ENV_PATH": "1",
        "IPYTHONDIR": scratch,  # no profile or start-up file of the user
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "COLUMNS": "80",
        # Sums of floats in one order, and no contest for the two cores.
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    }


def find(patterns: list[str]) -> list[Path]:
    """The notebooks named on the command line, or all of them in reading order."""
    paths = [Path(name).resolve() for name in patterns] or sorted(NOTEBOOKS.glob("*.ipynb"))
    if missing := [path for path in paths if not path.is_file()]:
        raise SystemExit(f"notebooks: no such file: {missing[0]}")
    return paths


async def execute(path: Path, cwd: Path | None = None) -> str:
    """Run one notebook on a fresh kernel and return the text of the file that it should be."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    clear(notebook)
    put_setup_cell(notebook)
    client = NotebookClient(
        notebook,
        timeout=SECONDS_PER_CELL,
        kernel_name="python3",
        record_timing=False,
        resources={"metadata": {"path": str(cwd or path.parent)}},
        # No history file; and no remark that the kernel listens on this machine without encryption.
        extra_arguments=["--HistoryManager.enabled=False", "--IPKernelApp.log_level=40"],
    )
    await client.async_execute()
    normalise(notebook, path.stem)
    return nbformat.writes(notebook, version=4) + "\n"


def fingerprint(path: Path) -> str:
    """A hash of a notebook, its outputs included, and of all that decides them; the widgets' module is not in it."""
    import json

    from contextlab.widgets import refresh

    notebook = json.loads(path.read_text(encoding="utf-8"))
    refresh(notebook, bare=True)
    digest = hashlib.sha256(json.dumps([sys.version, notebook]).encode())
    for source in sorted({source for pattern in SOURCES for source in ROOT.glob(pattern)}):
        if source.is_file() and "__pycache__" not in source.parts and source.suffix not in MODULE:
            digest.update(str(source.relative_to(ROOT)).encode() + source.read_bytes())
    return digest.hexdigest()


def executed() -> dict[str, str]:
    """The fingerprints of the notebooks after their last execution on this machine."""
    import json

    try:
        return json.loads(EXECUTED.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def refreshed(path: Path) -> str:
    """The text of a notebook with the present module of the widgets; no cell is run."""
    import nbformat

    from contextlab.widgets import refresh

    notebook = nbformat.read(path, as_version=4)
    refresh(notebook)
    return nbformat.writes(notebook, version=4) + "\n"


def remember(paths: list[Path]) -> None:
    import json

    EXECUTED.parent.mkdir(exist_ok=True)
    known = executed() | {str(path): fingerprint(path) for path in paths}
    EXECUTED.write_text(json.dumps(known, indent=1), encoding="utf-8")


def setup_cell() -> str:
    """The source of the first code cell: it installs the library where it is missing, from the repository's address."""
    import yaml

    repository = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["repository"]
    return SETUP.format(url=repository["url"].rstrip("/"), branch=repository["branch"])


def put_setup_cell(notebook) -> None:
    """Write the setup cell behind the title; a notebook that has none gets it."""
    from nbformat.v4 import new_code_cell

    cells = [cell for cell in notebook.cells if cell.get("id") != SETUP_ID]
    # Not a part of the chapter: the page does not show it.
    cells.insert(1, new_code_cell(setup_cell(), id=SETUP_ID, metadata={"tags": ["remove-cell"]}))
    notebook.cells = cells


def clear(notebook) -> None:
    """Remove every trace of an earlier run."""
    notebook.metadata.pop("widgets", None)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None


def normalise(notebook, name: str) -> None:
    """Replace what differs between two runs of the same cells: random ids, timings, how a stream was cut."""
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    notebook.metadata = {**notebook.metadata, "kernelspec": KERNELSPEC, "language_info": LANGUAGE_INFO}
    for number, cell in enumerate(notebook.cells, 1):
        if AUTOMATIC_ID.fullmatch(cell.get("id", "cell-0")):
            cell.id = f"cell-{number:03d}"
        cell.metadata.pop("execution", None)
        if cell.cell_type == "code":
            cell.outputs = joined_streams(cell.outputs)
    name_widgets(notebook, name)


def joined_streams(outputs: list) -> list:
    """Join neighbouring pieces of one stream: where a kernel cuts them is a matter of timing."""
    result: list = []
    for output in outputs:
        last = result[-1] if result else None
        if last and output.output_type == last.output_type == "stream" and output.name == last.name:
            last.text += output.text
        else:
            result.append(output)
    return result


def name_widgets(notebook, name: str) -> None:
    """Give each widget model an id that follows from the notebook and from the order of creation."""
    import json

    from nbformat import from_dict

    widgets = notebook.metadata.get("widgets", {}).get(WIDGET_STATE)
    if not widgets:
        return
    text = json.dumps(notebook)
    for ordinal, model in enumerate(widgets["state"]):
        text = text.replace(model, hashlib.sha256(f"{name}:{ordinal}".encode()).hexdigest()[:32])
    renamed = from_dict(json.loads(text))
    notebook.cells, notebook.metadata = renamed.cells, renamed.metadata


async def execute_all(paths: list[Path], jobs: int, cwd: Path | None) -> list[str]:
    slots = asyncio.Semaphore(jobs)

    async def one(path: Path) -> str:
        async with slots:
            try:
                return await execute(path, cwd)
            except Exception as error:  # a cell, a kernel or the file: whichever it is, it is named and the run ends
                raise SystemExit(f"notebooks: {path.name} fails:\n{error}") from error

    return await asyncio.gather(*map(one, paths))


def nbval(paths: list[Path], jobs: int) -> int:
    """Run nbval on fresh kernels; it inherits the environment of `prepared`, the blocked network with it."""
    workers = ["-n", str(jobs), "--dist", "loadfile"] if jobs > 1 and len(paths) > 1 else []
    command = [sys.executable, "-m", "pytest", "--nbval", "-p", "no:cacheprovider", *workers, *map(str, paths)]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


def differences(path: Path, new: str) -> str:
    """The first lines in which the committed file and this run differ, or an empty string."""
    old = path.read_text(encoding="utf-8")
    if old == new:
        return ""
    lines = difflib.unified_diff(old.splitlines(), new.splitlines(), f"{path.name} (file)", "(this run)", "", "", 1, "")
    return "\n".join(line[:200] for _, line in zip(range(40), lines, strict=False))


@contextlib.contextmanager
def prepared():
    """Set the environment of the kernels, and build matplotlib's font list before one of them would report it."""
    with tempfile.TemporaryDirectory(prefix="contextlab-") as scratch:
        os.environ.update(environment(scratch))
        subprocess.run([sys.executable, "-c", "import matplotlib.font_manager"], check=False, capture_output=True)
        yield


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notebooks", nargs="*", help="default: all")
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 when a file would change")
    parser.add_argument("--cwd", type=Path, help="working directory of the kernels (default: the notebook's folder)")
    parser.add_argument("--force", action="store_true", help="execute even what has not changed")
    parser.add_argument("--nbval", action="store_true", help="run nbval, which names the cell that differs")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    options = parser.parse_args(arguments)
    paths = find(options.notebooks)
    with prepared():
        if options.nbval:
            return nbval(paths, options.jobs)
        known = {} if options.check or options.force or options.cwd else executed()
        same = {path for path in paths if known.get(str(path)) == fingerprint(path)}
        others = [path for path in paths if path not in same]
        made = dict(zip(others, asyncio.run(execute_all(others, options.jobs, options.cwd)), strict=True))
        texts = [made.get(path) or refreshed(path) for path in paths]
    changed = 0
    for path, text in zip(paths, texts, strict=True):
        difference = differences(path, text)
        changed += bool(difference)
        if options.check:
            print(f"{path.name}: {'differs' if difference else 'same'}")
            print(difference, end="\n" if difference else "")
        else:
            if difference:
                path.write_text(text, encoding="utf-8", newline="\n")
            how = "" if path in made else ", nothing to execute"
            print(f"{path.name}: {'written' if difference else 'unchanged'}{how}")
    if not options.check and not options.cwd:
        remember(paths)
    return 1 if options.check and changed else 0


if __name__ == "__main__":
    sys.exit(main())
