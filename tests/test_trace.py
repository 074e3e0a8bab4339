"""The command `contextlab trace`: a file in, the same figures in a table, in JSON and on a page of its own."""

from __future__ import annotations

import io
import json
import os
import re
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contextlab import cli_trace, histories
from contextlab.cli import main
from contextlab.forgotten import as_dict, look_back
from contextlab.page import redacted
from contextlab.render import OpenAIRecipe, PlainRule
from contextlab.script import NAME, scripted_chat
from contextlab.tokens import BPE, WordPieces

PLAIN = ("--counter", "pieces", "--template", "plain")


@pytest.fixture
def chat_file(tmp_path) -> Path:
    """The scripted chat of the published lab, as OpenAI messages."""
    file = tmp_path / "chat.json"
    messages = [{"role": message.role, "content": message.content} for message in scripted_chat()]
    file.write_text(json.dumps({"title": "Planner", "messages": messages}), encoding="utf-8")
    return file


def node(number, parent, role, text):
    message = {"author": {"role": role}, "content": {"content_type": "text", "parts": [text]}}
    return {"parent": parent, "message": message}


def gpt_chat(title, texts, updated):
    mapping = {"r": {"parent": None, "message": None}}
    last = "r"
    for i, text in enumerate(texts):
        mapping[f"n{i}"] = node(i, last, "assistant" if i % 2 else "user", text)
        last = f"n{i}"
    return {"id": f"id-{title}", "title": title, "update_time": updated, "current_node": last, "mapping": mapping}


@pytest.fixture
def export(tmp_path) -> Path:
    """A ChatGPT export of four chats; the second is the newest, the last has no user message."""
    chats = [
        gpt_chat("Boats", ["My boat is called Plover.", "Noted.", "Is she safe?"], 1_700_000_000),
        gpt_chat("Boats and tides", ["Remember that my berth is number 12.", "Yes.", "Low water?"], 1_700_000_900),
        gpt_chat("Knots", ["Best knot?", "A bowline."], 1_700_000_300),
        {**gpt_chat("Empty", [], 1), "mapping": {"a": node(0, None, "assistant", "Hello")}, "current_node": "a"},
    ]
    file = tmp_path / "conversations.json"
    file.write_text(json.dumps(chats), encoding="utf-8")
    return file


@pytest.fixture
def trace(capsys):
    """Run the command; it has to succeed, and to say nothing on standard error."""

    def call(*arguments):
        assert main(["trace", *map(str, arguments)]) == 0
        said = capsys.readouterr()
        assert said.err == ""
        return said.out

    return call


@pytest.fixture
def refused(capsys):
    """Run the command; it has to refuse with one line and the status 2."""

    def call(*arguments):
        assert main(["trace", *map(str, arguments)]) == 2
        said = capsys.readouterr()
        assert said.err.startswith("contextlab: ") and said.err.count("\n") == 1
        return said.err

    return call


def test_the_published_chat_forgets_in_the_published_turns(trace, chat_file):
    windows = ("--window", 4000, "--window", 8000, "--window", 32000)
    answer = json.loads(trace(chat_file, *windows, *PLAIN, "--fact", NAME, "--json"))
    found = answer["conversations"][0]
    assert [window["facts"][0]["drop_turn"] for window in found["windows"]] == [19, 36, 141]
    assert [window["sent_units"] for window in found["windows"]] == [747_934, 1_441_049, 4_167_129]


def test_the_json_is_what_the_library_says(trace, chat_file):
    found = json.loads(trace(chat_file, "--window", 8192, "--reply-reserve", 500, "--json"))["conversations"][0]
    conversation, _ = histories.newest(chat_file)
    rule = OpenAIRecipe(BPE("o200k_base"))
    messages = histories.to_messages(conversation)
    wanted = as_dict(look_back(messages, rule, windows=[8192], reply_reserve=500, title="Planner"))
    assert {name: found[name] for name in wanted} == wanted


def test_the_table_has_the_figures_and_says_where_everything_stays(trace, chat_file):
    table = trace(chat_file, "--window", 4000, *PLAIN)
    assert re.search(r"user name: Ada Moreno +1 +19 +12\n", table)
    assert "747,934 approximate units sent" in table
    assert re.search(r"19 +3,958 +35 +2 +2\n", table)
    assert re.search(r"rolling summary +\S+ +\S+ +\S+ +\S+\n", table)
    assert table.rstrip().endswith(cli_trace.LOCAL)


def test_the_newest_conversation_is_the_default(trace, export):
    assert "Boats and tides" in trace(export) and "Knots" not in trace(export)


def test_a_conversation_is_chosen_by_number_id_or_words(trace, export):
    for which in ("1", "id-Boats"):
        out = trace(export, "--conversation", which)
        assert "Plover" in out and "tides" not in out
    assert "Best knot?" in trace(export, "--conversation", "KNOT")


def test_a_choice_that_is_no_choice_lists_the_candidates(refused, export):
    assert "choose a number: 1 Boats; 2 Boats and tides" in refused(export, "--conversation", "boat")
    assert "--conversation list" in refused(export, "--conversation", "Gulls")


def test_the_list_names_all_conversations(trace, export):
    rows = json.loads(trace(export, "--conversation", "list", "--json"))
    assert [(row["number"], row["turns"], row["title"]) for row in rows] == [
        (1, 2, "Boats"), (2, 2, "Boats and tides"), (3, 1, "Knots"), (4, 0, "Empty"),
    ]  # fmt: skip
    assert re.search(r"2 +2023-11-14 +2  Boats and tides\n", trace(export, "--conversation", "list"))


def test_all_conversations_are_traced_and_those_without_a_user_counted(trace, export):
    answer = json.loads(trace(export, "--conversation", "all", "--json"))
    assert [one["title"] for one in answer["conversations"]] == ["Boats", "Boats and tides", "Knots"]
    assert answer["without_user"] == 1
    report = answer["report"]
    assert (report["objects"], report["conversations"]) == (4, 4)


def test_facts_of_ones_own_are_followed(trace, export):
    answer = json.loads(trace(export, "--conversation", "1", "--fact", "plover", "--fact", "gull", "--json"))
    facts = answer["conversations"][0]["windows"][0]["facts"]
    assert [(fact["text"], fact["said_turn"]) for fact in facts] == [("plover", 1), ("gull", None)]


def page_data(file) -> list[dict]:
    text = Path(file).read_text(encoding="utf-8")
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)[1])


def test_the_page_carries_the_same_figures(trace, chat_file, tmp_path):
    page = tmp_path / "trace.html"
    assert cli_trace.LOCAL in trace(chat_file, "--window", 4000, *PLAIN, "--html", page)
    found = json.loads(trace(chat_file, "--window", 4000, *PLAIN, "--json"))["conversations"][0]
    shown = page_data(page)[0]
    assert shown["windows"] == found["windows"]
    assert sum(block[1] for block in shown["blocks"]) == found["units"]
    assert sorted(os.listdir(tmp_path)) == [
        "chat.json", "trace.html",
    ]  # fmt: skip


ODD = ["quokka", "Zwölfzylinder", "ptarmigan99", "<script>alert", "\U0001f98aфон", "李雷们", "schnabeltier"]


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(said=st.lists(st.lists(st.sampled_from(ODD), min_size=1, max_size=60).map(" ".join), min_size=1, max_size=6))
def test_a_redacted_answer_holds_no_word_of_the_original(tmp_path, capsys, said):
    texts = [f"Remember that my quokka {text} is schnabeltier {text}. {text}" for text in said]
    file, page, whole = tmp_path / "chat.json", tmp_path / "page.html", tmp_path / "whole.html"
    messages = [{"role": "assistant" if i % 2 else "user", "content": text} for i, text in enumerate(texts)]
    file.write_text(json.dumps({"id": "ptarmigan99", "title": said[0], "messages": messages}), encoding="utf-8")
    arguments = ["trace", str(file), "--window", "300", *PLAIN]
    answers = []
    for form in ([], ["--json"], ["--html", str(page)], ["--conversation", "list"]):
        assert main([*arguments, "--redact", *form]) == 0
        answers.append(capsys.readouterr().out)
    answers.append(page.read_text(encoding="utf-8"))
    for answer in answers:
        escaped = answer.encode("ascii", "backslashreplace").decode()
        for word in ODD:
            bare = json.dumps(word)[1:-1].replace("<", "\\u003c")
            assert word not in answer and bare not in escaped and word.split(">")[-1] not in answer
    assert main([*arguments, "--html", str(whole)]) == 0
    capsys.readouterr()
    blank, full = page_data(page)[0], page_data(whole)[0]
    for (role, units, turn, text), (*same, original) in zip(blank["blocks"], full["blocks"], strict=True):
        assert [role, units, turn] == same  # what it costs is what the original costs
        assert text == redacted(original) and len(text) == len(original)
    for window, other in zip(blank["windows"], full["windows"], strict=True):
        assert {**window, "facts": 0} == {**other, "facts": 0}
        for fact, original in zip(window["facts"], other["facts"], strict=True):
            assert {**fact, "text": 0, "key": 0} == {**original, "text": 0, "key": 0}


def test_bad_input_is_one_line(refused, export, chat_file, tmp_path):
    assert "cannot read" in refused(tmp_path / "absent.json")
    broken = tmp_path / "broken.json"
    broken.write_text('[{"mapping": ', encoding="utf-8")
    refused(broken)
    assert "unknown template" in refused(export, "--template", "mine")
    assert "add up" in refused(export, "--template", "system-in-last-user")
    assert "unknown counter" in refused(export, "--counter", "bytes")
    assert "no room for the history" in refused(export, "--window", 3)
    assert "not allowed with" in refused(export, "--json", "--html", "x.html")
    assert "no user message" in refused(export, "--conversation", "4")
    assert "not empty" in refused(export, "--fact", "")


def test_nothing_is_half_written(refused, export, tmp_path, monkeypatch):
    page = tmp_path / "page.html"
    page.write_text("from before", encoding="utf-8")
    refused(export, "--window", 3, "--html", page)
    assert "cannot write" in refused(export, "--html", tmp_path / "absent" / "page.html")
    assert "it is no file" in refused(export, "--html", tmp_path)

    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    assert "No space left" in refused(export, "--html", page)
    assert page.read_text(encoding="utf-8") == "from before"
    assert sorted(os.listdir(tmp_path)) == ["conversations.json", "page.html"]


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_bar_is_drawn_on_a_terminal_for_a_large_file_only(export, monkeypatch, capsys):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    assert main(["trace", str(export)]) == 0
    assert terminal.getvalue() == ""
    monkeypatch.setattr(cli_trace, "LARGE", 10)
    assert main(["trace", str(export)]) == 0
    assert "reading [" in terminal.getvalue() and terminal.getvalue().endswith("\r\x1b[K")
    plain = io.StringIO()
    monkeypatch.setattr(sys, "stderr", plain)
    assert main(["trace", str(export)]) == 0
    assert plain.getvalue() == ""
    assert "#" not in capsys.readouterr().out


def test_a_transcript_is_traced_as_well(trace, tmp_path):
    file = tmp_path / "chat.txt"
    file.write_text("User: I'm Ada.\nAssistant: Hello, Ada.\nUser: Who am I?\n", encoding="utf-8")
    found = json.loads(trace(file, *PLAIN, "--window", 100, "--json"))["conversations"][0]
    wanted = look_back(histories.to_messages(next(iter(histories.read(file)))), PlainRule(WordPieces()), windows=[100])
    assert found["windows"] == as_dict(wanted)["windows"]
    assert [fact["text"] for fact in found["windows"][0]["facts"]] == ["I'm Ada.", "Ada"]
