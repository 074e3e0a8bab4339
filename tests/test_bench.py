"""The bench runs and reports every row. What it measures is never asserted: that depends on the machine."""

import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FIELDS = {"name", "shows", "pairs", "ratio", "limit", "verdict", "subject_seconds", "against_seconds"}


@pytest.fixture
def bench(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "bench")
    import run

    yield run
    for name in ("run", "rows"):
        del sys.modules[name]


def side(seconds):
    """A row's function that sleeps through this many seconds of a clock that the test turns."""
    return lambda: clock.__setitem__(0, clock[0] + seconds)


clock = [0.0]


@pytest.fixture
def turned(bench, monkeypatch):
    monkeypatch.setattr(bench, "perf_counter", lambda: clock[0])
    return bench


def test_a_quick_run_has_every_row_in_table_and_json(bench, tmp_path, capsys):
    output = tmp_path / "new" / "bench.json"
    assert bench.main(["--quick", "--output", str(output)]) == 0
    table = capsys.readouterr().out
    measured = json.loads(output.read_text(encoding="utf-8"))["rows"]
    assert [row["name"] for row in measured] == [row.name for row in bench.rows(quick=True)]
    for row in measured:
        assert row.keys() >= FIELDS
        assert f"\n{row['name']}  " in table and row["shows"] in table
        assert row["ratio"]["lower_quartile"] <= row["ratio"]["median"] <= row["ratio"]["upper_quartile"]


def test_short_and_full_runs_have_the_same_rows_with_different_names_each(bench):
    full, quick = ([row.name for row in bench.rows(quick)] for quick in (False, True))
    assert full == quick
    assert len(set(full)) == len(full)


def test_a_ratio_is_that_of_the_two_sides(turned):
    row = turned.Row("sleep", "three seconds / two", (side(3), side(2)), limit=1.5)
    result = turned.measure(row, pairs=4)
    assert result["ratio"] == {"median": 1.5, "lower_quartile": 1.5, "upper_quartile": 1.5}
    assert result["subject_seconds"]["median"] == 3
    assert result["verdict"] == "pass"


@pytest.mark.parametrize(
    ("limits", "verdict"),
    [({}, ""), ({"limit": 1.4}, "over"), ({"limit": 2, "seconds": 2}, "over"), ({"limit": 2, "seconds": 3}, "pass")],
)
def test_a_row_over_one_of_its_limits_is_over(turned, monkeypatch, tmp_path, limits, verdict):
    row = turned.Row("sleep", "three seconds / two", (side(3), side(2)), **limits)
    assert turned.measure(row, pairs=1)["verdict"] == verdict
    monkeypatch.setattr(turned, "rows", lambda quick: [row])
    options = ["--pairs", "1", "--output", str(tmp_path / "bench.json")]
    assert turned.main(options) == 0
    assert turned.main([*options, "--strict"]) == (verdict == "over")


def test_sides_with_different_results_are_not_compared(bench):
    with pytest.raises(SystemExit, match="different results"):
        bench.measure(bench.Row("odd", "one / two", (lambda: 1, lambda: 2), same=True), pairs=1)


def test_a_command_that_fails_ends_the_bench_with_its_own_message(bench):
    command = [sys.executable, "-c", "raise SystemExit('out of order')"]
    with pytest.raises(SystemExit, match="out of order"):
        bench.measure(bench.Row("odd", "fails / fails", (command, command)), pairs=1)


def test_an_unknown_row_is_refused(bench, capsys):
    with pytest.raises(SystemExit) as ended:
        bench.main(["--quick", "--only", "no such row"])
    assert ended.value.code == 2
    assert "no row has 'no such row'" in capsys.readouterr().err


@pytest.mark.parametrize(("megabytes", "verdict"), [(99, "pass"), (101, "over")])
def test_a_command_that_prints_its_peak_memory_is_held_to_it(bench, megabytes, verdict):
    commands = ([sys.executable, "-c", f"print({megabytes})"], [sys.executable, "-c", "pass"])
    result = bench.measure(bench.Row("memory", "a command / another", commands, megabytes=100), pairs=1)
    assert result["verdict"] == verdict
    assert f"100 MB (takes {megabytes})" in bench.table([result])
