"""Lab 4, Repair the forgetful chatbot: the rule's axes, what is asked, and the right answers under any rule."""

from __future__ import annotations

import json

from grading.draws import Draw
from grading.kit import Ask, Case, Student, calls, judged, same, value

TITLE = "Repair the forgetful chatbot"
MINUTES = 210
TRACE = "q4"

# The value of the demonstration first.
AXES = {
    "overhead": (2, 1, 3, 4),  # units of a message beside its words
    "keyword": ("remember", "note", "keep", "store"),  # with which a line says a fact
    "repeat": ("place", "end"),  # where a corrected fact stands: in its old place, or at the end
    "yields": ("oldest", "longest", "newest"),  # what leaves a note that is too large
    "place": ("top", "beside"),  # of the note: first, or just before the new message
    "unit": ("message", "pair"),  # what leaves together
    "branch": ("current", "last", "first"),  # the way through an export that has branches
}
# Question -> the axes that differ from the demonstration in every graded course.
QUESTIONS = {
    "q1": ["overhead"],
    "q2": ["keyword", "repeat"],
    "q3": ["yields", "overhead"],
    "q4": ["yields", "overhead"],
    "q5": ["place", "unit"],
    "q6": ["branch"],
}
NAMES = {
    "q1-lost": "the first request without the first message",
    "q1-note": "the units of the note",
    "q2-examples": "the examples of the text",
    "q2-hidden": "facts that are said, corrected, quoted, and said by others",
    "q3-examples": "the examples of the text",
    "q3-hidden": "notes of every size",
    "q4-kept": "your trace of your own code",
    "q5-chat": "a chat that shows the fault",
    "q5-hidden": "requests with and without a note",
    "q5-answers": "the repaired chatbot still knows",
    "q6-examples": "the examples of the text",
    "q6-hidden": "exports with branches and hidden messages",
}
RUBRICS = {
    "q7": {
        "number": (3, "A chat of the student's own, run through both bots: which answers change, and in which turn."),
        "reason": (3, "Which message left, what of it the note holds, and what the note cannot hold."),
    },
    "q8": {
        "number": (2, "The smallest cap under which the student's facts fit, and what the next smaller one loses."),
        "reason": (2, "Who may write into the note, and what happens if a pasted page may."),
    },
}
FAULTS = ("free", "seen", "cut", "first")
KEYS = ("name", "order number", "size", "street", "colour", "deadline", "pet", "train", "room", "budget")
VALUES = (
    "Ada Moreno",
    "A-4711",
    "54",
    "Mill Lane 7",
    "dark blue",
    "the tenth of May at noon",
    "a small grey cat called Pixel",
    "the 8:15 to Porto",
    "B 204",
    "forty euros a week",
)
TALK = "we could also talk about the weather and the long list of things that nobody will ever ask for again".split()


def units(text: str, rule: dict) -> int:
    return rule["overhead"] + len(text.split())


def facts(messages: list[dict], rule: dict) -> list[list[str]]:
    """The right answer of question 2: [key, value] in the order of the note."""
    found: dict[str, str] = {}
    for message in messages:
        for line in message["content"].split("\n") if message["role"] == "user" else []:
            words = line.split()
            if [word.lower() for word in words[:2]] == [rule["keyword"], "my"] and "is" in words[3:-1]:
                at = words.index("is", 3)
                key = " ".join(words[2:at]).lower()
                if rule["repeat"] == "end":
                    found.pop(key, None)
                found[key] = " ".join(words[at + 1 :]).rstrip(".")
    return [list(pair) for pair in found.items()]


def note_text(pairs: list) -> str:
    return "\n".join(f"{key}: {value}" for key, value in pairs)


def fit_note(pairs: list, cap: int, rule: dict) -> list[list[str]]:
    """The right answer of question 3: the pairs that stay."""
    pairs = [list(pair) for pair in pairs]
    while pairs and units(note_text(pairs), rule) > cap:
        sizes = [len(f"{key}: {value}".split()) for key, value in pairs]
        pairs.pop({"oldest": 0, "newest": -1, "longest": sizes.index(max(sizes))}[rule["yields"]])
    return pairs


def build_request(messages: list[dict], budget: int, cap: int, rule: dict, fault: str = "") -> list[dict]:
    """The right answer of question 5; with the name of a fault, what the faulty function gives."""
    said = facts(messages[:1] if fault == "first" else messages, rule)
    pairs = fit_note(said, cap, rule)
    *older, new = messages
    if fault == "seen":  # facts of messages that are still in the request need no note, it was thought
        pairs = [pair for pair in pairs if pair not in facts(messages[-3:], rule)]
    note = [{"role": "system", "content": note_text(pairs)}] if pairs else []
    left = budget - units(new["content"], rule)
    if fault != "free":
        left -= sum(units(message["content"], rule) for message in note)
    kept: list[dict] = []
    end = len(older)
    while end:
        start = end - 1
        roles = [message["role"] for message in older[max(start - 1, 0) : end]]
        if rule["unit"] == "pair" and roles == ["user", "assistant"]:
            start -= 1
        cost = sum(units(message["content"], rule) for message in older[start:end])
        if cost > left:
            if fault == "cut" and left > rule["overhead"]:
                words = older[end - 1]["content"].split()[-(left - rule["overhead"]) :]
                kept = [{"role": older[end - 1]["role"], "content": " ".join(words)}, *kept]
            break
        kept, left, end = [*older[start:end], *kept], left - cost, start
    return [*note, *kept, new] if rule["place"] == "top" else [*kept, *note, new]


def read_export(text: str, rule: dict) -> list[list[str]]:
    """The right answer of question 6: [role, text] of the messages on one way through the tree."""
    export = json.loads(text)
    nodes = export["nodes"]
    if rule["branch"] == "current":
        path, at = [], export["current"]
        while at is not None:
            path.append(at)
            at = nodes[at]["parent"]
        path.reverse()
    else:
        path = [next(name for name, node in nodes.items() if node["parent"] is None)]
        while children := nodes[path[-1]]["children"]:
            path.append(children[-1 if rule["branch"] == "last" else 0])
    messages = [nodes[name]["message"] for name in path]
    return [[one["role"], one["text"]] for one in messages if one and not one["hidden"]]


def demonstration(rule: dict) -> bool:
    return all(rule[name] == options[0] for name, options in AXES.items())


def fault(rule: dict, draw: Draw) -> str:
    return FAULTS[0] if demonstration(rule) else draw.pick(FAULTS[1:])


def said(key: str, value: str, rule: dict) -> str:
    return f"{rule['keyword'].capitalize()} my {key} is {value}."


def user(text: str) -> dict:
    return {"role": "user", "content": text}


def reply(text: str) -> dict:
    return {"role": "assistant", "content": text}


def example_chat(rule: dict) -> list[dict]:
    return [
        user(f"Hello!\n{said('name', 'Ada', rule)}"),
        reply(said("language", "German", rule)),
        user(f"> {said('pet', 'a dog', rule)}\n{said('size', '54', rule)}"),
        reply("Noted."),
        user(said("name", "Ada Moreno", rule)),
    ]


EXAMPLE_PAIRS = [["name", "Ada Moreno"], ["address", "Mill Lane 7 in Porto"], ["size", "54"]]
TREE = {
    "current": "b2",
    "nodes": {
        "r": {"parent": None, "children": ["u"], "message": None},
        "u": {
            "parent": "r",
            "children": ["a1", "b1", "c1"],
            "message": {"role": "user", "text": "Tides?", "hidden": False},
        },
        "a1": {"parent": "u", "children": [], "message": {"role": "assistant", "text": "At six.", "hidden": False}},
        "b1": {"parent": "u", "children": ["b2"], "message": {"role": "system", "text": "(web)", "hidden": True}},
        "b2": {"parent": "b1", "children": [], "message": {"role": "assistant", "text": "At seven.", "hidden": False}},
        "c1": {"parent": "u", "children": [], "message": {"role": "assistant", "text": "At eight.", "hidden": False}},
    },
}


def tree_text() -> str:
    """The export of the example, one node a line, as the notebook shows it."""
    lines = []
    for name, node in TREE["nodes"].items():
        head, message = json.dumps(node)[:-1].split('"message": ')
        lines.append(f'  "{name}": {head}"message":\n    {message}}}')
    return '{"current": "' + TREE["current"] + '", "nodes": {\n' + ",\n".join(lines) + "\n}}"


def context(rule: dict, draw: Draw) -> dict:
    """What the text of the notebook needs beside the rule."""
    chat = example_chat(rule)
    cap = units(note_text(EXAMPLE_PAIRS), rule) - 1
    other = rule | {"repeat": "end" if rule["repeat"] == "place" else "place"}
    return {
        "fault": fault(rule, draw.branch("fault")),
        "keyword_line": said("KEY", "VALUE", rule),
        "chat": chat,
        "facts": facts(chat, rule),
        "facts_other": facts(chat, other),
        "facts_all": facts([message | {"role": "user"} for message in chat], rule),
        "facts_first": facts(chat[:4], rule),
        "pairs": EXAMPLE_PAIRS,
        "cap": cap,
        "kept": fit_note(EXAMPLE_PAIRS, cap, rule),
        "kept_free": fit_note(EXAMPLE_PAIRS, cap, rule | {"overhead": 0}),
        "kept_others": [
            fit_note(EXAMPLE_PAIRS, cap, rule | {"yields": one}) for one in AXES["yields"] if one != rule["yields"]
        ],
        "tree": tree_text(),
        "way": read_export(json.dumps(TREE), rule),
        "way_hidden": [["user", "Tides?"], ["system", "(web)"], ["assistant", "At seven."]],
        "way_others": [
            read_export(json.dumps(TREE), rule | {"branch": one}) for one in AXES["branch"] if one != rule["branch"]
        ],
        "keys": list(KEYS),
        "values": list(VALUES),
        "talk": " ".join(TALK),
    }


def hand(student: Student) -> tuple[list[int], int]:
    """The words of the nineteen messages of question 1, and the budget."""
    number = student.number
    words = [number("q1 first", 12, 20)]
    for i in range(1, 19):
        words.append(number(f"q1 message {i}", 8, 16) if i % 2 == 0 else number(f"q1 message {i}", 20, 40))
    return words, number("q1 budget", 110, 280)


def lost(words: list[int], budget: int, rule: dict) -> int | None:
    """The right answer of question 1: the first request without message 0."""
    for number, last in enumerate(range(0, len(words), 2), 1):
        if sum(one + rule["overhead"] for one in words[: last + 1]) > budget:
            return number
    return None


def traced(student: Student) -> tuple[list[list[str]], list[int]]:
    """The personal pairs and caps of question 4."""
    first = student.number("q4 first", 0, 9)
    pairs = [[KEYS[(first + 3 * i) % 10], VALUES[(first + 7 * i) % 10]] for i in range(5)]
    return pairs, [student.number(f"q4 cap {i}", low, low + 4) for i, low in enumerate((8, 13, 18))]


def checks(rule: dict, draw: Draw, student: Student) -> dict:
    """Grade id of a check -> its cases."""
    shown = context(rule, draw)
    words, budget = hand(student)
    pairs, caps = traced(student)
    trace = [fit_note(pairs, cap, rule) for cap in caps]
    own = [Ask("fit_note", [pairs, cap]) for cap in caps] + [Ask("fit_note", [EXAMPLE_PAIRS, shown["cap"]])]
    q1_pairs = personal_pairs(student)
    flawed = fault(rule, draw.branch("fault"))
    return {
        "q1-lost": [value("q1_lost", lost(words, budget, rule))],
        "q1-note": [value("q1_note", units(note_text(q1_pairs), rule))],
        "q2-examples": calls(facts, [[shown["chat"]], [[]]], rule),
        "q2-hidden": calls(facts, spoken(rule, draw.branch("spoken")), rule),
        "q3-examples": calls(fit_note, [[EXAMPLE_PAIRS, shown["cap"]], [EXAMPLE_PAIRS, 1], [[], 10]], rule),
        "q3-hidden": calls(fit_note, notes(draw.branch("notes")), rule),
        "q4-kept": [judged([Ask("q4_kept", None), *own], lambda came: is_trace(came, trace, shown["kept"]))],
        "q5-chat": [judged([Ask("q5_chat", None)], lambda came: shows_fault(came[0], rule, flawed))],
        "q5-hidden": calls(build_request, conversations(rule, draw.branch("conversations")), rule),
        "q5-answers": answers(rule, draw.branch("answers")),
        "q6-examples": calls(read_export, [[json.dumps(TREE)]], rule),
        "q6-hidden": calls(read_export, exports(rule, draw.branch("exports")), rule),
    }


def personal_pairs(student: Student) -> list[list[str]]:
    first, second = student.number("q1 fact", 0, 4), student.number("q1 other fact", 5, 9)
    return [[KEYS[first], VALUES[first]], [KEYS[second], VALUES[second]]]


def is_trace(came: list, expected: list, example: list) -> bool:
    """Whether the trace is right, or is what the student's own code gives, if that code passes the example."""
    predicted, *own, example_came = came
    return same(predicted, expected) or (same(example_came, example) and same(predicted, own))


def shows_fault(chat, rule: dict, flawed: str) -> bool:
    """Whether [messages, budget, cap] is a proper chat for which the faulty function is wrong."""
    messages, budget, cap = chat
    proper = 1 <= len(messages) <= 9 and len(messages) % 2 == 1
    proper = proper and all(
        message["role"] == ("user", "assistant")[i % 2] and type(message["content"]) is str
        for i, message in enumerate(messages)
    )
    proper = proper and type(budget) is int and type(cap) is int
    proper = proper and budget >= units(messages[-1]["content"], rule) + cap
    return proper and build_request(messages, budget, cap, rule) != build_request(messages, budget, cap, rule, flawed)


def talk(draw: Draw, low: int, high: int) -> str:
    return " ".join(draw.pick(TALK) for _ in range(draw.int(low, high)))


def chat_of(rule: dict, draw: Draw, turns: int, facts_in: int) -> list[dict]:
    """A chat in which some of the questions say a fact, correct one, or quote one; it ends with a question."""
    messages = []
    for turn in range(turns):
        lines = [talk(draw, 2, 8)]
        if turn < facts_in:
            i = draw.int(0, len(KEYS) - 1)
            lines.append(said(KEYS[i], VALUES[draw.int(0, len(VALUES) - 1)], rule))
        if draw.int(0, 3) == 0:
            lines.insert(0, f"> {said('pet', 'a crocodile', rule)}")
        messages += [user("\n".join(lines)), reply(draw.pick((talk(draw, 4, 12), said("name", "Bot", rule))))]
    return [*messages, user(talk(draw, 2, 6))]


def spoken(rule: dict, draw: Draw) -> list[list]:
    """Facts that are said, said again, corrected, quoted, half said, and said by others."""
    cases = [[chat_of(rule, draw, turns, turns)] for turns in (1, 2, 3, 5, 8, 12)]
    word, keyword = rule["keyword"].capitalize(), rule["keyword"]
    lines = [
        f"{word.upper()} MY Order Number IS a-1.",
        f"Please {keyword} my size is 9.",
        f"{word} my size.",
        f"{word} my is 5.",
        f"{word} my size is",
        f"  {word}   my  train   is the  8:15  ",
        f"{word} my name is what it is.",
        f"My {keyword} is good.",
        f"{word} your name is Bot.",
    ]
    again = [user(said("size", "54", rule)), user(said("name", "Ada", rule)), user(said("Size", "56", rule))]
    return [*cases, *([[user(line)]] for line in lines), [again], [[user("\n".join(lines))]]]


def notes(draw: Draw) -> list[list]:
    """Pairs of every length and a cap from nothing to more than enough."""
    cases = []
    for count in (1, 2, 3, 4, 6, 8):
        picked = sorted({draw.int(0, 9) for _ in range(count)})
        pairs = [[KEYS[i], VALUES[draw.int(0, 9)]] for i in picked]
        cases += [[pairs, draw.int(3, 40)] for _ in range(3)]
    twins = [["a", "one two"], ["b", "three four"], ["c", "five"]]
    return [*cases, *([twins, cap] for cap in range(12))]


def conversations(rule: dict, draw: Draw) -> list[list]:
    """Chats of every length, with room for all, for some, and for the new message alone."""
    cases = []
    for turns in (0, 1, 2, 4, 7, 12):
        for _ in range(2):
            messages = chat_of(rule, draw, turns, draw.int(0, 3))
            cap = draw.int(0, 30)
            cases.append([messages, units(messages[-1]["content"], rule) + cap + draw.int(0, 90), cap])
    return cases


def answers(rule: dict, draw: Draw) -> list[Case]:
    """Long chats with one fact at the start: every later request has to hold its value."""
    cases = []
    for i in range(3):
        text = VALUES[draw.int(0, 9)]
        messages = [user(said(KEYS[i], text, rule)), reply("Noted.")]
        while len(messages) < 30:
            messages += [user(talk(draw, 4, 9)), reply(talk(draw, 6, 14))]
        stops = (3, 9, 15, 29)
        asks = [Ask("build_request", [messages[:stop], 90, 30]) for stop in stops]
        cases.append(judged(asks, lambda came, text=text: all(text in str(request) for request in came)))
    return cases


def exports(rule: dict, draw: Draw) -> list[list]:
    """Trees with a few branches, hidden messages and empty nodes; a single message; a chain without branches."""
    cases = []
    for size in (1, 2, 4, 7, 12, 20, 30):
        nodes = {"n0": {"parent": None, "children": [], "message": None}}
        for i in range(1, size + 1):
            parent = f"n{draw.int(max(0, i - 3), i - 1)}"
            role = draw.pick(("user", "assistant"))
            message = {"role": role, "text": f"{i} {draw.pick(TALK)}", "hidden": draw.int(0, 4) == 0}
            nodes[f"n{i}"] = {"parent": parent, "children": [], "message": None if draw.int(0, 9) == 0 else message}
            nodes[parent]["children"].append(f"n{i}")
        leaves = [name for name, node in nodes.items() if not node["children"]]
        cases.append([json.dumps({"current": draw.pick(leaves), "nodes": nodes})])
    return cases
