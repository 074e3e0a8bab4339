"""The command: the published table and JSON, the counters, one clear line for bad input."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from contextlab.cli import main

PUBLISHED = json.loads((Path(__file__).parent / "data" / "published_lab.json").read_text(encoding="utf-8"))


def run(*arguments, stdin=b""):
    return subprocess.run([sys.executable, "-m", "contextlab", *arguments], input=stdin, capture_output=True)


@pytest.fixture
def lab(capsys):
    def call(*arguments):
        assert main(["lab", *arguments]) == 0
        return capsys.readouterr().out

    return call


def test_json_with_a_trace_is_the_published_file(lab):
    result = json.loads(lab("--json", "--trace"))
    assert result == {key: PUBLISHED[key] for key in ("average_turn", "messages", "runs")}


def test_json_without_a_trace_leaves_out_messages_and_traces_only(lab):
    full, short = json.loads(lab("--json", "--trace")), json.loads(lab("--json"))
    del full["messages"]
    for one in full["runs"]:
        for strategy in one["strategies"].values():
            del strategy["trace"], strategy["trace_columns"]
    assert short == full


def test_the_table_shows_the_published_figures(lab):
    table = lab()
    for run_ in PUBLISHED["runs"]:
        for strategy in run_["strategies"].values():
            line = next(line for line in table.splitlines() if f"{strategy['total_input_units']:,}" in line)
            assert str(strategy["gone_at_turn"] or "never") in line
            assert f"{strategy['turns_visible']} of 200" in line
            assert f"{strategy['mean_messages_kept']:.2f}" in line
    assert "229.6" in table


def test_budgets_come_in_the_order_given(lab):
    result = json.loads(lab("--json", "--budget", "16000", "--budget", "4000"))
    assert [one["input_budget"] for one in result["runs"]] == [16000, 4000]
    assert [one["predicted_drop_turn"] for one in result["runs"]] == [70, 18]
    assert [one["strategies"]["keep_newest"]["gone_at_turn"] for one in result["runs"]] == [70, 19]


def gone(result):
    return [one["strategies"]["keep_newest"]["gone_at_turn"] for one in result["runs"]]


def test_a_reply_reserve_moves_the_drop_turn_and_not_the_prediction(lab):
    result = json.loads(lab("--json", "--reply-reserve", "1000"))
    assert gone(result) == [15, 32, 136]
    assert [one["predicted_drop_turn"] for one in result["runs"]] == [18, 35, 140]


def test_longer_replies_and_a_summary_without_facts(lab):
    assert gone(json.loads(lab("--json", "--reply-sentences", "18", "30"))) == [12, 22, 81]
    result = json.loads(lab("--json", "--summary-without-facts"))
    assert [one["strategies"]["rolling_summary"]["turns_visible"] for one in result["runs"]] == [18, 34, 139]


def test_another_seed_is_another_chat_of_the_same_kind(lab):
    result = json.loads(lab("--json", "--trace", "--seed", "7", "--turns", "30", "--budget", "4000"))
    assert len(result["messages"]["rows"]) == 60
    assert result["messages"]["rows"][:2] == PUBLISHED["messages"]["rows"][:2]
    assert result["messages"]["rows"][2:] != PUBLISHED["messages"]["rows"][2:60]


def test_a_shorter_chat_is_the_beginning_of_a_longer_one(lab):
    rows = json.loads(lab("--json", "--trace", "--turns", "20"))["messages"]["rows"]
    assert rows == PUBLISHED["messages"]["rows"][:40]


def test_two_turns_are_the_least(lab):
    result = json.loads(lab("--json", "--turns", "2", "--budget", "4000"))
    assert result["runs"][0]["strategies"]["keep_newest"]["gone_at_turn"] is None


def test_counters_side_by_side(tmp_path, capsys):
    file = tmp_path / "text.txt"
    file.write_text("2 + 2 = 4", encoding="utf-8")
    assert main(["count", str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"chars": 3, "pieces": 5, "cl100k_base": 7, "o200k_base": 7}
    assert main(["count", str(file)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "9 characters"
    assert [line.split() for line in lines[1:]] == [
        ["chars", "3", "approximate", "units"],
        ["pieces", "5", "approximate", "units"],
        ["cl100k_base", "7", "tokens"],
        ["o200k_base", "7", "tokens"],
    ]


def test_one_counter_prints_one_number():
    assert run("count", "--counter", "cl100k_base", stdin="お誕生日おめでとう".encode()).stdout.split() == [b"9"]


CHAT = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Hello there"},
    {"role": "assistant", "content": "Yes?"},
    {"role": "user", "content": "Who am I?"},
]
CLOCK = {"type": "function", "function": {"name": "clock", "description": "Tell the time."}}


@pytest.fixture
def assembled(tmp_path, capsys):
    def call(content, *arguments):
        file = tmp_path / "request.json"
        file.write_text(json.dumps(content), encoding="utf-8")
        assert main(["assemble", str(file), "--window", "100", "--max-output-tokens", "20", *arguments]) == 0
        return capsys.readouterr().out

    return call


def test_assemble_gives_the_fields_of_the_result(assembled):
    from contextlab import assemble

    expected = json.loads(json.dumps(assemble(CHAT, window=100, max_output_tokens=20).as_dict()))
    assert json.loads(assembled(CHAT, "--json")) == expected
    assert json.loads(assembled({"messages": CHAT}, "--json")) == expected
    assert expected["messages"] == CHAT and expected["kept_groups"] == [[0], [1], [2], [3]]


def test_assemble_takes_tools_from_the_request_or_from_a_file(assembled, tmp_path):
    file = tmp_path / "tools.json"
    file.write_text(json.dumps([CLOCK]), encoding="utf-8")
    inside = json.loads(assembled({"messages": CHAT, "tools": [CLOCK]}, "--json"))
    assert inside == json.loads(assembled(CHAT, "--tools", str(file), "--json"))
    assert inside["parts"]["tools"] == 24


def test_assemble_prints_the_parts_and_what_was_left_out(assembled):
    lines = assembled(CHAT, "--margin", "50", "--pin", "Ada").splitlines()
    assert lines[0] == "26 of 30 tokens (o200k_base, sum of parts)"
    assert [line.split() for line in lines[1:5]] == [
        ["instructions", "7"],
        ["pinned", "notes", "8"],
        ["current", "user", "message", "8"],
        ["reply", "start", "3"],
    ]
    assert lines[5] == "kept 2 of 4 messages, from turn 2 on; with nothing left out: 38"
    assert lines[6] == "drop: 12 tokens, 2 messages"


def test_assemble_knows_the_counters_and_the_templates(assembled):
    tokens = {
        (counter, template): json.loads(assembled(CHAT, "--counter", counter, "--template", template, "--json"))
        for counter in ("pieces", "cl100k_base")
        for template in ("openai", "plain", "chatml", "system-in-last-user")
        if counter != "pieces" or template in ("openai", "plain")
    }
    assert all(one["input_tokens"] <= 80 for one in tokens.values())
    assert tokens["cl100k_base", "system-in-last-user"]["exact"] == "rendered"


def test_assemble_prints_half_a_surrogate_pair_as_an_escape(assembled):
    out = assembled([{"role": "user", "content": "\ud83d"}], "--counter", "chars", "--json")
    assert json.loads(out)["messages"][0]["content"] == "\ud83d"


BAD = {
    "no command": ([], b"command"),
    "unknown command": (["frob"], b"frob"),
    "unknown option": (["lab", "--frob"], b"--frob"),
    "one turn": (["lab", "--turns", "1"], b"--turns"),
    "turns that are no number": (["lab", "--turns", "many"], b"many"),
    "negative budget": (["lab", "--budget", "-5"], b"-5"),
    "budget zero": (["lab", "--budget", "0"], b"instructions 17 + reply start 3"),
    "budget at the fixed part": (["lab", "--budget", "20"], b"instructions 17 + reply start 3 = 20"),
    "budget below the summary's reserve": (["lab", "--budget", "210"], b"summary reserve 200"),
    "reserve over the budget": (["lab", "--budget", "4000", "--reply-reserve", "3990"], b"reply reserve 3990"),
    "negative reserve": (["lab", "--reply-reserve", "-1"], b"-1"),
    "sentences the wrong way round": (["lab", "--reply-sentences", "9", "2"], b"from 9 to 2"),
    "trace without json": (["lab", "--trace"], b"--json"),
    "no window": (["assemble", "-", "--max-output-tokens", "9"], b"--window"),
    "a request that is no JSON": (["assemble", "-", "--window", "90", "--max-output-tokens", "9"], b"UTF-8"),
    "a missing request": (
        ["assemble", "no-such-file.json", "--window", "90", "--max-output-tokens", "9"],
        b"no-such-file",
    ),
    "unknown counter": (["count", "--counter", "words"], b"chars, pieces, cl100k_base, o200k_base"),
    "missing file": (["count", "no-such-file.txt"], b"no-such-file.txt"),
    "a folder": (["count", "."], b"cannot read ."),
    "undecodable bytes": (["count"], b"0xff at offset 3"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_gives_one_clear_line_and_status_2(case):
    arguments, words = BAD[case]
    result = run(*arguments, stdin=b"abc\xff")
    assert result.returncode == 2
    assert result.stdout == b""
    assert result.stderr.count(b"\n") == 1 and result.stderr.startswith(b"contextlab: ")
    assert words in result.stderr


ASSEMBLE_BAD = {
    "no JSON": (b"[1", [], b"standard input is not JSON: line 1"),
    "no list": (b'{"messages": 7}', [], b"no list of messages"),
    "a message that is none": (b"[7]", [], b"message 0 is a int"),
    "no question": (b'[{"role": "assistant", "content": "x"}]', [], b"no user message"),
    "too small a window": (b'[{"role": "user", "content": "Hello"}]', ["--margin", "80"], b"current user message 5"),
    "no budget": (b'[{"role": "user", "content": "Hello"}]', ["--margin", "90"], b"margin 90"),
    "unknown template": (b"[]", ["--template", "mistral"], b"openai, plain"),
    "a missing template": (b"[]", ["--template", "no-such.json"], b"no-such.json"),
    "too deep": (b"[" * 100_000, [], b"nested too deeply"),
}


@pytest.mark.parametrize("case", ASSEMBLE_BAD)
def test_a_bad_request_gives_one_clear_line_and_status_2(case):
    stdin, more, words = ASSEMBLE_BAD[case]
    result = run("assemble", "-", "--window", "90", "--max-output-tokens", "9", *more, stdin=stdin)
    assert (result.returncode, result.stdout) == (2, b"")
    assert result.stderr.count(b"\n") == 1 and words in result.stderr


def test_a_pipe_that_closes_early_is_no_error():
    process = subprocess.Popen(
        [sys.executable, "-m", "contextlab", "lab", "--json", "--trace", "--turns", "2000"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdout.read(10)
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait() == 0
