"""Whatever stands in a file, a reading ends in a report that adds up or in an exception of the package."""

from __future__ import annotations

import io
import json

import pytest
from chat_files import EXAMPLES, example_bytes
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from contextlab import histories
from contextlab.chat import ROLES
from contextlab.errors import ContextLabError
from contextlab.histories.decoding import Broken, Cut, Window, elements
from contextlab.histories.formats import FORMATS
from contextlab.histories.nesting import decode_nested
from contextlab.histories.report import MESSAGES, OBJECTS

KEYS = sorted(
    set(
        "mapping parent children message author role content content_type parts text metadata current_node recipient "
        "chat_messages uuid sender parent_message_uuid attachments extracted_content files created_at messages system "
        "input output type call_id arguments name tool_calls function id function_call tool_call_id conversations from "
        "value conversation conversation_id data prompt replies rank message_id message_tree_id thread thread_id lc "
        "kwargs additional_kwargs blocks block_type store class_name chat history currentId parentId versions steps "
        "currentlySelected conversationId messagesTree messageId parentMessageId isCreatedByUser responses response "
        "header title time products safeHtmlItem html details url contents functionCall functionResponse chunkedPrompt "
        "chunks conversation_turns user_turn system_turn custom_id body params choices conv currNode version style "
        "thoughts summary tool_use_id source image_url refusal audio images thinking reasoning options file".split()
    )
)
WORDS = (
    "user assistant human gpt system tool text thinking tool_use tool_result multimodal_text user_editable_context "
    "function_call function_call_output reasoning message image_url code thoughts contentBlock multiStep ai "
    "constructor thread.message response browser all a b c".split()
)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**20), 10**20),
    st.floats(),
    st.sampled_from(WORDS),
    st.text(max_size=8),
    st.sampled_from(
        ["\ud83d", "", "2026-01-01T00:00:00Z", "9" * 30, "\ue200cite\ue202x", '<details type="reasoning">a</details>']
    ),
)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=6),
    max_leaves=40,
)


WRAPPERS = {"conversations", "chats", "data", "items"}


def adds_up(report):
    assert report.objects == sum(getattr(report, name) for name in OBJECTS)
    assert report.messages == sum(getattr(report, name) for name in MESSAGES)
    json.dumps(report.as_dict())
    "\n".join(report.lines()).encode()


def check(data: bytes, **options):
    """Read ``data`` whole; returns the conversations and the report, or None when it was refused."""
    seen = []
    try:
        reading = histories.read(io.BytesIO(data), **options)
        seen.extend(reading)
    except histories.HistoryError as error:
        assert str(error) and "\n" not in str(error)
        if error.report is not None:
            adds_up(error.report)
        return None
    report = reading.report
    adds_up(report)
    assert len(seen) == report.conversations > 0
    assert sum(len(one.messages) for one in seen) == report.shown + report.hidden
    for conversation in seen:
        sound(conversation)
    return seen, report


def sound(conversation):
    (conversation.title + (conversation.id or "") + conversation.source).encode()
    assert conversation.messages and conversation.branches >= 1
    for position, record in enumerate(conversation.messages):
        assert record.role in ROLES and record.position == position
        record.text.encode()
        assert record.text.strip() or record.parts or record.tool_calls
        assert record.time is None or isinstance(record.time, float)
        assert all(isinstance(part.text, str) for part in record.parts)
        assert all(isinstance(call["id"], str) for call in record.tool_calls)
        json.dumps(record.tool_calls, ensure_ascii=False).encode()
    for message in histories.to_messages(conversation, reasoning=True):
        assert isinstance(message.text, str)


def changes():
    """One of the examples with one of its values replaced, removed, or doubled."""
    return st.tuples(
        st.sampled_from(sorted(EXAMPLES)), st.integers(0, 10**6), st.sampled_from("replace drop twice".split()), JSON
    )


def places(value, found):
    for key in list(value) if isinstance(value, dict) else range(len(value)):
        found.append((value, key))
        if isinstance(value[key], dict | list):
            places(value[key], found)
    return found


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(changes())
@example(("oasst", 19965, "replace", None))
def test_an_example_with_one_value_changed_never_crashes(change):
    name, number, what, new = change
    value = json.loads(json.dumps(EXAMPLES[name]))
    found = places([value], [])
    holder, key = found[number % len(found)]
    if what == "replace" or (isinstance(holder, list) and key == 0 and holder[0] is value):
        holder[key] = new
        value = new if holder[key] is new and number % len(found) == 0 else value
    elif what == "drop":
        del holder[key]
    elif isinstance(holder, list):
        holder.insert(key, holder[key])
    check(json.dumps(value).encode())


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(JSON)
def test_any_json_is_read_or_refused(value):
    check(json.dumps(value).encode())


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(sorted(FORMATS)), JSON, st.integers(0, 2))
@example("gemini_activity", [], 0)
def test_any_json_in_a_named_format_is_read_or_refused(name, value, branch):
    check(json.dumps([value]).encode(), format=name, branch=branch)
    check(json.dumps(value).encode(), format=name, branch=branch)


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.binary(max_size=60), st.text(alphabet='[]{}",:\\ue1tfn-. \n', max_size=40).map(str.encode)))
@example(b"")
@example(b"\xff\xfe[")
@example(b"PK\x03\x04")
@example(b"\x1f\x8b\x08")
def test_any_bytes_are_read_or_refused(data):
    check(data)


def is_whole(data):
    """Whether lines are cut between two of them: then nothing in the file says that more was to come."""
    try:
        return bool([json.loads(line) for line in data.splitlines()])
    except ValueError:
        return False


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_every_prefix_of_a_file_is_a_clear_error_or_the_whole_part(name):
    whole = example_bytes(name)
    full, _ = check(whole)
    texts = [tuple(record.text for record in one.messages) for one in full]
    for cut in range(len(whole)):
        result = check(whole[:cut])
        if result is None:
            continue
        read, report = result
        got = [tuple(record.text for record in one.messages) for one in read]
        if got == texts or is_whole(whole[:cut]):
            continue
        # What is whole comes as it is; one chat that is an array of messages comes up to the cut.
        assert report.truncated or report.broken, cut
        for one, other in zip(got, texts, strict=False):
            assert one == other[: len(one)] or name in ("oasst_flat", "oasst"), cut


@settings(max_examples=300, deadline=None)
@given(st.lists(JSON, max_size=4), st.integers(1, 7), st.sampled_from(["array", "values", "lines"]), st.booleans())
def test_values_come_out_whatever_the_pieces(values, size, shape, ascii_only):
    values = [one for one in values if shape == "array" or isinstance(one, dict | list)]
    if shape != "array" and (not values or isinstance(values[0], list) or WRAPPERS & values[0].keys()):
        return
    texts = [json.dumps(one, ensure_ascii=ascii_only) for one in values]
    text = {"array": f"[{', '.join(texts)}]", "values": " ".join(texts), "lines": "\n".join(texts)}[shape]
    pieces = iter([text[i : i + size] for i in range(0, len(text), size)])
    window = Window(lambda: next(pieces, ""))
    window.more(1)
    got = [one for _, one in elements(window, {})]
    assert repr(got) == repr([json.loads(one) for one in texts])


@settings(max_examples=300, deadline=None)
@given(JSON, st.booleans())
@example(0.5, True)
@example(-1e100, True)
@example({"a": ["\u20ac\ud83d\ude00", True, None]}, True)
def test_each_proper_prefix_of_a_value_is_cut_and_never_broken(value, ascii_only):
    text = json.dumps([value], ensure_ascii=ascii_only)
    for end in range(1, len(text)):
        pieces = iter([text[:end]])
        with pytest.raises(Cut):
            list(elements(Window(lambda pieces=pieces: next(pieces, "")), {}))


@settings(max_examples=300, deadline=None)
@given(st.one_of(JSON.map(json.dumps), st.text(alphabet='[]{}",:1tn-e. ', max_size=20)))
def test_the_decoder_with_its_own_stack_agrees_with_the_standard_library(text):
    try:
        expected = json.JSONDecoder(strict=False).raw_decode(text.lstrip(" "))
    except json.JSONDecodeError:
        with pytest.raises(json.JSONDecodeError):
            decode_nested(text.lstrip(" "))
    else:
        assert repr(decode_nested(text.lstrip(" "))) == repr(expected)


def test_an_exception_of_the_package_is_what_a_reader_has_to_catch():
    assert issubclass(histories.HistoryError, ContextLabError)
    assert issubclass(Cut, Broken)
