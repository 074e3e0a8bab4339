"""What a learning platform exported: which file is whose, and which attempt counts. Nothing is unpacked to disk."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections import namedtuple
from pathlib import Path, PurePosixPath

LARGEST = 64_000_000  # bytes of one file
MOST = 2000  # files in one archive

File = namedtuple("File", "place data problem")
File.__doc__ = "A file of an export: its path inside the folder, its bytes or None, and why it was not read."

Submission = namedtuple("Submission", "key place notebook data remarks")
Submission.__doc__ = """One student's work. ``key``: who, by the names of files; ``notebook``: a dict or None.

``remarks``: what a person should look at, as pairs (what, detail).
"""

MOODLE = re.compile(r"^(?P<who>.+?_\d+)_assignsubmission_")
CANVAS = re.compile(r"^(?P<who>[^_/]+)_(?:LATE_)?\d+_\d+_")
COPY = re.compile(r"(?:[-_ ]?\((\d+)\)|-(\d+))$")


def read_folder(folder: Path) -> list[File]:
    """Return every file of an export, those inside archives included, in order of their paths.

    Raises `ValueError` when there is no such folder.
    """
    if not folder.is_dir():
        raise ValueError(f"{folder} is no folder of submissions")
    found = []
    for path in sorted(folder.rglob("*")):
        place = path.relative_to(folder).as_posix()
        if path.is_symlink():
            found.append(File(place, None, "a link to another file is not followed"))
        elif path.is_file() and not _is_noise(place):
            if path.stat().st_size > LARGEST:
                found.append(File(place, None, f"the file has more than {LARGEST // 1_000_000} MB"))
            else:
                found += _opened(place, path.read_bytes(), depth=0)
    return found


def _is_noise(place: str) -> bool:
    parts = PurePosixPath(place).parts
    return "__MACOSX" in parts or ".ipynb_checkpoints" in parts or parts[-1] in (".DS_Store", "Thumbs.db")


def _opened(place: str, data: bytes, depth: int) -> list[File]:
    """Return the file, or the files in it when it is an archive."""
    if not place.lower().endswith(".zip"):
        return [File(place, data, "")]
    found, left = [], LARGEST
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = [one for one in archive.infolist() if not one.is_dir()]
            if len(members) > MOST or depth > 1:
                return [File(place, None, "the archive has too many files in it")]
            for member in members:
                # A path such as ../../x stays a name: nothing is written.
                name = "/".join(part for part in PurePosixPath(member.filename).parts if part not in ("..", "/"))
                inside = f"{place}/{name}"
                if _is_noise(inside):
                    continue
                with archive.open(member) as file:
                    content = file.read(left + 1)
                if len(content) > left:
                    return [*found, File(inside, None, f"the archive holds more than {LARGEST // 1_000_000} MB")]
                left -= len(content)
                found += _opened(inside, content, depth + 1)
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError, OSError, EOFError, ValueError) as error:
        return [*found, File(place, None, f"the archive cannot be read: {error}")]
    return found


def who(place: str, lab: str) -> tuple[str, int]:
    """Return whose file this is and which attempt, by its path: Moodle, Canvas, a folder a student, or a file name.

    >>> who("Ada Moreno_1234_assignsubmission_file/lab1 (1).ipynb", "lab1")
    ('Ada Moreno_1234', 1)
    >>> who("morenoada_55_901_lab1-2.ipynb", "lab1"), who("ada/lab1.ipynb", "lab1"), who("lab1_ada.ipynb", "lab1")
    (('morenoada', 2), ('ada', 0), ('ada', 0))
    """
    parts = PurePosixPath(place).parts
    stem = PurePosixPath(parts[-1]).stem
    copy = COPY.search(stem)
    attempt = int(copy[1] or copy[2]) if copy else 0
    for part in parts:
        if found := MOODLE.match(part) or CANVAS.match(part):
            return found["who"], attempt
    folders = [part for part in parts[:-1] if lab.lower() not in part.lower()]
    if folders:
        own = [part for part in folders if not part.lower().endswith(".zip")] or [PurePosixPath(folders[-1]).stem]
        return own[0], attempt
    left = stem[: copy.start()] if copy else stem
    left = re.sub(re.escape(lab), "", left, flags=re.IGNORECASE).strip(" _-")
    return left or stem, attempt


def notebook_of(data: bytes) -> dict:
    """Return a notebook; raises `ValueError` that says why the bytes are none."""
    if not data.strip():
        raise ValueError("the file is empty")
    try:
        notebook = json.loads(data.decode("utf-8-sig"))
    except (UnicodeDecodeError, ValueError, RecursionError):
        raise ValueError("the file is no notebook: it is not JSON") from None
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(cells, list):
        raise ValueError("the file is no notebook of format 4: it has no list of cells")
    for cell in cells:
        if not isinstance(cell, dict) or cell.get("cell_type") not in ("code", "markdown", "raw"):
            raise ValueError("the file is no notebook: one of its cells is none")
        text = cell.get("source", "")
        if isinstance(text, list) and all(isinstance(line, str) for line in text):
            text = "".join(text)
        if not isinstance(text, str):
            raise ValueError("the file is no notebook: the text of a cell is none")
        cell["source"] = text
        cell["metadata"] = cell["metadata"] if isinstance(cell.get("metadata"), dict) else {}
    return notebook


def submissions(folder: Path, lab: str) -> list[Submission]:
    """Return one `Submission` a student: the last attempt that can be read, with remarks on all the rest."""
    by_student: dict[str, list[tuple[int, File]]] = {}
    for file in read_folder(folder):
        key, attempt = who(file.place, lab)
        by_student.setdefault(key, []).append((attempt, file))
    return [_choose(key, files) for key, files in sorted(by_student.items())]


def _choose(key: str, files: list[tuple[int, File]]) -> Submission:
    remarks, chosen, seen = [], None, set()
    for _, file in sorted(files, key=lambda pair: (pair[0], pair[1].place), reverse=True):
        if file.data is None:
            remarks.append(("a file was not read", f"{file.place}: {file.problem}"))
        elif not file.place.lower().endswith((".ipynb", ".json", ".txt")) and len(files) > 1:
            remarks.append(("another file was handed in", file.place))
        elif file.data in seen:
            continue  # the same file twice
        elif chosen is not None:
            remarks.append(("an earlier attempt was not graded", file.place))
        else:
            seen.add(file.data)
            try:
                chosen = (file, notebook_of(file.data))
            except ValueError as error:
                remarks.append(("a file was not read", f"{file.place}: {error}"))
    if chosen is None:
        return Submission(key, files[0][1].place, None, b"", remarks)
    return Submission(key, chosen[0].place, chosen[1], chosen[0].data, remarks)
