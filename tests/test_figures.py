"""Figures: what they draw is what they were given, and the page can show them anywhere."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from itertools import accumulate, combinations, pairwise

import pytest

pytest.importorskip("matplotlib")

from contextlab import figures
from contextlab.chat import Message
from contextlab.compare import data_file
from contextlab.cost import usage
from contextlab.errors import InputError, MissingDependency
from contextlab.eviction import LeastUsed
from contextlab.figures.svg import LETTER_INKS
from contextlab.forecast import Sizes
from contextlab.keep import KeepNewest, LowWater
from contextlab.kv import GIB, MIB
from contextlab.pins import PinnedNote
from contextlab.render import PlainRule
from contextlab.replay import CountedChat, replay
from contextlab.script import NAME, scripted_chat
from contextlab.tokens import WordPieces

CHAT = CountedChat(scripted_chat(), PlainRule(WordPieces()))
KEEP_NEWEST = [replay(CHAT, KeepNewest(), input_budget=budget, fact=NAME) for budget in (4000, 8000, 32000)]
PINNED = [replay(CHAT, PinnedNote(), input_budget=budget, fact=NAME) for budget in (4000, 8000, 32000)]
WORDS = [("user", 9), ("assistant", 12), ("user", 7), ("assistant", 14), ("user", 6), ("assistant", 11), ("user", 8)]
SIX_TURNS = [("instructions", 20), ("user", 300), ("assistant", 250), ("user", 180), ("assistant", 400), ("user", 120)]
OTHER = replay(scripted_chat(seed=2), KeepNewest(), input_budget=4000, rule=PlainRule(WordPieces()))
HALF = replay(CHAT, LowWater(0.5), input_budget=4000)
SIZES = Sizes(first_turn=84, mean_user=52.6, mean_turn=229.6)
ERRORS = [
    (seed, budget, 40, 40 + seed % 3 - 2, 40 + seed % 2 - 1, 40) for seed in range(30) for budget in (4000, 8000, 16000)
]
COUNT_ERRORS = [("prose", (8.6, 0.6)), ("phone numbers", (-57.6, -15.9)), ("Japanese", (-69.4, -98.6))]
FACTORS = [("English", (1, 1)), ("Greek", (2.15, 5.21)), ("Chinese", (1.12, 1.58))]
REUSED = {
    "keep-newest": usage(KEEP_NEWEST[0]),
    "low-water mark": usage(replay(CHAT, LowWater(), input_budget=4000)),
}
TOTALS = {f"{trace.input_budget:,}": list(accumulate(row.input_units for row in trace.rows)) for trace in KEEP_NEWEST}
DRIFT = {"three kinds": [1, 0.31, 0.21, 0.16, 0.13], "one rate": [1, 0.3, 0.09, 0.03, 0.01]}
CHAIN = [
    ("first", ["the", "cat", "sat", "on", "the", "mat"], ["91c0"], 0),
    ("the same and more", ["the", "cat", "sat", "on", "the", "mat", "and", "ate"], ["91c0", "6b24"], 1),
]
PANELS = [
    ("20 documents", "one model", [1, 5, 10, 15, 20], [0.69, 0.57, 0.55, 0.53, 0.55]),
    ("20 documents", "another model", [1, 5, 10, 15, 20], [0.54, 0.52, 0.52, 0.53, 0.56]),
    ("140 pairs", "one model", [1, 35, 70, 105, 140], [0.37, 0.38, 0.35, 0.66, 0.89]),
    ("140 pairs", "another model", [1, 35, 70, 105, 140], [1.0, 0.94, 0.89, 0.8, 0.96]),
]
FIVE = ["Ada", "bakes", "bread", ".", "She"]
WEIGHTS = [[1.0], [0.8, 0.2], [0.14, 0.28, 0.58], [0.31, 0.31, 0.31, 0.07], [0.62, 0.15, 0.04, 0.04, 0.15]]
CACHES = [("32 KV heads", 524288), ("8 KV heads", 131072), ("1 KV head", 16384)]
WINDOWED = [("no window", 4 * GIB, 4 * GIB), ("a window", 2.5 * GIB, 15 * GIB)]
SESSIONS = [("conversations of 4,000 tokens", 500 * MIB, 112), ("conversations of 32,768 tokens", 4 * GIB, 13)]
CARD = [("weights", 15 * GIB), ("other", 2 * GIB)]

PARTS = [(1500, 0, 100), (1500, 600, 2400), (1500, 1200, 4600)]
EVERYTHING = [1600, 20_000, 40_000]
BANDS = {
    "login": ["full", "full", "last points", "one line", "left out", "left out"],
    "schedule": [None, None, *["full"] * 4],
}

TRADES = [
    ("pins", 4000, 50_000, 0.5, 0.4, 0.6),
    ("pins", 8000, 100_000, 0.4, 0.3, 0.5),
    ("everything", 32_000, 200_000, 1, 0.95, 1),
]
DRAWN = {
    "kept": lambda: figures.kept_figure({"keep-newest": KEEP_NEWEST[0], "low-water mark": HALF}, 19),
    "strip": lambda: figures.strip([("user", 35, "left"), ("assistant", 49)], "Two messages.", frame=(35, 100)),
    "two_strips": lambda: figures.two_strips(KEEP_NEWEST[0], 19, fact=NAME, mark="your name"),
    "two_strips_note": lambda: figures.two_strips(PINNED[0], 40, fact=NAME),
    "words": lambda: figures.strips(WORDS, range(2, 7), window=60, instructions=6, marked=[0], request=4, unit="words"),
    "walk": lambda: figures.walk_figure(SIX_TURNS, 700),
    "input_units": lambda: figures.input_units_figure(KEEP_NEWEST),
    "oldest_turn": lambda: figures.oldest_turn_figure(KEEP_NEWEST),
    "visible": lambda: figures.visible_figure({"keep-newest": KEEP_NEWEST, "pinned note": PINNED}, fact=NAME),
    "step": lambda: figures.step_figure(KEEP_NEWEST[0], 19),
    "forecast_error": lambda: figures.forecast_error_figure(ERRORS),
    "two_causes": lambda: figures.two_causes_figure(SIZES),
    "count_error": lambda: figures.count_error_figure(COUNT_ERRORS),
    "language": lambda: figures.language_figure(FACTORS),
    "resent": lambda: figures.resent_figure(),
    "running_total": lambda: figures.running_total_figure(TOTALS, marks=[(141, TOTALS["32,000"][140], "turn 141")]),
    "reuse": lambda: figures.reuse_figure(REUSED),
    "drift": lambda: figures.drift_figure(DRIFT),
    "flat": lambda: figures.flat_figure(PARTS, EVERYTHING),
    "tiers": lambda: figures.tiers_figure(BANDS),
    "chain": lambda: figures.chain_figure(CHAIN),
    "trades": lambda: figures.trades_figure(TRADES, [TRADES[0], TRADES[2]]),
    "attention": lambda: figures.attention_figure(FIVE, WEIGHTS),
    "growth": lambda: figures.growth_figure(
        range(1, 49), range(768, 36865, 768), [6 * n * (n + 1) for n in range(1, 49)]
    ),
    "bytes": lambda: figures.bytes_figure(CACHES),
    "bytes_windowed": lambda: figures.bytes_figure(WINDOWED, outline="if every layer were full"),
    "card": lambda: figures.card_figure(80 * GIB, CARD, SESSIONS),
    "position_effect": lambda: figures.position_effect_figure(PANELS, levels={"one model": (0.35, 0.83)}),
}


@pytest.fixture(scope="module")
def drawn():
    return {name: draw() for name, draw in DRAWN.items()}


def both(figure) -> list[ET.Element]:
    return [ET.fromstring(text) for text in (figure.wide, figure.narrow)]


def shapes(svg: ET.Element, css_class: str) -> list[ET.Element]:
    return [element for element in svg.iter() if element.get("class") == css_class]


def blocks(svg: ET.Element) -> list[dict]:
    keys = ("x", "y", "width", "height", "data-units")
    return [
        {**{key.removeprefix("data-"): float(block.get(key)) for key in keys}, "state": block.get("data-state", "kept")}
        for block in shapes(svg, "cl-block")
    ]


def texts(svg: ET.Element) -> list[str]:
    return [element.text for element in svg.iter("text")]


@pytest.mark.parametrize("name", DRAWN)
def test_a_figure_is_an_image_with_a_text_for_those_who_do_not_see_it(drawn, name):
    figure = drawn[name]
    assert len(figure.alt) > 15 or name == "strip"
    for svg in both(figure):
        assert svg.get("role") == "img"
        assert svg.get("aria-label") == figure.alt
    assert len(figure.caption.split()) <= 12
    html = figure._repr_html_()
    assert html.startswith('<figure class="cl-figure"><svg ') and html.endswith("</figure>")
    assert repr(figure) == f"Figure: {figure.alt}"


@pytest.mark.parametrize("name", DRAWN)
def test_a_figure_takes_ink_ground_and_type_from_the_page(drawn, name):
    html = drawn[name]._repr_html_()
    for unwanted in (
        "#000000",
        "#ffffff",
        "font-family",
        "<?xml",
        "DOCTYPE",
        "metadata",
        "xmlns",
        "xlink",
        "matplotlib",
    ):
        assert unwanted not in html
    assert "currentColor" in html
    for role, colour in figures.ROLE_COLOURS.items():
        for use in re.finditer(re.escape(colour), html, re.IGNORECASE):
            assert html[: use.start()].endswith(f"var(--cl-{role}, ")


@pytest.mark.parametrize("name", DRAWN)
def test_numbers_have_two_decimals(drawn, name):
    for text in (drawn[name].wide, drawn[name].narrow):
        assert not re.findall(r"\d\.\d{3,}", re.sub(r' data-[a-z]+="[^"]*"', "", text))


def test_no_id_is_used_by_two_figures():
    def draw(fig, width, height):
        ax = fig.add_axes([0.1, 0.1, 0.8, 0.8])
        ax.bar([1, 2], [3, 4], hatch="//", color="none", edgecolor="#0072B2")

    drawings = [figures.figure(draw, f"Bars, number {n}.") for n in (1, 2)]
    ids = [re.findall(r' id="([^"]+)"', text) for figure in drawings for text in (figure.wide, figure.narrow)]
    assert all(ids), "the hatching is a pattern with an id"
    flat = [one for some in ids for one in some]
    assert len(flat) == len(set(flat))
    for text, own in zip((drawings[0].wide, drawings[0].narrow), ids, strict=False):
        used = set(re.findall(r"url\(#([^)]+)\)", text)) | set(re.findall(r'href="#([^"]+)"', text))
        assert used == set(own), "every id is used, and every use has its id"


def test_the_same_bytes_in_every_process(drawn):
    code = (
        "import hashlib, test_figures as t; "
        "print(*(hashlib.sha256(draw()._repr_html_().encode()).hexdigest() for draw in t.DRAWN.values()))"
    )
    here = os.path.dirname(__file__)
    expected = [hashlib.sha256(figure._repr_html_().encode()).hexdigest() for figure in drawn.values()]
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "SOURCE_DATE_EPOCH": seed, "PYTHONPATH": here}
        run = subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True, cwd=here
        )
        assert run.stdout.split() == expected


def test_matplotlib_is_loaded_by_the_first_figure_and_pyplot_never():
    code = (
        "import sys, contextlab.figures as f; assert 'matplotlib' not in sys.modules; "
        "f.strip([('user', 1)], 'One message.'); "
        "assert 'matplotlib' in sys.modules and 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_settings_of_the_reader_change_nothing_and_are_not_changed(drawn):
    import matplotlib

    with matplotlib.rc_context({"font.size": 30, "lines.linewidth": 9, "svg.fonttype": "path"}):
        before = dict(matplotlib.rcParams)
        assert DRAWN["input_units"]() == drawn["input_units"]
        assert dict(matplotlib.rcParams) == before


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingDependency, match="pip install"):
        figures.strip([("user", 1)], "One message.")


def test_a_figure_made_elsewhere_becomes_inline_svg():
    with figures.style():
        fig = figures.new(300, 200)
        fig.add_axes([0.1, 0.1, 0.8, 0.8]).plot([0, 1], [0, 1], color=figures.INK)
    figure = figures.svg(fig, "A line that rises.", "One & <two>")
    assert "<figcaption>One &amp; &lt;two&gt;</figcaption>" in figure._repr_html_()
    assert ET.fromstring(figure.wide).get("viewBox") == "0 0 300 200"
    assert figure.narrow is None


def test_a_file_of_its_own_is_valid_xml(drawn):
    root = ET.fromstring(drawn["two_strips"].standalone())
    assert root.tag == "{http://www.w3.org/2000/svg}svg"


def test_two_strips_hold_the_messages_of_screen_and_request(drawn):
    prefix = CHAT.history.prefix
    units = [b - a for a, b in pairwise(prefix)][:37]
    for svg in both(drawn["two_strips"]):
        drawn_blocks = blocks(svg)
        screen, request = drawn_blocks[:37], drawn_blocks[37:]
        assert [block["units"] for block in screen] == units
        left = [block for block in request if block["state"] == "left"]
        kept = [block for block in request if block["state"] == "kept"]
        assert [block["units"] for block in left] == units[:2]
        assert [block["units"] for block in kept] == [20, *units[2:]], "the instructions, then 35 messages"
        scale = sum(block["width"] for block in screen) / sum(units)
        for block in drawn_blocks:
            assert block["width"] == pytest.approx(block["units"] * scale, abs=0.02)
        # A kept message stands under itself.
        assert [block["x"] for block in kept[1:]] == pytest.approx([block["x"] for block in screen[2:]], abs=0.02)
        frame = shapes(svg, "cl-frame")[0]
        assert float(frame.get("width")) == pytest.approx(4000 * scale, abs=0.02)
        assert float(frame.get("x")) == pytest.approx(kept[0]["x"], abs=0.02)
        assert all(block["x"] + block["width"] < float(frame.get("x")) for block in left)
        assert kept[-1]["x"] + kept[-1]["width"] < float(frame.get("x")) + float(frame.get("width"))
        assert {"your name", "your name: not sent", "On your screen", "In request 19"} <= set(texts(svg))


def test_two_strips_before_the_drop_turn_have_the_name_twice_and_nothing_hatched():
    figure = figures.two_strips(KEEP_NEWEST[0], 18, fact=NAME)
    svg = both(figure)[0]
    assert texts(svg).count("name") == 2
    assert "name: not sent" not in texts(svg) and "not sent" not in texts(svg)
    assert "None has left." in figure.alt and "and in request 18" in figure.alt


def test_two_strips_say_that_a_note_carries_the_name(drawn):
    svg = both(drawn["two_strips_note"])[0]
    assert "name: in the note" in texts(svg)
    assert "and in request 40" in drawn["two_strips_note"].alt
    note = [block for block in shapes(svg, "cl-block") if block.get("data-role") == "note"]
    assert [block.get("data-units") for block in note] == ["12"]


def test_reply_room_is_the_end_of_the_frame():
    trace = replay(CHAT, KeepNewest(), input_budget=4000, reply_reserve=1000, fact=NAME)
    svg = both(figures.two_strips(trace, 15, reply_room=1000, window_name="window"))[0]
    reply = next(block for block in blocks(svg) if block["state"] == "room")
    frame = shapes(svg, "cl-frame")[0]
    end = float(frame.get("x")) + float(frame.get("width"))
    assert reply["x"] + reply["width"] == pytest.approx(end, abs=0.02)
    assert reply["units"] == 1000


def test_messages_that_a_policy_skips_are_hatched_inside_the_frame():
    svg = both(figures.strips(WORDS, [0, 5, 6], window=40))[0]
    states = [block["state"] for block in blocks(svg)[7:]]
    assert states == ["kept", "left", "left", "left", "left", "kept", "kept"]


def test_the_walk_adds_newest_first_and_stops(drawn):
    figure = drawn["walk"]
    assert figure.alt == (
        "Window 700. Step 1: 120. Step 2: 120 + 400 = 520. Step 3: 520 + 180 = 700. Step 4: 700 + 250 = 950: stop."
    )
    for svg in both(figure):
        rows = {}
        for block in blocks(svg):
            rows.setdefault(block["y"], []).append(block["units"])
        whole, *steps = rows.values()
        assert whole == [20, 300, 250, 180, 400, 120]
        assert [sum(step) for step in steps] == [120, 520, 700, 950]
        frame = float(shapes(svg, "cl-frame")[0].get("width"))
        step = [block for block in blocks(svg) if block["y"] == list(rows)[3]]
        assert sum(block["width"] for block in step) == pytest.approx(frame, abs=0.05), "700 fill the window"


def test_a_walk_that_keeps_everything_does_not_stop():
    assert figures.walk_figure(SIX_TURNS, 1270).alt.endswith("1,250 + 20 = 1,270.")


@pytest.mark.parametrize(
    ("name", "value"),
    [("input_units", lambda row: row.input_units), ("oldest_turn", lambda row: row.oldest_turn_kept)],
)
def test_lines_go_through_the_rows_of_the_trace(drawn, name, value):
    for svg in both(drawn[name]):
        lines = {int(line.get("data-budget")): line.get("d") for line in shapes(svg, "cl-line")}
        assert set(lines) == {4000, 8000, 32000}
        points, values = [], []
        for trace in KEEP_NEWEST:
            numbers = [float(n) for n in re.findall(r"-?[\d.]+", lines[trace.input_budget])]
            assert len(numbers) == 400
            points += numbers[1::2]
            values += [value(row) for row in trace.rows]
        low, high = values.index(min(values)), values.index(max(values))
        slope = (points[high] - points[low]) / (values[high] - values[low])
        for point, number in zip(points, values, strict=True):
            assert point == pytest.approx(points[low] + slope * (number - values[low]), abs=0.02)


def test_lines_say_their_drop_turns(drawn):
    wide = both(drawn["input_units"])[0]
    assert {"4,000: drop turn 19", "8,000: drop turn 36", "32,000: drop turn 141"} <= set(texts(wide))
    oldest = both(drawn["oldest_turn"])[0]
    assert {" 4,000: turn 183", " 8,000: turn 165", " 32,000: turn 60"} <= set(texts(oldest))


def test_bands_are_as_long_as_the_name_is_visible(drawn):
    for svg in both(drawn["visible"]):
        bands = [
            (int(band.get("data-visible")), int(band.get("data-turns")), float(band.get("width")))
            for band in shapes(svg, "cl-band")
        ]
        expected = [n for drop in (18, 35, 140) for n in (drop, 200 - drop, drop, 200 - drop)]
        assert [turns for _, turns, _ in bands] == expected
        assert [visible for visible, _, _ in bands] == [1, 0, 1, 1] * 3, "a note goes on where the message ends"
        scale = sum(width for _, _, width in bands[:2]) / 200
        for _, turns, width in bands:
            assert width == pytest.approx(turns * scale, abs=0.02)
        assert "18 of 200" in texts(svg)


@pytest.mark.parametrize(
    ("trace", "turn", "leaving"), [(0, 19, 2), (1, 36, 4)], ids=["two leave at once", "four leave at once"]
)
def test_the_step_shows_what_leaves_at_once(trace, turn, leaving):
    figure = figures.step_figure(KEEP_NEWEST[trace], turn)
    assert f"over: {leaving} messages have left" in figure.alt
    assert figure.caption == f"A message leaves whole: request {turn} loses {leaving}."
    for svg in both(figure):
        second_row = sorted({block["y"] for block in blocks(svg)})[1]
        states = [block["state"] for block in blocks(svg) if block["y"] == second_row]
        assert states.count("left") == leaving


def test_each_policy_has_the_whole_conversation_and_hatches_what_it_leaves_out(drawn):
    for svg in both(drawn["kept"]):
        for row, trace in zip((blocks(svg)[:37], blocks(svg)[37:]), (KEEP_NEWEST[0], HALF), strict=True):
            assert [block["units"] for block in row] == [b - a for a, b in pairwise(CHAT.history.prefix)][:37]
            sent = [i for i, block in enumerate(row) if block["state"] == "kept"]
            assert sent == list(trace.kept[18].indices)
        assert {"keep-newest", "low-water mark", "35 of 37 messages sent"} <= set(texts(svg))
    assert "keep-newest sends messages 3 to 37." in drawn["kept"].alt


def test_what_is_kept_with_gaps_is_told_in_runs():
    said = ["We need twenty rows.", "x " * 9, "You said “We need twenty rows”.", "y " * 9, "z " * 9]
    chat = [Message("user", text) for text in said]
    trace = replay(chat, LeastUsed("lfu"), input_budget=60, rule=PlainRule(len))
    assert trace.kept_indices(5) == (0, 4), "the quoted message and the newest one"
    assert figures.kept_figure({"lfu": trace}, 5).alt.endswith(" lfu sends messages 1, 5.")


def test_bars_are_the_shares_of_the_errors(drawn):
    for svg in both(drawn["forecast_error"]):
        bars = [
            (int(bar.get("data-error")), float(bar.get("data-share")), float(bar.get("height")))
            for bar in shapes(svg, "cl-bar")
        ]
        third = (1 / 3, 1 / 3, 1 / 3)
        expected = [*zip((-2, -1, 0), third, strict=True)] * 3 + [(-1, 0.5), (0, 0.5)] * 3 + [(0, 1)] * 3
        assert [bar[:2] for bar in bars] == [(v, pytest.approx(share, abs=1e-4)) for v, share in expected]
        assert [height / bars[-1][2] for *_, height in bars] == pytest.approx([s for _, s in expected], abs=0.001)
    assert "over 30 seeds" in drawn["forecast_error"].caption


def test_causes_and_rounding_add_up(drawn):
    for svg in both(drawn["two_causes"]):
        short, reply, rounding, early = (float(bar.get("data-turns")) for bar in shapes(svg, "cl-cause"))
        assert (round(short, 2), round(reply, 2)) == (0.63, 0.77)
        assert short + reply + rounding == pytest.approx(early, abs=0.001)
        assert early == 1
        widths = [float(bar.get("width")) for bar in shapes(svg, "cl-cause")]
        assert widths == pytest.approx([abs(n) * widths[3] for n in (short, reply, rounding, early)], abs=0.03)


@pytest.mark.parametrize(("name", "rows"), [("count_error", COUNT_ERRORS), ("language", FACTORS)])
def test_dots_stand_at_their_values(drawn, name, rows):
    for svg in both(drawn[name]):
        values = {
            (int(dot.get("data-row")), int(dot.get("data-of"))): float(dot.get("data-value"))
            for dot in shapes(svg, "cl-dot")
        }
        assert values == {(i, k): value for i, (_, pair) in enumerate(rows) for k, value in enumerate(pair)}
        assert {name for name, _ in rows} <= set(texts(svg))


def test_the_staircase_has_every_turn_of_every_request(drawn):
    assert drawn["resent"].alt.endswith("In all 55 blocks, 11,000 tokens.")
    for svg in both(drawn["resent"]):
        turns = [(int(one.get("data-request")), int(one.get("data-turn"))) for one in shapes(svg, "cl-turn")]
        assert turns == [(row, turn) for row in range(1, 11) for turn in range(1, row + 1)]
        assert len({one.get("width") for one in shapes(svg, "cl-turn")}) == 1
        assert {"200", "2,000", "11,000"} <= set(texts(svg))


def test_running_totals_end_at_their_sums(drawn):
    for svg in both(drawn["running_total"]):
        assert {" 747,934", " 1,441,049", " 4,167,129"} <= set(texts(svg))
        ends = {}
        for line in shapes(svg, "cl-line"):
            numbers = [float(n) for n in re.findall(r"-?[\d.]+", line.get("d"))]
            assert len(numbers) == 400
            ends[line.get("data-name")] = numbers[1] - numbers[-1]  # pixels that the line rises
        assert ends["4,000"] / ends["32,000"] == pytest.approx(747_934 / 4_167_129, rel=0.01)


def test_drift_lines_are_the_shares_and_are_told_apart_without_colour(drawn):
    assert drawn["drift"].alt.endswith("one rate: 100 % at first, 30 % after one, 1 % after 4.")
    for svg in both(drawn["drift"]):
        heights = {}
        for line in shapes(svg, "cl-line"):
            ys = [float(n) for n in re.findall(r"-?[\d.]+", line.get("d"))][1::2]
            heights[line.get("data-name")] = [(ys[0] - y) for y in ys]
        for name, shares in DRIFT.items():
            drops = heights[name.replace(" ", "-")]
            full = -drops[-1] / (1 - shares[-1])
            assert [-drop / full for drop in drops] == pytest.approx([1 - share for share in shares], abs=0.01)
        assert {"three kinds: 13 %", "one rate: 1 %"} <= set(texts(svg))
        dashes = [line.get("stroke-dasharray") or line.get("style") for line in shapes(svg, "cl-line")]
        assert len(set(dashes)) == 2


def test_the_parts_of_a_request_are_stacked_to_its_size(drawn):
    assert "Instructions 1,500; notes 0 to 1,200; messages 100 to 4,600; together 1,600 to 7,300" in drawn["flat"].alt
    for svg in both(drawn["flat"]):
        areas = {shape.get("data-part"): area(shape) for shape in shapes(svg, "cl-area")}
        sums = dict(zip(("instructions", "notes", "messages"), map(sum, zip(*PARTS, strict=True)), strict=True))
        for name, units in sums.items():
            assert areas[name] / areas["instructions"] == pytest.approx(units / sums["instructions"], rel=0.01)
        assert "everything: 40,000 at the end" in texts(svg)
        (line,) = shapes(svg, "cl-line")  # it ends where the axis does, at three times the largest request
        assert line.get("d").count("L") == sum(units <= 3 * 7300 for units in EVERYTHING) - 1


def test_a_tier_is_told_by_the_height_of_its_band(drawn):
    assert "login: 2 in full, 1 by its last points, 1 in one line, 2 left out" in drawn["tiers"].alt
    for svg in both(drawn["tiers"]):
        bands = [band for band in shapes(svg, "cl-band") if band.get("data-tier") != "none"]
        tiers = [(band.get("data-tier"), int(band.get("data-requests"))) for band in bands]
        assert tiers == [("full", 2), ("last-points", 1), ("one-line", 1), ("left-out", 2), ("full", 4)]
        heights = {tier: float(band.get("height")) for (tier, _), band in zip(tiers, bands, strict=True)}
        assert heights["full"] > heights["last-points"] > heights["one-line"] > 0
        widths = [float(band.get("width")) / length for (_, length), band in zip(tiers, bands, strict=True)]
        assert widths == pytest.approx([widths[0]] * len(widths), abs=0.02)


def test_trades_stand_where_cost_and_rate_put_them(drawn):
    assert drawn["trades"].alt.endswith("pins at 4,000: 50,000 and 50 %; everything at 32,000: 200,000 and 100 %.")
    for svg in both(drawn["trades"]):
        points = {}
        for group in svg.iter():
            if group.get("class") == "cl-trade":
                if group.get("x") and group.get("width"):
                    x = float(group.get("x")) + float(group.get("width")) / 2
                    y = float(group.get("y")) + float(group.get("height")) / 2
                else:
                    use = next(one for one in group.iter() if one.get("x"))
                    x, y = float(use.get("x")), float(use.get("y"))
                points[int(group.get("data-budget"))] = (x, y, group.get("data-line"))
        assert [points[budget][2] for budget in (4000, 8000, 32_000)] == ["1", "0", "1"]
        first, second, third = (points[budget][:2] for budget in (4000, 8000, 32_000))
        # Twice the cost is the same step to the right each time; heights are the rates.
        assert second[0] - first[0] == pytest.approx(third[0] - second[0], abs=0.05)
        assert (first[1] - third[1]) / (second[1] - first[1]) == pytest.approx(5, abs=0.05)
        (line,) = shapes(svg, "cl-line")
        numbers = [float(n) for n in re.findall(r"-?[\d.]+", line.get("d"))]
        assert numbers == pytest.approx([*first, *third], abs=0.05)
        assert {"pins (4k on the line)", "everything (32k on the line)", "16,000 and 32,000"} & set(texts(svg))


def area(shape) -> float:
    """The area of a path of straight lines, by the shoelace formula."""
    numbers = [float(n) for n in re.findall(r"-?[\d.]+", shape.get("d"))]
    points = list(zip(numbers[::2], numbers[1::2], strict=True))
    return abs(sum(a * d - b * c for (a, b), (c, d) in pairwise([*points, points[0]]))) / 2


def test_areas_are_what_was_cached_and_computed(drawn):
    assert "keep-newest: 708,383 of 747,934 computed" in drawn["reuse"].alt
    for svg in both(drawn["reuse"]):
        found = {(int(s.get("data-row")), s.get("data-part")): area(s) for s in shapes(svg, "cl-area")}
        scale = found[0, "computed"] / 708_383
        for row, used in enumerate(REUSED.values()):
            assert found[row, "computed"] == pytest.approx(scale * sum(one.computed for one in used), rel=0.01)
            assert found[row, "cached"] == pytest.approx(scale * sum(one.cached for one in used), rel=0.01)


def test_blocks_of_a_chain_are_found_from_the_left(drawn):
    for svg in both(drawn["chain"]):
        rows = {}
        for one in shapes(svg, "cl-block"):
            rows.setdefault(int(one.get("data-row")), []).append(int(one.get("data-found")))
        assert rows == {0: [0, 0], 1: [1, 0]}
        assert texts(svg).count("91c0") == 2 and "6b24" in texts(svg)


def test_measured_shares_stand_at_their_height(drawn):
    for svg in both(drawn["position_effect"]):
        lines = [[float(n) for n in re.findall(r"-?[\d.]+", s.get("d"))][1::2] for s in shapes(svg, "cl-line")]
        assert len(lines) == 4
        scale = (lines[3][3] - lines[3][0]) / (1.0 - 0.8)
        for ys, (*_, shares) in zip(lines, PANELS, strict=True):
            assert [ys[0] - y for y in ys] == pytest.approx([scale * (s - shares[0]) for s in shares], abs=0.05)
    assert "0.35 without documents" in drawn["position_effect"].alt


def test_the_published_position_effect_is_the_published_one():
    """Liu et al. 2023, EXPERIMENTS.md of the authors' repository: the file of the book, value by value."""
    measured = json.loads(data_file("lost_in_the_middle.json").read_text(encoding="utf-8"))
    documents, pairs = measured["multi_document_qa_20_documents"], measured["key_value_retrieval_140_pairs"]
    assert (documents["gold_index"], pairs["key_index"]) == ([0, 4, 9, 14, 19], [0, 34, 69, 104, 139])
    assert documents["mpt-30b-instruct"] == {
        "by_index": [0.5367, 0.5175, 0.5217, 0.5266, 0.5623],
        "closed_book": 0.3168,
        "oracle": 0.8166,
    }
    assert documents["longchat-13b-16k"] == {
        "by_index": [0.6859, 0.5740, 0.5533, 0.5250, 0.5503],
        "closed_book": 0.3499,
        "oracle": 0.8264,
    }
    assert pairs["mpt-30b-instruct"] == [1.0, 0.936, 0.886, 0.804, 0.962]
    assert pairs["longchat-13b-16k"] == [0.37, 0.382, 0.354, 0.656, 0.886]


def test_a_weight_stands_in_the_row_that_asks_and_the_column_that_is_seen(drawn):
    for svg in both(drawn["attention"]):
        cells = {(int(cell.get("data-row")), int(cell.get("data-column"))): cell for cell in shapes(svg, "cl-weight")}
        assert set(cells) == {(i, j) for i in range(5) for j in range(i + 1)}, "no token sees a later one"
        for (i, j), cell in cells.items():
            assert float(cell.get("data-weight")) == WEIGHTS[i][j]
            assert cell.get("x") == cells[4, j].get("x") and cell.get("y") == cells[i, 0].get("y")
        frame = shapes(svg, "cl-frame")[0]
        assert frame.get("y") == cells[4, 0].get("y"), "the frame is around the newest row"
        assert float(frame.get("width")) == pytest.approx(5 * float(cells[4, 0].get("width")), abs=0.03)


def test_memory_is_a_straight_line_and_scores_are_not(drawn):
    for svg in both(drawn["growth"]):
        memory, scores = (re.findall(r"-?[\d.]+", line.get("d")) for line in shapes(svg, "cl-line"))
        (x0, y0, *middle, x1, y1), bent = map(float, memory), list(map(float, scores))
        for x, y in zip(middle[::2], middle[1::2], strict=True):
            assert (y - y0) / (y1 - y0) == pytest.approx((x - x0) / (x1 - x0), abs=0.001)
        assert (bent[1] - bent[47]) / (bent[1] - bent[-1]) < 0.3, "at half the tokens about a quarter of the scores"
        assert {"18,432", "36,864", "3,600", "14,112"} <= set(texts(svg))


def test_bars_are_as_long_as_their_bytes(drawn):
    for svg in both(drawn["bytes"]):
        bars = [(float(bar.get("data-bytes")), float(bar.get("width"))) for bar in shapes(svg, "cl-bar")]
        assert [size for size, _ in bars] == [size for _, size in CACHES]
        scale = bars[0][1] / bars[0][0]
        assert all(width == pytest.approx(size * scale, abs=0.03) for size, width in bars)
        assert {"512 KiB", "128 KiB", "16 KiB"} <= set(texts(svg))
    for svg in both(drawn["bytes_windowed"]):
        assert {"4 GiB", "2.5 GiB of 15 GiB", "if every layer were full"} <= set(texts(svg))


def test_a_card_is_filled_to_scale(drawn):
    for svg in both(drawn["card"]):
        frames = shapes(svg, "cl-frame")
        scale = float(frames[0].get("width")) / (80 * GIB)
        for css_class, number in (("cl-part", 4), ("cl-session", 125)):
            boxes = shapes(svg, css_class)
            assert len(boxes) == number
            for one in boxes:
                assert float(one.get("width")) == pytest.approx(float(one.get("data-bytes")) * scale, abs=0.02)
        last = shapes(svg, "cl-session")[-1]
        end = float(last.get("x")) + float(last.get("width"))
        assert end == pytest.approx(float(frames[1].get("x")) + (15 + 2 + 13 * 4) * GIB * scale, abs=0.05)
        assert "112 conversations of 4,000 tokens" in texts(svg)


@pytest.mark.parametrize("name", DRAWN)
def test_labels_stay_in_the_figure_and_do_not_collide(drawn, name):
    for svg in both(drawn[name]):
        width, height = (float(n) for n in svg.get("viewBox").split()[2:])
        boxes = []
        for element in svg.iter("text"):
            size = float(re.search(r"font-size:([\d.]+)px", element.get("style"))[1])
            assert size >= 10
            anchor = re.search(r"text-anchor:(\w+)", element.get("style"))
            long = 0.5 * size * len(element.text)  # about what a text needs in a common sans-serif type
            x = float(element.get("x")) - {"middle": long / 2, "end": long}.get(anchor and anchor[1], 0)
            y = float(element.get("y"))
            assert x >= -1 and x + long <= width + 1, element.text
            assert size * 0.7 <= y <= height, element.text
            boxes.append((x, x + long, y - 0.7 * size, y, element.text))
        for (a, b, top, bottom, one), (c, d, upper, lower, other) in combinations(boxes, 2):
            assert b <= c or d <= a or bottom <= upper or lower <= top, f"{one!r} collides with {other!r}"


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: figures.strip([("user", 1)], " "), "alternative text"),
        (lambda: figures.strip([("user", 1)], "One.", "word " * 13), "at most 12 words, not 13"),
        (lambda: figures.strip([], "Nothing."), "at least one block"),
        (lambda: figures.strip([("robot", 1)], "One."), "unknown role 'robot'"),
        (lambda: figures.strip([("user", 0)], "One."), "at least 1 unit"),
        (lambda: figures.strip([("user", -5)], "One."), "not -5"),
        (lambda: figures.strips(WORDS, [7], window=60), "from 0 to 6"),
        (lambda: figures.strips(WORDS, [6], window=60, marked=[-1]), "from 0 to 6"),
        (lambda: figures.strips(WORDS, [6], window=0), "at least 1 unit"),
        (lambda: figures.two_strips(KEEP_NEWEST[0], 0), "requests 1 to 200"),
        (lambda: figures.two_strips(KEEP_NEWEST[0], 201), "requests 1 to 200"),
        (lambda: figures.walk_figure(SIX_TURNS, 0), "at least 1 unit"),
        (lambda: figures.input_units_figure([]), "at least one"),
        (lambda: figures.oldest_turn_figure([]), "at least one"),
        (lambda: figures.visible_figure({}), "at least one"),
        (lambda: figures.visible_figure({"x": [replay(CHAT, KeepNewest(), input_budget=4000)]}), "looked for no fact"),
        (lambda: figures.step_figure(KEEP_NEWEST[0], 1), "choose from 2 to 199"),
        (lambda: figures.step_figure(PINNED[0], 19), "keep-newest"),
        (lambda: figures.kept_figure({}, 1), "at least one policy"),
        (lambda: figures.kept_figure({"keep-newest": KEEP_NEWEST[0]}, 201), "it has requests 1 to 200"),
        (lambda: figures.kept_figure({"a": KEEP_NEWEST[0], "b": OTHER}, 19), "different messages"),
        (lambda: figures.two_causes_figure(SIZES, -1), "at least 0"),
        (lambda: figures.forecast_error_figure([]), "no forecast to draw"),
        (lambda: figures.count_error_figure([]), "at least one row"),
        (lambda: figures.resent_figure(0), "1 to 24 turns"),
        (lambda: figures.resent_figure(25), "not 25 of 200"),
        (lambda: figures.running_total_figure({}), "at least one line"),
        (lambda: figures.running_total_figure({"a": [1], "b": [1, 2]}), "of one length"),
        (lambda: figures.reuse_figure({"a": []}), "at least one policy"),
        (lambda: figures.reuse_figure({}), "no request to draw"),
        (lambda: figures.drift_figure({}), "one to three lines"),
        (lambda: figures.trades_figure([], []), "give at least one"),
        (lambda: figures.trades_figure([("a", 4000, 0, 0.5, 0.4, 0.6)], []), "a cost above 0"),
        (lambda: figures.trades_figure([("a", 4000, 10, 0.5, 0.6, 0.7)], []), "within its interval"),
        (lambda: figures.trades_figure(TRADES, [("b", 4000, 10, 0.5, 0.4, 0.6)]), "through points of the chart"),
        (lambda: figures.drift_figure({"a": [1, 0.5], "b": [1]}), "of one length"),
        (lambda: figures.drift_figure({"a": [1, 1.5]}), "from 0 to 1"),
        (lambda: figures.flat_figure([(1, 1, 1)], [3]), "at least two requests"),
        (lambda: figures.flat_figure([(1, 1, 1)] * 2, [3]), "one number for each"),
        (lambda: figures.flat_figure([(1, -1, 1)] * 2, [3, 4]), "at least 0"),
        (lambda: figures.tiers_figure({}), "bands of one length"),
        (lambda: figures.tiers_figure({"a": ["full"], "b": []}), "bands of one length"),
        (lambda: figures.tiers_figure({"a": ["half"]}), "full, last points, one line, left out"),
        (lambda: figures.chain_figure([("a", ["the"] * 4, [], 0)]), "one link for each full block"),
        (lambda: figures.position_effect_figure([("task", "model", [1, 2], [0.5])]), "one share for each position"),
        (lambda: figures.attention_figure([], []), "a row for each token"),
        (lambda: figures.attention_figure(["a", "b"], [[1], [0.5, 0.3, 0.2]]), "a weight for each token up to itself"),
        (lambda: figures.attention_figure(["a", "b"], [[1], [0.5, 0.6]]), "'b' add to 1.100"),
        (lambda: figures.growth_figure([1, 2], [1, 2], [1, 3]), "at least three points"),
        (lambda: figures.growth_figure([1, 2, 3], [1, 2], [1, 3, 6]), "of one length"),
        (lambda: figures.bytes_figure([]), "at least one row"),
        (lambda: figures.bytes_figure([("x", -1)]), "not below zero"),
        (lambda: figures.card_figure(80, [("weights", 70)], [("talks", 4, 3)]), "3 talks .* larger than the card"),
        (lambda: figures.language_figure([("English", (1,))]), "one number for each of o200k_base, cl100k_base"),
    ],
)
def test_bad_input_is_named(draw, message):
    with pytest.raises(InputError, match=message):
        draw()


def linear(colour: str) -> list[float]:
    channels = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]


def contrast(one: str, other: str) -> float:
    """The contrast ratio of WCAG 2."""
    a, b = sorted(0.2126 * r + 0.7152 * g + 0.0722 * b for r, g, b in (linear(one), linear(other)))
    return (b + 0.05) / (a + 0.05)


@pytest.mark.parametrize("ground", ["#ffffff", "#fdfcf8", "#121212", "#161512"])
@pytest.mark.parametrize("role", figures.ROLE_COLOURS)
def test_a_role_stands_out_on_light_and_dark_pages(role, ground):
    assert contrast(figures.ROLE_COLOURS[role], ground) >= 3


@pytest.mark.parametrize("role", [role for role in figures.ROLE_LETTERS if role != "reply"])
def test_a_letter_is_readable_on_its_block(role):
    assert contrast(figures.ROLE_COLOURS[role], LETTER_INKS[role]) >= 4.5


# Machado, Oliveira and Fernandes (2009), severity 1.0, for linear RGB.
PROTANOPIA = ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998))
DEUTERANOPIA = ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881))


def lab(rgb: list[float]) -> list[float]:
    """CIE L*a*b* of linear RGB, white point D65."""
    to_xyz = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
    xyz = [sum(m * max(c, 0) for m, c in zip(row, rgb, strict=True)) for row in to_xyz]
    ratios = (value / white for value, white in zip(xyz, (0.9505, 1, 1.089), strict=True))
    x, y, z = (r ** (1 / 3) if r > 0.008856 else 7.787 * r + 16 / 116 for r in ratios)
    return [116 * y - 16, 500 * (x - y), 200 * (y - z)]


@pytest.mark.parametrize("sight", [PROTANOPIA, DEUTERANOPIA], ids=["protanopia", "deuteranopia"])
def test_user_and_assistant_are_far_apart_for_colour_blind_readers(sight):
    seen = [
        lab([sum(m * c for m, c in zip(row, linear(figures.ROLE_COLOURS[role]), strict=True)) for row in sight])
        for role in ("user", "assistant")
    ]
    assert sum((a - b) ** 2 for a, b in zip(*seen, strict=True)) ** 0.5 > 40


def test_every_role_has_a_letter_of_its_own_and_what_left_is_hatched(drawn):
    letters = [figures.ROLE_LETTERS[role] for role in figures.ROLE_COLOURS if role != "dropped"]
    assert len(set(letters)) == len(letters)
    for svg in both(drawn["two_strips"]):
        hatching = [e for e in svg.iter("path") if "--cl-dropped" in e.get("style", "") and e.get("d").count("M") > 3]
        assert len(hatching) >= 2 + 1, "two messages that left, and the key"


def test_css_variables_are_the_role_colours():
    pairs = re.findall(r"--cl-(\w+): (#\w{6});", figures.css_variables())
    assert dict(pairs) == figures.ROLE_COLOURS
