"""Numbers as people type them: graded, or asked back, and never misread.

The module does the reading, so these tests run in a browser. What an entry means is known by construction: each
value is written in the ways of several countries.
"""

from __future__ import annotations

import json
from decimal import Decimal

import pytest
from demo_page import typed

from contextlab.widgets import assets

UNITS = ["tokens", "token"]

ASKED_BACK = [
    "",
    "   ",
    "nineteen",
    "I do not know",
    "1,024",
    "1.024",
    "12,345",
    "999.999",
    "1,024 tokens",
    "4 GiB",
    "4GiB",
    "19 %",
    "12 13",
    "12-13",
    "12 or 13",
    "1 02 4",
    "1,02,400",
    "1.2.3",
    "1,2,3",
    "0x10",
    "Infinity",
    "NaN",
    "1/3",
    "-",
    "+",
    ".",
    "e9",
    "9" * 60,
    "1e999999999",
    "1e-999999999",
    "<b>5</b>",
    "5; drop",
    "−",
]

GRADED = {
    "19": "19",
    " 19 ": "19",
    "019": "19",
    "+19": "19",
    "19.": "19",
    "19 tokens": "19",
    "19tokens": "19",
    "19 Token": "19",
    "tokens 19": "19",
    "0,19": "0.19",
    "0.19": "0.19",
    ",5": "0.5",
    ".5": "0.5",
    "0,190": "0.19",
    "0.125": "0.125",
    "12,5": "12.5",
    "1234,567": "1234.567",
    "1234.567": "1234.567",
    "1.0240": "1.024",
    "1 024": "1024",
    "1\u00a0024": "1024",
    "1\u202f024": "1024",
    "1'024": "1024",
    "1’024": "1024",
    "1 024 000": "1024000",
    "1,024,000": "1024000",
    "1.024.000": "1024000",
    "1,024.5": "1024.5",
    "1.024,5": "1024.5",
    "1 024,5": "1024.5",
    "4e9": "4000000000",
    "4E9": "4000000000",
    "1.5e3": "1500",
    "1,5e3": "1500",
    "5e-3": "0.005",
    "-3": "-3",
    "−3": "-3",
    "-0,5": "-0.5",
    "-0": "0",
    "0": "0",
    "١٩": "19",
    "۱۹": "19",
    "१९": "19",
    "１９": "19",
    "9007199254740993": "9007199254740993",
    "123456789012345678901234567890": "123456789012345678901234567890",
}


@pytest.fixture(scope="module")
def module(browser):
    page = browser.new_page()
    page.goto("about:blank")
    page.evaluate(
        """async (source) => {
            const url = URL.createObjectURL(new Blob([source], {type: "text/javascript"}));
            window.family = (await import(url)).default;
        }""",
        assets.module_source(),
    )
    yield page
    page.close()


def read(module, entries, units=UNITS):
    return module.evaluate(
        """([entries, units]) => entries.map((entry) => {
            const got = family.tests.parseNumber(entry, units);
            return got.ask ? {ask: got.ask} : {value: family.tests.decimal(got.value)};
        })""",
        [entries, units],
    )


def test_what_cannot_be_read_in_one_way_is_asked_back(module):
    for entry, got in zip(ASKED_BACK, read(module, ASKED_BACK), strict=True):
        assert "ask" in got and got["ask"].endswith("."), (entry, got)


def test_an_ambiguous_number_is_asked_back_with_both_ways_to_write_it(module):
    got = read(module, ["1,024"])[0]["ask"]
    assert "Write 1024, or 1.0240." in got


def test_what_can_be_read_is_read_exactly(module):
    for (entry, value), got in zip(GRADED.items(), read(module, list(GRADED)), strict=True):
        assert got == {"value": value}, entry


def spellings(value: Decimal):
    """A value in the ways of several countries; those that are ambiguous are left out."""
    whole, _, fraction = f"{value}".partition(".")
    for group in ("", " ", "\u202f", "'", ",", "."):
        grouped = f"{int(whole):,}".replace(",", group)
        if not fraction:
            if group not in (",", ".") or grouped.count(group) > 1:
                yield grouped
            continue
        for point in {".", ","} - {group}:
            ambiguous = group in ("", ".", ",") and len(fraction) == 3 and len(whole) <= 3 and whole[0] != "0"
            if not ambiguous and not (group in (".", ",") and len(whole) <= 3):
                yield f"{grouped}{point}{fraction}"


def test_generated_values_in_the_ways_of_several_countries(module):
    values = [Decimal(n) for n in (0, 7, 42, 700, 1270, 5888, 23017, 131072, 4167129, 4294967296)]
    values += [Decimal(text) for text in ("0.358", "2.38", "229.57", "1024.5", "12345.678", "0.001", "747934.25")]
    entries = [(spelling, value) for value in values for spelling in spellings(value)]
    assert len(entries) > 80
    got = read(module, [spelling for spelling, _ in entries])
    for (spelling, value), one in zip(entries, got, strict=True):
        assert "value" in one and Decimal(one["value"]) == value, (spelling, one)


def test_a_number_without_unit_takes_no_word(module):
    assert "ask" in read(module, ["5 apples"], [])[0]
    assert read(module, ["5"], [])[0] == {"value": "5"}


def test_wrong_answers_in_the_module_are_those_of_python(module):
    """Each wrong path of each exercise, graded by the module, brings its own slip and feedback."""
    from contextlab.widgets import library

    seen = 0
    for task in library.declared().values():
        data = task.data()
        for one in data.get("variants", [data]):
            if task.kind not in ("number", "predict") or "options" in data:
                continue
            variant = {**data, **one}
            given = [typed(one) for one in (variant["right"], *(path["value"] for path in variant["wrong"]))]
            got = module.evaluate(
                "([given, task]) => given.map((one) => family.tests.gradeNumber(one, task))", [given, variant]
            )
            assert (got[0]["right"], got[0]["html"]) == (True, variant["praise"])
            for path, verdict in zip(variant["wrong"], got[1:], strict=True):
                assert verdict == {"right": False, "html": path["says"], "slip": path["slip"]}
                seen += 1
    assert seen > 80


def test_an_unknown_answer_hears_direction_and_size_but_not_the_value(module):
    task = {"right": "5888", "wrong": [], "unit": "tokens", "units": UNITS, "praise": ""}
    got = module.evaluate(
        "([given, task]) => given.map((one) => family.tests.gradeNumber(one, task).html)",
        [["5900", "6700", "9000", "20000", "100000", "5000", "1", "-5", "0", "4e9"], task],
    )
    assert "too high, by less than a tenth" in got[0]
    assert "too high, by between a tenth and a half" in got[1]
    assert "too high, by half or more" in got[2]
    assert "a factor between two and ten" in got[3]
    assert "a factor of ten or more" in got[4]
    assert "too low, by between" in got[5]
    assert "too low, by a factor of ten" in got[6]
    assert "is below zero" in got[7]
    assert "too low" in got[8]
    assert "too high" in got[9]
    assert not any("5,888" in one or "5888" in one for one in got)


@pytest.mark.parametrize(
    "unit, typed_in, said",
    [
        ("requests", "1", "1 request is"),
        ("requests", "2", "2 requests is"),
        ("requests", "1.0", "1 request is"),
        ("requests", "11", "11 requests is"),
        ("GB", "1", "1 GB is"),
        ("%", "1", "1 % is"),
        ("", "1", "1 is"),
    ],
)
def test_one_has_a_unit_in_the_singular(module, unit, typed_in, said):
    task = {"right": "5888", "wrong": [], "unit": unit, "units": [], "praise": ""}
    got = module.evaluate("([given, task]) => family.tests.gradeNumber(given, task).html", [typed_in, task])
    assert got.startswith(f"{said} too low, by ")


def test_formulas_and_tables_agree_with_python(module):
    from contextlab.widgets import drop_explorer, request_explorer, window_bar

    for one in (window_bar().data, request_explorer().data):
        assert len(one["checks"]) >= 20
        assert module.evaluate("(data) => family.tests.disagreement(data)", json.loads(json.dumps(one))) is None
    drop = drop_explorer().data
    assert len(drop["checks"]) >= 20
    assert module.evaluate("(data) => family.tests.dropDisagreement(data)", json.loads(json.dumps(drop))) is None


def test_a_formula_that_differs_from_python_is_noticed(module):
    from contextlab.widgets import window_bar

    bar = json.loads(json.dumps(window_bar().data))
    bar["formulas"] = [[name, ["+", tree, "1"]] for name, tree in bar["formulas"]]
    assert module.evaluate("(data) => family.tests.disagreement(data)", bar)["name"] in ("room", "over")
