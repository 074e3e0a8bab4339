"""What a submission has become on its way: which cells are run, and what a person should look at.

Remarks change no mark. Right answers are not in the student's process, so a rewritten check gains nothing; a teacher
wants to know of it all the same.
"""

from __future__ import annotations

import ast
import re
from collections import Counter, namedtuple

Work = namedtuple("Work", "student cells written remarks")
Work.__doc__ = """What is graded of a notebook.

``student``: the id written into it, or "". ``cells``: (id, text) in the order in which they are run. ``written``:
question -> the text of the student. ``remarks``: pairs (what, detail).
"""

# What has no place in a lab, and why somebody might write it.
SUSPECT = {
    r"__eq__|__ne__|__class__\s*=": "defines what == means",
    r"NodeTransformer|ast_transformers|input_transformers|builtins|__builtins__|settrace|setprofile": "changes Python",
    r"os\._exit|os\.kill|\bsignal\b|\bctypes\b|os\.fork|subprocess|multiprocessing": "handles processes",
    r"/proc|gc\.get_objects|sys\._getframe|currentframe|\bf_back\b|\bf_globals\b": "looks beyond its own names",
    r"\bcontextlab\b|\btiktoken\b": "names the library",
    r"(?i)total score|all tests passed|HIDDEN TESTS|BEGIN SOLUTION": "prints or copies what a grader would say",
    r"nbgrader|gradebook": "names the grader",
}


class WrongLab(ValueError):
    """The notebook is not of this lab."""


def mark_of(cell: dict) -> dict:
    mark = cell["metadata"].get("nbgrader")
    return mark if isinstance(mark, dict) else {}


def work(notebook: dict, release: dict) -> Work:
    """Compare a notebook with the release; raises `WrongLab` when it is another lab's, or of another course."""
    remarks: list[tuple[str, str]] = []
    ours = {mark_of(cell)["grade_id"]: cell for cell in release["cells"] if mark_of(cell)}
    ids = [_grade_id(cell, ours) for cell in notebook["cells"]]
    _belongs(notebook, release, ids, ours, remarks)
    for grade_id, count in Counter(filter(None, ids)).items():
        if count > 1:
            remarks.append(("a cell is there more than once", grade_id))
    if missing := [grade_id for grade_id in ours if grade_id not in ids]:
        remarks.append(("cells are missing", ", ".join(missing)))
    student, given, cells, written = "", [], [], {}
    for number, (cell, grade_id) in enumerate(zip(notebook["cells"], ids, strict=True), 1):
        text, mark = cell["source"], mark_of(ours[grade_id]) if grade_id else {}
        if mark.get("locked"):
            what = "check" if mark["grade"] else "given"
            if _bare(text) != _bare(ours[grade_id]["source"]):
                remarks.append((f"a {what} cell was changed", grade_id))
                _suspect(text, grade_id, remarks)
        elif mark.get("grade"):
            written[grade_id] = text
        elif cell["cell_type"] == "code":
            _suspect(text, grade_id or f"cell {number}", remarks)
            student = _assigned(text, "STUDENT") or student
            cells.append((grade_id or f"cell {number}", runnable(text)))
    # Given cells need STUDENT alone, so they come first, in our wording.
    given = [(name, cell["source"]) for name, cell in ours.items() if _is_given(cell)]
    first = [("student", f"STUDENT = {student or 'demo'!r}")]
    return Work(student, first + given + cells, written, remarks)


def _is_given(cell: dict) -> bool:
    mark = mark_of(cell)
    return mark["locked"] and not mark["grade"] and cell["cell_type"] == "code"


def _grade_id(cell: dict, ours: dict) -> str | None:
    """Which cell of ours this is: by nbgrader's metadata or, where they are gone, by the id of the cell."""
    named = mark_of(cell).get("grade_id")
    if isinstance(named, str) and named in ours:
        return named
    by_id = next((name for name, own in ours.items() if own["id"] == cell.get("id")), None)
    return by_id if named is None else None


def _belongs(notebook, release, ids, ours, remarks) -> None:
    metadata = notebook.get("metadata")
    label = metadata.get("contextlab") if isinstance(metadata, dict) else None
    expected = release["metadata"]["contextlab"]
    if isinstance(label, dict) and label.get("lab") != expected["lab"]:
        raise WrongLab(f"the notebook says that it is {str(label.get('lab'))[:40]!r}, not {expected['lab']!r}")
    if isinstance(label, dict) and label.get("course") != expected["course"]:
        raise WrongLab(f"the notebook is of the course {str(label.get('course'))[:40]!r}, not {expected['course']!r}")
    if not any(ids):
        named = {name for cell in notebook["cells"] for name in _defined(cell)}
        wanted = {name for cell in release["cells"] for name in _defined(cell)}
        if not named & wanted:
            raise WrongLab("no cell of this lab is in the notebook")
        remarks.append(("the metadata of the cells are gone", "graded by the names that the cells define"))
    elif not any(mark_of(cell) for cell in notebook["cells"]):
        remarks.append(("the metadata of the cells are gone", "graded by the ids of the cells"))


def _defined(cell: dict) -> list[str]:
    """The names of functions that a cell defines."""
    return re.findall(r"^def (\w+)", cell["source"], re.MULTILINE) if cell["cell_type"] == "code" else []


def _bare(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


def _suspect(text: str, where: str, remarks: list) -> None:
    for pattern, why in SUSPECT.items():
        if found := re.search(pattern, text):
            remarks.append((f"the code {why}", f"{where}: {found[0][:40]}"))


def _assigned(text: str, name: str) -> str:
    """The text that a cell gives to ``name``, or ""."""
    try:
        tree = ast.parse(runnable(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(isinstance(one, ast.Name) and one.id == name for one in node.targets):
            value = node.value.value if isinstance(node.value, ast.Constant) else None
            if isinstance(value, str):
                return value.encode("utf-8", "replace").decode().strip()[:80]  # half a surrogate pair is no text
    return ""


def runnable(text: str) -> str:
    """Return a cell as plain Python: lines that only a notebook understands (%matplotlib, !ls) do nothing."""
    try:
        ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return re.sub(r"^(\s*)[%!?].*$", r"\1pass", text, flags=re.MULTILINE)
    return text
