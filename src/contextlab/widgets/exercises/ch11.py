"""Chapter 11: tiers by age and status, a cap that cuts nothing, and what the order of the notes does to a cache."""

from __future__ import annotations

from functools import cache
from itertools import takewhile

from contextlab.notes import Notes

from ..declare import ChooseTask, CodeTask, Line, NumberTask, Option, OrderTask, Predict, Step, Wrong
from ..notes import cost, moments, shown

CAP = 1500
CAPS = (750, 1000, 1250, 1500)


def words(text: str) -> int:
    """Return the units of a text in which each word w is a unit: what the exercises count."""
    return text.split().count("w")


def of_size(units: int) -> str:
    return " ".join(["w"] * units) or "-"


def last_notes() -> Notes:
    return moments()[-1].notes


@cache
def named(recent: int | None = None) -> int:
    """Return how many topics the last note of the session names; ``recent``: every age up to it is shown in full."""
    notes, now, _ = moments()[-1]
    if recent is not None:
        alike = Notes(recent=recent, old=10**6, degrade="none")
        for section in notes:
            alike.update(section.topic, section.points, section.updated)
        notes = alike
    return len(notes) - len(notes.render(CAP, cost, now=now).skipped)


def taken(sizes: list[int], cap: int) -> int:
    """Return the units of the sections that the library shows, most recently updated first, none of them shortened."""
    notes = Notes(degrade="none")
    for at, size in enumerate(reversed(sizes)):
        notes.update(f"section {at}", [of_size(size)], at)
    return notes.render(cap, words).tokens


def stops(sizes: list[int], cap: int) -> int:
    used = 0
    for size in sizes:
        if used + size > cap:
            break
        used += size
    return used


def sizes_of(a: int, b: int, c: int, d: int) -> list[int]:
    return [a, b, c, d]


def points_shown(points: int, ages: tuple[int, ...], settled: int, border: int = 0, by_age: bool = False) -> int:
    """Return the points in a note of sections with these ages and a confirmed one, as the library shows them.

    ``border`` is added to every age, ``by_age`` treats the confirmed section like the others: both for wrong paths.
    """
    now = 1000
    notes = Notes()
    for number, age in enumerate((*ages, settled)):
        confirmed = number == len(ages)
        at = now - age - border * (not confirmed or by_age)
        notes.update(f"section {number}", [f"@ {number} {point}" for point in range(points)], at)
        if confirmed and not by_age:
            notes.confirm(f"section {number}", at)
    return notes.render(10**6, len, now=now).text.count("@")


def ages_of(a: int, b: int, c: int, d: int) -> tuple[int, ...]:
    return a, b, c, d


def same_start(fixed: int, sizes: list[int], updated: int, newest_first: bool = False) -> int:
    """Return the units that two requests have in common from the start, when one section gets another point.

    The rendered notes are compared, word by word; ``fixed`` stands for all that is in front of them.
    """
    notes = Notes()
    for at, size in enumerate(sizes):
        notes.update(f"section {at}", [" ".join(f"w{at}.{i}" for i in range(size))], at)

    def text() -> list[str]:
        sections = notes.render(10**6, len).text.split("\nsection ")[1:]
        order = sorted(range(len(sizes)), key=lambda at: -notes[f"section {at}"].updated if newest_first else at)
        return " ".join(sections[at] for at in order).split()

    before = text()
    notes.update(f"section {updated}", ["w.new"], len(sizes))
    same = takewhile(lambda pair: pair[0] == pair[1], zip(before, text(), strict=False))
    return fixed + sum(word.startswith("w") for word, _ in same)


@cache
def topics_at(cap: int, message: int = 181) -> int:
    """Return how many topics the note names at this message."""
    return sum(len(topics) for tier, topics in shown(cap, message)[1].items() if tier not in ("skipped", "superseded"))


def in_view(views: list[tuple[int, int, int]], cap: int) -> list[int]:
    """Return the units at which the library shows each section, the most relevant first; 0 where it is left out."""
    notes = Notes(recent=10**6, old=10**6)
    for at, (full, three, one) in reversed(list(enumerate(views))):
        points = [full - three, three - one, 0, one]
        notes.update(f"section {at}", [f"{number}: {of_size(size)}" for number, size in enumerate(points)], 99 - at)
    rendered = notes.render(cap, words)
    short = {shortened.topic: shortened.why for shortened in rendered.compressed}
    out = {shortened.topic for shortened in rendered.skipped}
    units = []
    for at, (full, three, one) in enumerate(views):
        why = short.get(f"section {at}", "full")
        tier = 0 if f"section {at}" in out else one if why.endswith("one line") else three if why != "full" else full
        units.append(tier)
    return units


def walked(views, cap, degrade=lambda at: at == 0, stop=False, fits=lambda used, cap: used <= cap, cut=False):
    used, units = 0, []
    ended = False
    for at, view in enumerate(views):
        sizes = view if degrade(at) else view[:1]
        size = next((size for size in sizes if fits(used + size, cap)), 0)
        if cut and not size:
            size = max(0, cap - used)
        if ended:
            size = 0
        elif stop and not size:
            ended = True
        used += size
        units.append(size)
    return units


EXERCISES = (
    Predict(
        "11-p",
        "Thirty topics, 1,500 units",
        "On how many of the {topics} topics does the last note say at least one line?",
        unit="topics",
        operands={
            "topics": len(last_notes()),
            "points": sum(len(section.points) for section in last_notes()),
            "in_full": named(10**6),
            "three": named(0),
            "line": round(cost("\n".join(last_notes().render(10**6, cost, now=299).text.split("\n")[1:2]))),
            "cap": CAP,
            "gone": sum(section.status == "superseded" for section in last_notes()),
        },
        right=lambda: named(),
        tolerance=1,
        wrong=(
            Wrong("M64", lambda in_full: in_full, "{given} is right if every section is shown in full."),
            Wrong("M65", lambda three: three, "{given} is right if every section is shown by its last three points."),
            Wrong(
                "M66",
                lambda topics: topics,
                "{given} would be all of them. {gone} were replaced by another topic in the course of the session. "
                "They are stored and no longer shown.",
            ),
        ),
        praise="nearly all are in the note, by a line of about {line} units.",
        sure_miss="You were sure, so look at one line. It has the topic, the status and the last point: about {line} "
        "units. In {cap} units there is room for about thirty of them. Only the newest topics are shown in more.",
        why="Why are so many topics named? One sentence. Nobody grades it.",
        points=(
            "In full, {in_full} sections fit the cap.",
            "By their last three points it would be {three}.",
            "A line for each old topic names nearly all of them, and keeps one of its points.",
        ),
        solution="{right} of {topics} topics are in the last note; {gone} were replaced by another topic.",
    ),
    NumberTask(
        "11-q1",
        "Four sections and a cap",
        "Four sections, the one updated last first, have {a}, {b}, {c} and {d} units. The cap is {cap}. No section is "
        "shortened, and the headings cost nothing. How many units has the note?",
        unit="units",
        right=lambda a, b, c, d, cap: taken(sizes_of(a, b, c, d), cap),
        wrong=(
            Wrong("M11", lambda cap: cap, "{given} fills the cap with a part of a section. No section is cut."),
            Wrong(
                "M61",
                lambda a, b, c, d, cap: stops(sizes_of(a, b, c, d), cap),
                "{given} stops at the first section that does not fit. A smaller one after it may still fit.",
            ),
            Wrong(
                "M62",
                lambda a, b, c, d, cap: stops(sorted(sizes_of(a, b, c, d)), cap),
                "{given} takes the smallest sections first. The one updated last comes first.",
            ),
            Wrong("M63", lambda a, b, c, d: a + b + c + d, "{given} are all sections, more than the cap."),
        ),
        praise="what does not fit is left out whole, and the walk goes on.",
        solution="Take the sections in their order, and leave out each one that does not fit: {right} units.",
        variants=(
            {"a": 700, "b": 600, "c": 400, "d": 150, "cap": 1500},
            {"a": 800, "b": 500, "c": 300, "d": 90, "cap": 1200},
            {"a": 350, "b": 900, "c": 460, "d": 410, "cap": 1100},
        ),
        quick=True,
    ),
    ChooseTask(
        "11-q2",
        "A topic that comes back",
        "Forty messages ago a section with nine points was last updated. Now the user returns to the topic, and one "
        "point is new. How many points does the note show, if the notes are stored in full and the cap has room?",
        options=(
            Option("One: the new point.", "the old points are stored, and they are still there.", "M72"),
            Option(
                "Two: the one line, and the new point.",
                "this is right for notes that store what they show. Here the line was only a view.",
                "M67",
            ),
            Option(
                "Three: the last three points.",
                "a section that was updated now has age 0, and is shown in full.",
                "M73",
            ),
            Option("Ten: all of them.", "the section is new again, and all its points are stored.", right=True),
        ),
        solution="The update sets the age to 0, so the section is shown in full: nine points and the new one.",
        quick=True,
    ),
    NumberTask(
        "11-1",
        "How many points are shown?",
        "Five sections have {points} points each. Four are active and were updated {a}, {b}, {c} and {d} messages ago. "
        "The fifth was updated {settled} messages ago and is confirmed. There is room for everything. How many points "
        "does the note show? A section in one line shows its last point.",
        unit="points",
        right=lambda points, a, b, c, d, settled: points_shown(points, ages_of(a, b, c, d), settled),
        wrong=(
            Wrong(
                "M12",
                lambda points, a, b, c, d, settled: points_shown(points, ages_of(a, b, c, d), settled, border=1),
                "{given} puts the borders into the lower tier. At 10 messages a section is still in full, at 20 it "
                "still shows three points.",
            ),
            Wrong(
                "M68",
                lambda points, a, b, c, d, settled: points_shown(points, ages_of(a, b, c, d), settled, by_age=True),
                "{given} looks at the age of the confirmed section. A confirmed section has one line at any age.",
            ),
            Wrong(
                "M64",
                lambda points: 5 * points,
                "{given} shows every section in full. Age and status decide how much is shown.",
            ),
        ),
        praise="the tiers show {parts}.",
        solution="In the order of the question the sections show {parts} points: {right}.",
        hints=(
            "Write the tier of each section first. More than 10 messages: the last three points. More than 20: one "
            "line.",
            "{a} and {b} messages: {first} and {second} points. What does a confirmed section show?",
        ),
        variants=tuple(
            {
                "points": points,
                "a": ages[0],
                "b": ages[1],
                "c": ages[2],
                "d": ages[3],
                "settled": settled,
                "first": each[0],
                "second": each[1],
                "line": 1,
                "parts": f"{', '.join(map(str, each[:-1]))} and {each[-1]}",
            }
            for points, ages, settled in (
                (8, (10, 11, 20, 21), 2),
                (6, (3, 10, 20, 40), 8),
                (7, (0, 10, 15, 20), 4),
            )
            for each in [
                [*(points_shown(points, (age,), 10**2) - 1 for age in ages), points_shown(points, (), settled)],
            ]
        ),
        step=Step(
            "how many points does the confirmed section show?",
            lambda line: line,
            "points",
            "Its status decides, and its age does not matter.",
            "{step} point. Add what the other four show.",
        ),
    ),
    NumberTask(
        "11-2",
        "The same beginning",
        "A request begins with {fixed} units that never change. Then come four sections of notes with {a}, {b}, {c} "
        "and {d} units, in the order in which they began, then the messages. The third section gets one more point, at "
        "its end. How many units has the next request in common with this one, counted from the start?",
        unit="units",
        right=lambda fixed, a, b, c, d: same_start(fixed, sizes_of(a, b, c, d), 2),
        wrong=(
            Wrong(
                "M71",
                lambda fixed, a, b: fixed + a + b,
                "{given} leaves out the whole third section. Its old points stand where they stood; the new one comes "
                "after them.",
            ),
            Wrong(
                "P3",
                lambda fixed, a, b, c, d: fixed + a + b + c + d,
                "{given} counts the fourth section too. It has moved, so it is another beginning.",
            ),
            Wrong(
                "P16",
                lambda fixed: fixed,
                "{given} is right if the section that changed moves to the front. Here the order stays.",
            ),
            Wrong(
                "M74",
                lambda a, b, c: a + b + c,
                "{given} leaves out what stands in front of the notes.",
            ),
        ),
        praise="with the newest section in front it would be only {fixed}.",
        solution="Everything in front of the new point is the same: {fixed} + {a} + {b} + {c} = {right}.",
        hints=(
            "Where is the first unit that differs?",
            "The new point stands at the end of the third section. What stands in front of it?",
        ),
        variants=(
            {"fixed": 1500, "a": 120, "b": 200, "c": 90, "d": 150},
            {"fixed": 640, "a": 75, "b": 310, "c": 140, "d": 260},
            {"fixed": 2000, "a": 230, "b": 60, "c": 180, "d": 95},
        ),
    ),
    OrderTask(
        "11-3",
        "Which cap names most topics?",
        "Message 181 of the session. Put the caps in order of the number of topics that the note names, in any tier. "
        "The explorer above helps.",
        items=tuple(f"a cap of {cap:,} units" for cap in CAPS),
        value=lambda: [topics_at(cap) for cap in CAPS],
        wrong=(
            Wrong(
                "M10",
                lambda: list(CAPS),
                "this takes a larger cap to name more topics. But a larger cap may have room for one large section, "
                "which takes the place of many lines.",
            ),
            Wrong("S10", lambda: [-topics_at(cap) for cap in CAPS], "this is the right order, turned around."),
            Wrong("S10", lambda: [-cap for cap in CAPS], "this takes a smaller cap to name more topics. Try each."),
        ),
        praise="the notes name {values} topics.",
        solution="From the least to the greatest: {values}. With {small} units a large section does not fit, and lines "
        "of older topics take the room. With {large} units it fits, and nearly all lines are left out.",
        ends="The cap that names fewest topics comes first.",
        hints=(
            "Set the explorer to message 181 and move the cap. Count the topics in all tiers. Those left out or "
            "superseded do not count.",
            "Which section comes in when the cap goes from {small} to {large} units?",
        ),
        variants=(
            {
                "values": ", ".join(str(value) for value in sorted(topics_at(cap) for cap in CAPS)),
                "small": CAPS[0],
                "large": CAPS[1],
            },
        ),
    ),
    CodeTask(
        "11-4",
        "A cap that cuts nothing",
        "Write a function `in_view(views, cap)`. `views` has one entry for each section, the most relevant first: its "
        "units in full, by its last points and in one line. Return the units at which each section is shown, 0 if it "
        "is left out. Only the most relevant section may be shown in a lower tier.",
        name="in_view",
        lines=(
            "def in_view(views, cap):",
            "    used, shown = 0, []",
            "    for at, view in enumerate(views):",
            Line(
                "        sizes = □",
                ("view", "view if at == 0 else view[:1]", "view[:1]"),
                1,
                (
                    "this lets every section be shown in a lower tier.",
                    "",
                    "this drops the most relevant section where a lower tier would fit.",
                ),
                ("M69", "", "M75"),
            ),
            Line(
                "        size = next((s for s in sizes if used + s □ cap), 0)",
                ("<", "<="),
                1,
                ("what fits exactly fits.", ""),
                ("S5", ""),
            ),
            "        used, shown = used + size, [*shown, size]",
            "    return shown",
        ),
        reference=in_view,
        cases=lambda: [
            ([(700, 300, 40), (600, 200, 40), (400, 100, 30), (150, 90, 20)], 1500),
            ([(700, 300, 40), (600, 200, 40), (400, 100, 30), (150, 90, 20)], 650),
            ([(700, 300, 40), (600, 200, 40), (400, 100, 30), (150, 90, 20)], 299),
            ([(700, 300, 40), (600, 200, 40), (400, 100, 30), (150, 90, 20)], 39),
            ([(120, 60, 15), (200, 80, 20), (100, 50, 10)], 220),
            ([(120, 60, 15), (200, 80, 20), (100, 50, 10)], 120),
            ([(500, 250, 50), (500, 250, 50), (500, 250, 50)], 1000),
            ([(80, 40, 10)], 80),
            ([(80, 40, 10)], 9),
            ([(80, 40, 10), (30, 20, 5), (300, 60, 10), (40, 30, 6)], 155),
        ],
        wrong=(
            Wrong(
                "M61",
                lambda views, cap: walked(views, cap, stop=True),
                "Your function stops at the first section that does not fit. A smaller one may still fit.",
            ),
            Wrong("M11", lambda views, cap: walked(views, cap, cut=True), "Your function cuts a section."),
            Wrong(
                "M69",
                lambda views, cap: walked(views, cap, degrade=lambda at: True),
                "Your function shows every section in a lower tier when it does not fit. Only the first may be.",
            ),
            Wrong(
                "M75",
                lambda views, cap: walked(views, cap, degrade=lambda at: False),
                "Your function drops the most relevant section where a lower tier would fit.",
            ),
            Wrong(
                "S5",
                lambda views, cap: walked(views, cap, fits=lambda used, cap: used < cap),
                "Your function leaves out what fits exactly.",
            ),
        ),
        praise="it agrees with the library on all cases.",
        hints=(
            "Keep the sum of what is shown so far. Does the section fit what is left?",
            "For the first section, try its three sizes, the largest first. For the others, only the first size.",
        ),
        tip="A section that does not fit counts 0, and the loop goes on.",
    ),
)
