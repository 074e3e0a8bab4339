"""What is true of every lab: the release is current, points add up, the reference earns all of them."""

from __future__ import annotations

import doctest
import importlib
import json
import re
import subprocess
import sys

import build
import pytest
from classroom import COURSES, GRADED, blank, full, judged, points, solved, variant
from grading import lab as labs
from grading.draws import DEMONSTRATION, Draw, SecretError, course_label, draw_rule, read_secret
from grading.kit import LABS, Variant, find, names


def test_the_committed_notebooks_are_current(lab, capsys):
    assert build.main(["--check", lab]) == 0, capsys.readouterr().out


def test_points_add_up(lab):
    of = variant(lab)
    made = labs.release(labs.source(of))
    marks = [cell["metadata"].get("nbgrader", {}) for cell in made["cells"]]
    assert sum(mark.get("points", 0) for mark in marks) == sum(labs.points(lab).values())
    text = "\n".join(cell["source"] for cell in made["cells"])
    assert f"{sum(labs.points(lab).values())} points" in text
    for question, worth in labs.points(lab).items():
        assert f"| {question[1:]} | {worth} |" in text and f"({worth} points)" in text


def test_the_kit_knows_every_cell_of_the_template(lab):
    kit = variant(lab).kit
    blocks = labs.blocks(lab)
    assert list(kit.NAMES) == [block.id for block in blocks if block.role == "check"]
    written = {block.id: block.points for block in blocks if block.role == "written"}
    assert {q: sum(most for most, _ in rubric.values()) for q, rubric in kit.RUBRICS.items()} == written
    assert set(kit.QUESTIONS) == set(full(variant(lab)))
    assert {axis for axes in kit.QUESTIONS.values() for axis in axes} <= set(kit.AXES)
    ids = [block.id for block in blocks if block.role]
    assert len(set(ids)) == len(ids)


def test_a_tenth_is_a_trace_by_hand_and_a_quarter_is_argument(lab):
    kit, worth = variant(lab).kit, labs.points(lab)
    total = sum(worth.values())
    assert 4 <= len(worth) <= 8
    assert 0.08 <= worth[kit.TRACE] / total <= 0.15
    assert 0.2 <= sum(worth[question] for question in kit.RUBRICS) / total <= 0.3
    for rubric in kit.RUBRICS.values():  # a number without its reason earns half
        assert rubric["number"][0] == rubric["reason"][0]


@pytest.mark.parametrize("secret", COURSES, ids=lambda secret: secret[-1])
def test_the_reference_earns_every_point(sandbox, lab, secret):
    of = variant(lab, secret)
    for student in ("ada", "Zoë B."):
        result = judged(of, solved(of, student))
        assert points(result) == full(of), {k: v for k, v in result["checks"].items() if not v["points"]}
        assert result["status"] == "graded" and not result["remarks"] and not result["errors"]
        assert all(result["written"].values())


@pytest.mark.parametrize("secret", [DEMONSTRATION, GRADED[0]], ids=lambda secret: secret[-1])
def test_the_unsolved_release_earns_nothing(sandbox, lab, secret):
    of = variant(lab, secret)
    result = judged(of, blank(of))
    assert set(points(result).values()) == {0}
    assert not any(result["written"].values())
    assert result["status"] == "graded"


@pytest.mark.parametrize("secret", COURSES[1:], ids=lambda secret: secret[-1])
def test_the_public_solutions_fail_every_question_of_a_graded_course(sandbox, lab, secret):
    public, of = variant(lab), variant(lab, secret)
    result = judged(of, paste(blank(of), solved(public)))
    for question, worth in points(result).items():
        assert worth < full(of)[question] / 2, f"{question}: {of.rule}"


def paste(into: dict, answers: dict) -> dict:
    """Put the answers of one notebook into another."""
    texts = {
        cell["metadata"]["nbgrader"]["grade_id"]: cell["source"]
        for cell in answers["cells"]
        if cell["metadata"].get("nbgrader", {}).get("solution")
    }
    for cell in into["cells"]:
        name = cell["metadata"].get("nbgrader", {}).get("grade_id")
        cell["source"] = texts.get(name, cell["source"])
    return into


def test_the_rule_of_a_graded_course_is_another_one(lab):
    kit = variant(lab).kit
    rules = [variant(lab, secret).rule for secret in GRADED]
    assert len({str(rule) for rule in rules}) > 4
    for rule in rules:
        for axes in kit.QUESTIONS.values():
            assert all(rule[axis] != kit.AXES[axis][0] for axis in axes)


def test_neighbours_have_other_numbers(lab):
    of = variant(lab)

    def asked(student):
        cases = of.checks(student)
        return {check: [(case.expected, case.asks) for case in cases[check]] for check in cases}

    ada, zoe = asked("ada"), asked("zoe")
    personal = {check.split("-")[0] for check in ada if ada[check] != zoe[check]}
    assert of.kit.TRACE in personal and len(personal) >= 2
    assert asked("Ada ") == ada


def test_a_release_says_nothing_of_solutions_and_hidden_cases(lab):
    of = variant(lab, GRADED[1])
    made = labs.text_of(labs.release(labs.source(of)))
    assert "SOLUTION" not in made and "HIDDEN" not in made and GRADED[1] not in made
    hidden = [
        case
        for check, cases in of.checks("demo").items()
        if "-examples" not in check
        for case in cases
        if case.asks[0].args
    ]
    assert hidden
    bare = "".join(made.split())
    for case in hidden:
        arguments = "".join(repr(case.asks[0].args)[1:-1].split())
        assert len(arguments) < 12 or arguments not in bare


def test_code_fits_the_column_of_a_page(lab):
    for cell in labs.release(labs.source(variant(lab)))["cells"]:
        if cell["cell_type"] == "code":
            assert max(map(len, cell["source"].split("\n"))) <= 84, cell["source"]


def test_cells_run_as_nbval_runs_them(lab_in_turn, tmp_path):
    """The whole source, and of the release all that does not wait for an answer."""
    made = labs.release(labs.source(variant(lab_in_turn)))
    waits = ("solution", "grade")
    made["cells"] = [
        cell for cell in made["cells"] if not any(cell["metadata"].get("nbgrader", {}).get(what) for what in waits)
    ]
    assert sum(cell["cell_type"] == "code" for cell in made["cells"]) >= 3
    runnable = tmp_path / "runnable.ipynb"
    runnable.write_text(labs.text_of(made), encoding="utf-8")
    notebooks = [LABS / "source" / lab_in_turn / f"{lab_in_turn}.ipynb", runnable]
    command = [sys.executable, "-m", "pytest", "-q", "--nbval-lax", "-p", "no:cacheprovider", *map(str, notebooks)]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout[-3000:]


def test_nbval_would_see_an_unsolved_lab(tmp_path):
    path = tmp_path / "release.ipynb"
    path.write_text(labs.text_of(labs.release(labs.source(variant(names()[0])))), encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "--nbval-lax", "-p", "no:cacheprovider", str(path)]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True).returncode == 1


def test_a_graded_course_is_written_elsewhere_and_never_into_the_repository(tmp_path, capsys):
    secret = tmp_path / "secret"
    assert build.main(["--new-secret", str(secret)]) == 0
    assert secret.stat().st_mode & 0o077 == 0
    with pytest.raises(SystemExit):
        build.main(["--secret", str(secret)])
    with pytest.raises(SystemExit):
        build.main(["--secret", str(secret), "--to", str(LABS / "mine")])
    assert build.main(["--secret", str(secret), "--to", str(tmp_path / "course"), "1"]) == 0
    made = sorted(path.relative_to(tmp_path / "course").parts[0] for path in (tmp_path / "course").rglob("*.ipynb"))
    assert made == ["release", "source"]
    notebook = json.loads((tmp_path / "course/release/lab1_count_it/lab1_count_it.ipynb").read_text(encoding="utf-8"))
    assert notebook["metadata"]["contextlab"]["course"] == course_label(secret.read_text(encoding="utf-8").strip())
    assert build.main(["--new-secret", str(secret)]) == 2, "an old secret is never overwritten"
    assert "labs:" in capsys.readouterr().err


def test_a_short_secret_is_refused(tmp_path, monkeypatch):
    short = tmp_path / "short"
    short.write_text("spring term\n")
    with pytest.raises(SecretError, match="20"):
        read_secret(short)
    with pytest.raises(SecretError, match="cannot be read"):
        read_secret(tmp_path / "absent")
    monkeypatch.setenv("CONTEXTLAB_SECRET", "spring term")
    with pytest.raises(SecretError, match="CONTEXTLAB_SECRET"):
        read_secret()
    monkeypatch.delenv("CONTEXTLAB_SECRET")
    assert read_secret() == DEMONSTRATION


def test_no_secret_is_in_the_repository():
    listed = subprocess.run(["git", "ls-files", "labs"], cwd=LABS.parent, capture_output=True, text=True).stdout.split()
    assert not [name for name in listed if re.search("secret", name)]


def test_a_draw_is_fair_and_the_same_everywhere():
    draw = Draw("key")
    drawn = draw.ints(6000, 1, 6)
    assert all(850 < drawn.count(side) < 1150 for side in range(1, 7))
    assert Draw("key").ints(5, 1, 6) == drawn[:5]
    assert Draw("key").branch("a").ints(9, 0, 99) != Draw("key").branch("b").ints(9, 0, 99)
    # Written down once: a change of the draws would change every course under way.
    assert Draw("demonstration", "lab").ints(6, 0, 999) == [376, 84, 687, 871, 111, 679]


def test_every_axis_with_a_question_differs_and_the_others_may():
    axes, questions = {"a": (1, 2, 3), "b": (1, 2)}, {"q1": ["a"]}
    rules = [draw_rule(secret, "lab", axes, questions) for secret in GRADED]
    assert {rule["a"] for rule in rules} == {2, 3}
    assert {rule["b"] for rule in rules} == {1, 2}


@pytest.mark.parametrize("module", sorted(path.stem for path in (LABS / "grading").glob("*.py")))
def test_examples_in_docstrings_run(module):
    assert not doctest.testmod(importlib.import_module(f"grading.{module}")).failed


def test_a_lab_is_found_by_its_number():
    assert find("1") == find("lab1") == find("lab1_count_it") == "lab1_count_it"
    with pytest.raises(ValueError, match="lab1_count_it"):
        find("9")
    assert all(Variant(name, DEMONSTRATION).kit.TITLE for name in names())
