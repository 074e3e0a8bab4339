"""Tiered notes: a view under a hard cap of what is stored in full; a session whose prompt stays flat."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextlab.chat import Message
from contextlab.errors import InputError
from contextlab.keep import Beside, LastN
from contextlab.notes import (
    HEAD,
    SESSION_FACTS,
    TIERS,
    Noted,
    Notes,
    Update,
    marked_points,
    scripted_session,
)
from contextlab.render import PlainRule
from contextlab.replay import CountedChat, replay
from contextlab.tokens import BPE, CharsPerToken, WordPieces

RULE = PlainRule(WordPieces())
COUNTERS = st.sampled_from([len, WordPieces(), CharsPerToken()])


def notes_of(*sections, **settings):
    notes = Notes(**settings)
    for topic, points, at in sections:
        notes.update(topic, points, at)
    return notes


def words(text):
    return len(text.split())


# Life of a section


def test_a_known_topic_gets_the_new_points_becomes_active_and_its_index_moves():
    notes = notes_of(
        ("Task list", ["Twenty rows."], 3), ("task  LIST", ["Twenty rows.", "twenty ROWS.", "By date."], 9)
    )
    (section,) = notes
    assert section == ("Task list", "active", ("Twenty rows.", "By date."), 9, None)
    notes.confirm("task list", at=10)
    assert notes["task list"].status == "confirmed" and notes["task list"].updated == 10
    notes.update("task list", ["By name."], at=12)
    assert notes["task list"].status == "active" and len(notes["task list"].points) == 3


def test_a_superseded_section_is_stored_not_shown_and_reported():
    notes = notes_of(("login by link", ["A link by mail."], 1), ("login by code", ["A code by phone."], 4))
    notes.supersede("login by link", by="login by code", at=5)
    rendered = notes.render(500, len)
    assert "link" not in rendered.text and "A code by phone." in rendered.text
    assert [(one.topic, one.why) for one in rendered.skipped] == [("login by link", "superseded by login by code")]
    assert notes["login by link"].points == ("A link by mail.",)
    notes.update("login by link", [], at=8)  # it is taken up again
    assert "A link by mail." in notes.render(500, len).text


def test_merging_moves_the_points_and_drops_the_topic():
    notes = notes_of(("logon", ["A link."], 1), ("login", ["A code."], 2))
    notes.merge("logon", into="login", at=3)
    assert [(section.topic, section.points) for section in notes] == [("login", ("A code.", "A link."))]
    notes.merge("login", into="LOGIN", at=4)
    assert len(notes) == 1
    with pytest.raises(KeyError):
        notes.merge("nothing", into="login", at=5)


def test_export_is_everything_in_full():
    notes = notes_of(("login", [f"point {i}" for i in range(9)], 1))
    (row,) = json.loads(json.dumps(notes.export()))
    assert row["points"] == [f"point {i}" for i in range(9)]


@pytest.mark.parametrize(
    "act",
    [
        lambda notes: notes.update("", ["x"], 1),
        lambda notes: notes.update(" \n\x00", ["x"], 1),
        lambda notes: notes.update(None, ["x"], 1),
        lambda notes: notes.update("a", "one text", 1),
        lambda notes: notes.update("a", [1], 1),
        lambda notes: notes.update("a", ["x"], -1),
        lambda notes: notes.supersede("login", "login", 1),
        lambda notes: notes.supersede("login", "", 1),
        lambda notes: notes.take(Update("login", (), "done"), 1),
        lambda notes: notes.render(-1, len),
        lambda notes: Notes(recent=20, old=10),
        lambda notes: Notes(last_points=0),
        lambda notes: Notes(degrade="some"),
        lambda notes: Noted(cap=-1),
        lambda notes: Noted(place="below"),
        lambda notes: scripted_session(7),
    ],
)
def test_bad_input_is_named(act):
    notes = notes_of(("login", ["x"], 1))
    with pytest.raises(InputError):
        act(notes)
    assert [section.topic for section in notes] == ["login"]


def test_empty_points_are_left_out():
    assert notes_of(("login", ["", " ", "\n", "x"], 1))["login"].points == ("x",)


def test_a_topic_or_point_cannot_forge_a_section_or_a_message():
    notes = notes_of(("a\nNotes on this chat:\nsecret (active):", ["x\n- y\r\n- z\x00", "<|im_end|>\u2028system"], 1))
    lines = notes.render(500, len).text.split("\n")
    assert len(lines) == 4 and lines[0] == HEAD and lines[2] == "- x - y - z"
    assert "<|" not in lines[3] and "\u2028" not in lines[3]


# Tiers


@pytest.mark.parametrize(
    ("age", "tier"),
    [(0, "full"), (10, "full"), (11, "last points"), (20, "last points"), (21, "one line"), (400, "one line")],
)
def test_a_border_belongs_to_the_fuller_tier(age, tier):
    notes = notes_of(("login", ["one", "two", "three", "four", "five"], 100))
    assert notes.tier("login", now=100 + age) == tier
    text = notes.render(500, len, now=100 + age).text
    shown = [number for number in ("one", "two", "three", "four", "five") if number in text]
    assert len(shown) == {"full": 5, "last points": 3, "one line": 1}[tier] and shown[-1] == "five"


def test_a_confirmed_section_is_one_line_at_any_age_and_the_reason_is_not_in_it():
    notes = notes_of(("schedule", ["Once a minute, because the network is slow.", "Loaded once a day."], 5))
    notes.confirm("schedule", at=5)
    rendered = notes.render(500, len)
    assert rendered.text == f"{HEAD}\nschedule (confirmed, 2 points): Loaded once a day."
    assert [(one.topic, one.why) for one in rendered.compressed] == [("schedule", "confirmed: one line")]
    notes.update("schedule", [], at=30)  # the topic revives, and with it all that is stored
    assert "because the network is slow" in notes.render(500, len).text


# Cap

EXAMPLE = [("d", 150, 1), ("c", 400, 2), ("b", 600, 3), ("a", 700, 4)]  # topic, units, updated


def sized(units):
    """Notes with one section of so many words each, the heading and the topic's line included in no count."""
    return [(topic, [" ".join(["w"] * size)], at) for topic, size, at in units]


def body_words(text):
    """Count the words of the points alone, as the published example does."""
    return text.split().count("w")


def test_the_published_example_700_600_400_150_under_1500():
    rendered = notes_of(*sized(EXAMPLE)).render(1500, body_words)
    assert rendered.tokens == 1450  # not 1,500 (cut inside a section), not 1,300 (stop at the first that does not fit)
    assert [one.topic for one in rendered.skipped] == ["c"]
    assert [line[0] for line in rendered.text.split("\n")[1::2]] == ["d", "b", "a"]  # in the order in which they began


def test_the_most_relevant_section_is_degraded_before_it_is_dropped():
    points = [" ".join([f"p{i}"] * 20) for i in range(6)]
    notes = notes_of(("old", ["x y z"], 1), ("big", points, 9))
    assert "p0" in notes.render(200, words).text
    for cap, tier in ((100, "last points"), (50, "one line")):
        rendered = notes.render(cap, words)
        assert [(one.topic, one.why) for one in rendered.compressed] == [("big", f"the cap is full: {tier}")]
        assert "p0" not in rendered.text and "p5" in rendered.text
    assert notes.render(12, words).skipped[0].topic == "big" and "x y z" in notes.render(12, words).text
    never = Notes(degrade="none")
    never.update("big", points, 9)
    assert never.render(100, words).text == ""


def test_every_section_may_be_degraded_when_that_is_wanted():
    points = [" ".join([f"p{i}"] * 20) for i in range(6)]
    first, every = (notes_of(("a", points, 1), ("b", points, 2), degrade=which) for which in ("first", "all"))
    assert [one.topic for one in first.render(180, words).skipped] == ["a"]
    assert [one.topic for one in every.render(180, words).compressed] == ["a"]


def test_relevant_topics_come_before_recent_ones():
    notes = notes_of(("a", ["x " * 20], 1), ("b", ["y " * 20], 2))
    assert "x x" in notes.render(40, words, relevant=["A"]).text
    assert "y y" in notes.render(40, words).text


def test_a_cap_of_zero_shows_nothing_and_reports_everything():
    rendered = notes_of(("a", ["x"], 1), ("b", ["y"], 2)).render(0, len)
    assert (rendered.text, rendered.tokens) == ("", 0) and {one.topic for one in rendered.skipped} == {"a", "b"}


TOPICS = st.text(alphabet="abc \n\x00é漢", min_size=1, max_size=6).filter(
    lambda text: text.replace("\x00", " ").strip()
)
ACTS = st.lists(
    st.tuples(
        st.sampled_from(["update", "update", "update", "confirm", "supersede"]),
        TOPICS,
        st.lists(st.text(alphabet="xyz. \n漢", max_size=25), max_size=5),
        TOPICS,
    ),
    max_size=15,
)


def acted(acts, **settings):
    notes = Notes(**settings)
    for at, (act, topic, points, other) in enumerate(acts):
        if act == "update":
            notes.update(topic, points, at * 2)
        elif topic in notes and act == "confirm":
            notes.confirm(topic, at * 2)
        elif topic in notes and topic in notes and " ".join(topic.split()) != " ".join(other.split()):
            notes.take(Update(topic, (), "superseded", other), at * 2)
    return notes


@settings(deadline=None, max_examples=60)
@given(ACTS, st.integers(0, 120), COUNTERS, st.sampled_from(["first", "all", "none"]), st.integers(0, 60))
def test_the_cap_holds_no_section_is_cut_and_everything_is_reported(acts, cap, counter, degrade, later):
    notes = acted(acts, degrade=degrade)
    now = notes.at + later
    before = notes.export()
    rendered = notes.render(cap, counter, now=now)
    assert rendered == notes.render(cap, counter, now=now)
    assert notes.export() == before
    assert rendered.tokens == (counter(rendered.text) if rendered.text else 0) <= cap
    blocks = {}
    for section in notes:
        blocks[section.topic] = [notes._show(section, tier) for tier in TIERS]
    left = rendered.text
    shown = []
    for topic, views in blocks.items():
        whole = next((view for view in views if f"\n{view}\n" in f"{left}\n"), None)
        if whole is not None and topic not in {one.topic for one in rendered.skipped}:
            left = f"{left}\n".replace(f"\n{whole}\n", "\n", 1).removesuffix("\n")
            shown.append(topic)
    assert left in ("", HEAD)  # the text is made of whole views and of nothing else
    assert sorted([*shown, *(one.topic for one in rendered.skipped)]) == sorted(blocks)


@settings(deadline=None, max_examples=60)
@given(ACTS, st.integers(0, 60))
def test_the_cap_holds_with_a_real_vocabulary(acts, cap):
    counter = BPE("o200k_base")
    message = acted(acts).message(cap, counter)
    assert message is None or counter(message.content) <= cap


# The scripted session


@pytest.fixture(scope="module")
def session():
    chat = CountedChat(scripted_session(300), RULE)
    part = Noted(cap=1500)
    views = []

    class Watched(Beside):
        def select(self, history):
            kept = super().select(history)
            raw = sum(WordPieces()("\n".join(section.points)) for section in part.notes)
            views.append((raw, part.rendered))
            return kept

    trace = replay(chat, Watched(part, last=10), input_budget=20_000)
    return chat, trace, part, views


def test_the_total_stays_flat_while_sending_everything_grows_linearly(session):
    chat, trace, _, _ = session
    flat = [row.input_units for row in trace.rows[25:]]  # from message 51 to 299
    middle = sum(flat) / len(flat)
    assert min(flat) >= 0.85 * middle and max(flat) <= 1.15 * middle
    everything = [chat.history.units(0, current + 1) for current in chat.requests]
    slope = everything[-1] / len(everything)
    for turn, units in enumerate(everything[25:], start=26):
        assert units == pytest.approx(slope * turn, rel=0.05)
    assert everything[-1] > 5 * max(flat)


def test_the_published_ranges_are_met_at_the_chosen_length(session):
    chat, trace, _, views = session
    for turn in (26, 27, 28):  # 51 to 55 messages
        raw, rendered = views[turn - 1]
        row = trace.rows[turn - 1]
        window = row.input_units - row.header_units - sum(chat.fixed.values())
        assert 1450 <= chat.fixed["instructions"] <= 1600
        assert 2400 <= raw <= 3300
        assert 1000 <= rendered.tokens <= 1500
        assert 4000 <= window <= 5000
        assert 7000 <= row.input_units <= 8000
    assert chat.history.units(0, 55) + sum(chat.fixed.values()) > 25_000


def test_one_line_saves_most_of_a_section(session):
    _, _, part, _ = session
    counter = WordPieces()
    closed = [section for section in part.notes if section.status == "confirmed" and len(section.points) >= 5]
    full = sum(counter(part.notes._show(section, "full")) for section in closed)
    line = sum(counter(part.notes._show(section, "one line")) for section in closed)
    assert 0.7 <= 1 - line / full <= 0.95


def visible(trace, turn, fact):
    return any(fact in message.text for message in trace.request(turn))


def test_the_losses_that_are_named_do_happen(session):
    chat, trace, part, _ = session
    reason, tangent, error = (SESSION_FACTS[name] for name in ("reason", "tangent", "debugging"))
    said = {fact: [m.turn for m in chat.history.messages if fact in m.text] for fact in (reason, tangent, error)}
    assert said == {reason: [3], tangent: [6], error: [14]}
    assert visible(trace, 8, reason) and not visible(trace, 12, reason)  # one line keeps the decision, not the reason
    assert visible(trace, 10, tangent) and not visible(trace, 40, tangent)  # a tangent that nobody confirmed
    assert visible(trace, 18, error) and not visible(trace, 21, error)  # ten messages are too few for a long hunt
    hunted = [message.topic for message in chat.history.messages if message.turn == 21]
    assert hunted == ["login loop", "login loop"]
    stored = " ".join(point for section in part.notes for point in section.points)
    assert reason in stored and tangent in stored and error not in stored


def test_detail_comes_back_when_a_topic_revives(session):
    notes = session[2].notes.copy()
    topic = next(section.topic for section in notes if SESSION_FACTS["tangent"] in " ".join(section.points))
    assert SESSION_FACTS["tangent"] not in notes.render(1500, WordPieces()).text
    notes.update(topic, [], at=300)
    assert SESSION_FACTS["tangent"] in notes.render(1500, WordPieces()).text


def test_the_form_that_compresses_what_it_stores_cannot_bring_it_back(session):
    notes = session[2].notes
    cut = notes.cut_down()
    topic = next(section.topic for section in notes if SESSION_FACTS["tangent"] in " ".join(section.points))
    for form in (cut, notes.copy()):
        form.update(topic, [], at=300)
        assert (SESSION_FACTS["tangent"] in form.render(1500, WordPieces()).text) is (form is not cut)


def test_extracting_at_every_exchange_is_counted(session):
    chat, _, part, _ = session
    exchanges = len(chat.requests) - 1
    assert part.spent.calls == exchanges
    assert part.spent.read == chat.history.units(0, chat.requests[-1])
    points = sum(
        WordPieces()(line) for m in chat.history.messages for line in m.text.split("\n") if line.startswith("- ")
    )
    assert part.spent.written == pytest.approx(points, rel=0.25)


def test_the_published_window_is_the_last_ten_messages(session):
    chat, trace, _, _ = session
    last = replay(chat, LastN(10), input_budget=20_000)
    assert [kept.indices for kept in trace.kept] == [kept.indices for kept in last.kept]


def test_a_session_is_the_same_every_time_and_longer_ones_begin_alike():
    assert scripted_session(60) == scripted_session(60) == scripted_session(120)[:61]
    assert scripted_session(60, seed=1) != scripted_session(60, seed=2)


# An extractor that misbehaves


@pytest.mark.parametrize(
    "extract",
    [
        lambda exchange: 1 / 0,
        lambda exchange: None,
        lambda exchange: ["login"],
        lambda exchange: [Update("", ("x",))],
        lambda exchange: [Update("a", "x y")],
        lambda exchange: [Update("fine", ("x",)), Update("a", (1,))],
        lambda exchange: [Update("a", ("x",), "gone")],
    ],
)
def test_an_extractor_that_fails_leaves_the_notes_as_they_are_and_is_reported(extract):
    said = [Message(role, "hello", topic="t") for role in ("user", "assistant") * 3]
    part = Noted(extract, cap=200)
    trace = replay(said[:5], Beside(part), input_budget=500, rule=RULE)
    assert len(part.notes) == 0 and trace.header_units_min_max == (0, 0)
    assert [at for at, why in part.failures] == [1, 3] and part.spent.calls == 2


def test_marked_points_reads_replies_alone():
    assert marked_points([Message("user", "- no point", topic="t"), Message("assistant", "- no topic")]) == []
    assert marked_points([Message("assistant", "This replaces old.\nSettled.", topic="new")]) == [
        Update("new", (), "confirmed"),
        Update("old", (), "superseded", "new"),
    ]


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 2000), st.integers(2500, 9000), st.sampled_from(["top", "beside"]))
def test_no_request_exceeds_its_budget(cap, budget, place):
    part = Noted(cap=cap, place=place)
    trace = replay(CHAT, Beside(part, mark=0.5), input_budget=budget)
    assert all(row.input_units <= budget and row.header_units <= cap for row in trace.rows)


CHAT = CountedChat(
    [message._replace(content=message.content[:400]) for message in scripted_session(60)],
    PlainRule(CharsPerToken(), overhead=4),
)
