"""Publicly reported ways of getting a request wrong; each is a test here, named after the right behaviour.

The numbers are those of our collection of reports (November 2026); a comment names the report. In comments A, C, D, R,
S and U stand for assistant, call, developer, result, system and user.
"""

import base64
import json
from itertools import chain, pairwise
from pathlib import Path

import pytest

from contextlab import BPE, BudgetError, ContextOverflow, InputError, Message, assemble
from contextlab.assembler import SHORTENED, Assembler
from contextlab.keep import Beside, LastN, LowWater
from contextlab.notes import Notes
from contextlab.pins import Pins
from contextlab.render import ChatML, OpenAIRecipe, PlainRule, SystemInLastUser
from contextlab.summary import Summarised
from contextlab.tokens import CharsPerToken, WordPieces, cut

GOLDEN = json.loads((Path(__file__).parent / "data" / "token_golden.json").read_text(encoding="utf-8"))
LETTERS = CharsPerToken(1)
RULE = OpenAIRecipe(LETTERS)
CL100K, O200K = BPE("cl100k_base"), BPE("o200k_base")
LARGE = 10**6


def S(text="S"):
    return {"role": "system", "content": text}


def D(text="D"):
    return {"role": "developer", "content": text}


def U(text="U"):
    return {"role": "user", "content": text}


def A(text="A"):
    return {"role": "assistant", "content": text}


def C(*ids, arguments="{}"):
    functions = [
        {"id": str(i), "type": "function", "function": {"name": "look_up", "arguments": arguments}} for i in ids
    ]
    return {"role": "assistant", "content": None, "tool_calls": functions}


def R(i, text="found"):
    return {"role": "tool", "tool_call_id": str(i), "content": text}


def made_from(chat, window=LARGE, **options):
    return assemble(chat, **{"window": window, "max_output_tokens": 0, "counter": LETTERS, **options})


def sent(chat, window=LARGE, **options):
    return made_from(chat, window, **options).messages


def assert_clean(messages):
    """Every call is answered right behind it, every result has its call, and the first question comes first."""
    waiting = set()
    for message in messages:
        if message["role"] == "tool":
            assert message["tool_call_id"] in waiting
            waiting.remove(message["tool_call_id"])
        else:
            assert not waiting
            waiting = {call["id"] for call in message.get("tool_calls") or ()}
    assert not waiting
    history = [message for message in messages if message["role"] not in ("system", "developer")]
    assert history[0]["role"] == "user"


def at_every_budget(chat, **options):
    """Yield the request at every budget from the smallest that works to the whole."""
    for window in range(1, RULE.request(chat) + 50):
        try:
            yield made_from(chat, window, **options)
        except ContextOverflow:
            continue


# Tool groups.


def test_01_a_call_and_its_result_stay_or_go_together():  # langchain#33245
    chat = [S(), U(), C("abc"), R("abc"), U(), A(), U(), A()]
    messages = sent(chat, strategy=LastN(5))
    assert_clean(messages)
    assert messages == [S(), U(), A(), U(), A()]
    for made in at_every_budget(chat):
        assert_clean(made.messages)


def test_02_no_result_leads_and_the_system_message_stays():  # semantic-kernel#12708
    assert sent([S(), U(), C(123), R(123), U("now"), A()], strategy=LastN(3)) == [S(), U("now"), A()]


def test_03_the_whole_group_goes_not_its_call_alone():  # autogen#7955, #6789
    chat = [U(), A(), U(), C(1), R(1), A(), U()]
    for made in at_every_budget(chat):
        assert_clean(made.messages)
        kept = set(chain(*made.kept_groups))
        assert (3 in kept) == (4 in kept)


def test_04_parallel_results_stay_together_and_each_is_sent_once():  # langmem#126, #98
    chat = [U(), C(1, 2), R(1, "big " * 50), R(2), A(), U()]
    for made in at_every_budget(chat):
        assert_clean(made.messages)
    again = sent([U(), C(1, 2), R(1), R(2), R(1), R(2), A(), U()])
    assert [m.get("tool_call_id") for m in again if m["role"] == "tool"] == ["1", "2"]


def test_05_a_lone_result_is_removed():  # openai-agents-python#4322
    chat = [U(), C(1), R(1), A()]
    messages = sent(chat, strategy=LastN(2))
    assert_clean(messages)
    assert sent([U(), R(1), A()]) == [U(), A()]


def test_06_a_pair_is_fully_in_or_out_of_what_is_summarised():  # semantic-kernel#13062
    seen = []

    def summarise(previous, messages, limit):
        seen.extend(messages)
        return "they looked things up"

    chat = [U("start")]
    for i in range(30):
        chat += [C(i), R(i, "r" * 30)] + ([A(), U(f"next {i}")] if i % 3 == 2 else [])
    made = made_from(chat, 700, strategy=Beside(Summarised(summarise, cap=120), mark=0.5, whole_turns=True))
    assert_clean(made.messages)
    assert len([m for m in seen if m.role == "tool"]) == len([m for m in seen if m.content and "look_up" in m.content])
    assert len(seen) > 6 and seen[-1].role == "assistant"


@pytest.mark.parametrize("limit", [3, 4, 5, 6, 7])
def test_07_no_orphan_hides_behind_the_system_message(limit):  # agno#9372
    run = [S(), U(), C(1), R(1), A()]
    assert_clean(sent(run * 2, strategy=LastN(limit)))
    second = [S(), U(), C(2), R(2), A()]
    assert_clean(sent(run + second, strategy=LastN(limit)))


def test_08_the_call_is_found_whatever_the_distance():  # langchain#34282, #34184
    chat = [U(), C(*range(1, 11)), *[R(i) for i in range(1, 11)]]
    assert sent(chat, strategy=LastN(6)) == chat


@pytest.mark.parametrize("chat", [[U(), C(1, 2), R(1), U()], [U(), C(1, 2), R(1)]])
def test_09_an_incomplete_group_is_never_sent_as_it_is(chat):  # Cogtrix#2238, coze-studio#2765
    made = made_from(chat)
    assert_clean(made.messages)
    assert (1, 2) in made.dropped_groups
    assert made.stages[0].name == "repair"


def test_10_what_is_left_of_a_message_without_its_call_is_removed():  # vercel/ai#13430
    thought = {**C(1), "reasoning": "I have to look this up."}
    assert sent([U(), thought, U()]) == [U(), U()]
    assert sent([U(), {"role": "assistant", "content": None, "reasoning": "hm"}, U()]) == [U(), U()]


def test_12_a_long_exchange_is_trimmed_at_group_borders_and_keeps_its_task():  # strands harness-sdk#2173
    chat = [U("task"), C(1), R(1), C(2), R(2), C(3), R(3)]
    assert sent(chat, strategy=LastN(4)) == [U("task"), *chat[3:]]
    windows = {len(made.messages) for made in at_every_budget(chat)}
    assert windows == {3, 5, 7}


def test_13_the_first_message_behind_the_instructions_is_the_users():  # strands #1749, #2087; llama_index#20256
    chat = [S(), *[m for i in range(6) for m in (U(f"{i}"), A("a" * i), A("more"))], U("last")]
    for made in at_every_budget(chat):
        assert made.messages[1]["role"] == "user"


def test_14_the_current_group_stays_whole_in_the_middle_of_a_run():  # pydantic-ai#2050
    chat = [U(), C(1), R(1)]
    assert sent(chat, strategy=LastN(1)) == chat


def test_15_a_call_that_crashed_does_not_poison_later_turns():  # letta#3250, pydantic-ai#4728
    growing = Assembler(window=LARGE, max_output_tokens=0, counter=LETTERS)
    growing.append(U(), C(1))
    for i in range(5):
        growing.append(U(f"{i}?"))
        made = growing.request()
        assert_clean(made.messages)
        assert made.dropped_groups == ((1,),)
        growing.append(A(f"{i}."))


def test_16_a_structured_result_is_unchanged_or_left_out():  # strands harness-sdk#95
    structured = {**R(1), "content": [{"type": "text", "text": json.dumps({"rows": [1, 2, 3]})}]}
    chat = [U(), C(1), structured, A(), U(), C(2), R(2, "r" * 40), A(), U()]
    options = {"shorten_tool_results": 5, "clear_tool_results": True}
    for made in at_every_budget(chat, **options):
        for message in made.messages:
            if message.get("tool_call_id") == "1":
                assert message == structured


# System, developer, newest user message.


def test_17_the_system_message_stays():  # semantic-kernel#12612
    assert sent([S("rules"), *[U(), A()] * 20, U()], strategy=LastN(3))[0] == S("rules")


def test_18_a_summary_leaves_the_system_message_verbatim_and_first():  # langchain#33856
    policy = Beside(Summarised(lambda *_: "they talked", cap=60), mark=0.5, whole_turns=True)
    chat = [S("rules"), *[m for i in range(20) for m in (U(f"{i}" + "u" * 20), A("a" * 20))], U("last")]
    messages = sent(chat, 300, strategy=policy)
    assert messages[0] == S("rules")
    assert messages[1]["content"].startswith("Summary of ")


def test_19_the_system_message_is_never_flushed():  # llama_index#23144
    growing = Assembler(window=80, max_output_tokens=0, counter=LETTERS)
    growing.append(S("rules"))
    for i in range(50):
        growing.append(U(f"{i}?"))
        assert growing.request().messages[0] == S("rules")
        growing.append(A(f"{i}."))


def test_20_a_developer_message_is_protected_like_a_system_message():  # semantic-kernel PR 10344
    least = RULE.request([D("rules"), U()])
    assert sent([D("rules"), U("first"), A(), U()], least) == [D("rules"), U()]


def test_21_all_leading_system_messages_stay_or_it_is_an_error():  # agent-framework PR 4136
    chat = [S("one"), S("two"), U("first"), A(), U()]
    least = RULE.request([S("one"), S("two"), U()])
    assert sent(chat, least) == [S("one"), S("two"), U()]
    with pytest.raises(ContextOverflow):
        sent(chat, least - 1)


def test_22_the_newest_user_message_stays_verbatim():  # deer-flow#2240, deepagentsjs#426
    chat = [U("task"), C(1), R(1), C(2), R(2), C(3), R(3)]
    assert sent(chat, strategy=LastN(2)) == [U("task"), C(3), R(3)]
    for made in at_every_budget(chat):
        assert made.messages[0] == U("task")


def test_23_the_instructions_are_there_once_after_ten_turns():  # ursa#150
    chat = [S("rules"), U("0?")]
    for i in range(10):
        messages = sent(chat, 400, pinned=["Ada"], summary="They met.", notes="Plan: none.")
        assert messages.count(S("rules")) == 1
        assert sum(m["role"] == "system" for m in messages) == 4
        chat = [*messages, A(f"{i}."), U(f"{i + 1}?")]


# Empty results, overflow, budgets.


def test_24_a_message_larger_than_the_budget_is_an_error_with_need_and_limit():  # mastra#16047
    with pytest.raises(ContextOverflow) as caught:
        sent([U("x" * 100)], 25)
    assert caught.value.budget == 25
    assert caught.value.parts["current user message"] == 107
    assert "25" in str(caught.value) and "107" in str(caught.value)


def test_25_a_budget_below_any_group_is_an_error_and_no_empty_list():  # agent-framework#7226
    chat = [U("one"), A(), U("two"), C(1), R(1)]
    for window in range(1, RULE.request([U("two"), C(1), R(1)])):
        with pytest.raises(ContextOverflow):
            sent(chat, window)


def test_26_empty_in_empty_out():  # langchain#30376
    assert sent([]) == []


def test_27_what_is_fixed_and_too_large_is_an_error_with_the_cost_of_each_part():  # llama_index#11637, #9371, #15320
    tools = GOLDEN["tools"]["tools"] if "tools" in GOLDEN else None
    with pytest.raises(ContextOverflow) as caught:
        sent([S("s" * 100), U("hi")], 90, pinned=["p" * 10], tools=tools)
    parts = caught.value.parts
    assert parts["instructions"] == 109 and parts["pinned notes"] == 9 + len("Memory:\n- ") + 10
    assert all(str(units) in str(caught.value) for units in parts.values())


def test_28_the_reply_has_its_room():  # magic-context#275
    chat = [S(), *[m for i in range(50) for m in (U("u" * i), A("a" * i))], U()]
    for reply in (0, 100, 900):
        made = made_from(chat, 1000, max_output_tokens=reply)
        assert made.input_tokens + reply <= 1000


def test_29_a_fixed_part_larger_than_the_window_leaves_is_an_error_before_anything_is_sent():  # kernel-ai-assistant#304
    with pytest.raises(ContextOverflow) as caught:
        sent([S("s" * 2048), U()], 2000, max_output_tokens=1024)
    assert caught.value.budget == 976 and caught.value.parts["instructions"] > 2048


@pytest.mark.parametrize(("window", "reply"), [(0, 0), (-1, 0), (100, 100), (100, 101)])
def test_30_no_budget_is_never_no_limit(window, reply):  # automatos-ai#543, Memoh#207
    with pytest.raises(BudgetError):
        sent([U()], window, max_output_tokens=reply)


def test_31_nothing_leaves_at_a_budget_of_exactly_the_total():  # tokentrim#11
    chat = [S(), U(), A(), U(), A(), U()]
    assert sent(chat, RULE.request(chat)) == chat
    assert sent(chat, RULE.request(chat) - 1) == [chat[0], *chat[3:]]


def test_32_content_in_parts_is_trimmed_and_a_failure_is_an_error():  # open-interpreter#293
    parts = {"role": "user", "content": [{"type": "text", "text": "u" * 50}]}
    assert sent([parts, A(), U()], 60) == [U()]
    with pytest.raises(InputError, match="message 0"):
        sent([{"role": "user", "content": [{"type": "unheard of"}]}, U()], 60)


def test_33_at_least_one_is_no_reason_to_exceed_a_cap():  # memory-vault#184
    made = made_from([U()], retrieved=["r" * 2540], retrieved_cap=200)
    assert made.messages == [U()]
    assert made.stages[0].name == "retrieved" and "left out" in made.stages[0].note


def test_34_a_note_of_omission_is_inside_the_count():  # seen with Haystack
    chat = [U("u" * 30), A("a" * 30), U("v" * 30)]
    note = "[earlier messages left]"
    for window in range(RULE.request([chat[-1]]), RULE.request(chat) + 1):
        made = made_from(chat, window, omission=note)
        assert made.input_tokens == RULE.request(made.messages) <= window


def test_35_a_newest_message_that_is_too_large_is_an_error_and_is_not_summarised_away():  # seen with LlamaIndex
    with pytest.raises(ContextOverflow):
        sent([U("first"), A(), U("one two three four five six")], 4, counter=WordPieces(), summary="They talked.")


# Counting.


def test_36_content_none_with_calls_is_counted():  # langchain#6706, copilot-api#21
    assert made_from([U(), C(1), R(1)]).parts["newest group"] > 0


def test_37_the_arguments_of_a_call_are_counted():  # OpenJarvis#608, hive#6715
    short, long = (RULE.message(C(1, arguments=text)) for text in ("{}", json.dumps({"q": "x" * 50})))
    assert long - short == len(json.dumps({"q": "x" * 50})) - 2


def test_38_a_call_of_200_words_costs_about_200_tokens():  # llama_index#21950
    words = json.dumps({"text": " ".join(["word"] * 200)})
    tokens = made_from([U(), C(1, arguments=words), R(1)], counter=O200K).parts["newest group"]
    assert 200 <= tokens <= 240


def test_39_the_old_function_role_is_never_estimated_below_the_bill():  # openai-cookbook#613: 26 billed, 28 estimated
    answer = {"role": "function", "name": "get_current_temperature", "content": "87 degrees F"}
    made = made_from([U("What is the temperature in Boston?"), answer], counter=CL100K)
    role, name, content = (CL100K(answer[key]) for key in ("role", "name", "content"))
    assert made.parts["newest group"] == 3 + role + name + 1 + content
    # That is 2 above the bill for this role, as the three requests in the tests of `render` show.


def test_40_the_constants_are_those_of_the_model_family():  # gpt-tokens#16
    cookbook = GOLDEN["cookbook_messages"]["messages"]
    assert made_from(cookbook, counter=CL100K).input_tokens == 129
    older = OpenAIRecipe(CL100K, per_message=4, per_name=-1)
    assert made_from(cookbook, template=older).input_tokens == 127


PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="  # 1 by 1


def image(data=PIXEL, **more):
    return {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}", **more}}


def test_41_only_text_and_image_of_a_part_cost():  # openai-messages-token-helper#1
    message = {"role": "user", "content": [{"type": "text", "text": "Look"}, image(detail="low")]}
    assert made_from([message]).input_tokens == RULE.request([U("Look")]) + 85


def test_42_base64_is_not_counted_as_text():  # codegraff#260, dify#5868, weave-os/router#734
    large = base64.b64encode(base64.b64decode(PIXEL) + bytes(250_000)).decode()
    chat = [U("first"), A("answer"), {"role": "user", "content": [image(large)]}]
    made = made_from(chat, 1000)
    assert made.messages == chat
    assert made.parts["current user message"] == 7 + 255
    nonsense = {"role": "user", "content": [image("A" * 250_000)]}
    assert made_from([nonsense]).input_tokens == 3 + 7 + 1445  # of unknown size: the most that one can cost


def test_43_an_image_is_never_free():  # earendil-works/pi#1441
    picture = {"role": "user", "content": [image()]}
    chat = [m for _ in range(45) for m in (picture, A("nice"))]
    made = made_from([*chat, U()], 2000)
    assert made.tokens_before > 45 * 255
    assert made.input_tokens <= 2000 and len(made.messages) < 20


def test_44_chinese_characters_are_counted_by_the_chosen_tokenizer():  # langchainjs#11303
    text = "日本語" * 100
    made = made_from([U(text)], counter=CL100K)
    assert made.input_tokens == 400 + 7
    with pytest.raises(ContextOverflow):
        sent([U(text)], 100 + 7 + 50, counter=CL100K)


def test_45_the_tokenizer_is_a_parameter_and_the_margin_comes_off_the_window():  # continue#878, letta#3270, gsd-2#4529
    text = "お誕生日おめでとう"
    counts = [made_from([U(text)], counter=counter).input_tokens for counter in (CL100K, O200K)]
    assert counts == [9 + 7, 8 + 7]
    assert made_from([U()], 1000, margin=100).budget == 900


def test_46_tool_schemas_are_in_the_fixed_cost():  # dust#13637, OpenManus#1391
    weather = next(value for value in GOLDEN.values() if isinstance(value, dict) and "tools" in value)
    for counter, total in ((CL100K, 105), (O200K, 101)):
        made = made_from(weather["messages"], counter=counter, tools=weather["tools"])
        assert made.input_tokens == total
    with pytest.raises(ContextOverflow, match="tools"):
        sent([U()], 500, tools=weather["tools"] * 20, counter=O200K)


def test_47_only_input_is_compared_with_the_budget():  # letta#3242
    chat = [U("u" * 893)]
    made = made_from(chat, 1300, max_output_tokens=300)
    assert (made.input_tokens, made.budget) == (903, 1000)


def test_48_tokens_that_a_cache_holds_count_in_full():  # tracker#539, infinity#52
    growing = Assembler(window=1000, max_output_tokens=0, counter=LETTERS)
    growing.append(S("s" * 900), U("hi"))
    growing.request()
    growing.append(A("a"), U("hi"))
    made = growing.request()
    assert made.shared_prefix_tokens > 900
    assert made.input_tokens == RULE.request(made.messages)
    growing.append(A("a" * 80), U("hi"))
    assert len(growing.request().messages) == 2


def test_49_a_start_token_is_counted_once():  # vllm#27515, open-r1#462
    template = SystemInLastUser(O200K)
    made = made_from([S("Be brief."), U("Hello")], template=template)
    text = template.render(made.messages)
    assert text.count("<s>") == 1
    assert made.input_tokens == template.count(text) == 3 + O200K("Be brief.\n\nHello")  # <s>, [INST], [/INST]


def test_50_what_is_added_never_makes_two_user_messages_in_a_row():  # vllm#6862, llama_index#11731
    chat = [S(), U("one"), A("two"), U("three")]
    options = {"pinned": ["p"], "summary": "s", "notes": "n", "retrieved": ["r"], "omission": "o"}
    for made in at_every_budget(chat, **options):
        roles = [m["role"] for m in made.messages if m["role"] not in ("system", "developer")]
        assert all(one != two for one, two in pairwise(roles))
        users = [m for m in made.messages if m["role"] == "user"]
        assert all(m in chat for m in users)


# Summaries.


def growing_chat(turns, size=20):
    return [m for i in range(turns) for m in (U(f"{i:03}" + "u" * size), A(f"{i:03}" + "a" * size))]


def requests(chat, window, policy, **options):
    """Yield the request of each turn."""
    growing = Assembler(window=window, max_output_tokens=0, counter=LETTERS, strategy=policy, **options)
    for message in chat:
        growing.append(message)
        if message["role"] == "user":
            yield growing.request()


def summarising(summarise, **options):
    """A policy that summarises what leaves, in batches."""
    return Beside(Summarised(summarise, **{"cap": 100, **options}), mark=0.5, whole_turns=True)


def fails(previous, messages, limit):
    raise OSError("the server is down")


def test_51_an_error_is_no_summary_and_the_next_level_answers():  # langchain#38867, smart-second-brain#435
    plain = list(requests(growing_chat(30), 400, None))
    for made, without in zip(requests(growing_chat(30), 400, summarising(fails)), plain, strict=True):
        assert "down" not in str(made.messages)
        assert len(made.messages) == len(without.messages)


def test_52_nothing_is_removed_before_the_summariser_has_answered():  # SynapseKit#551
    calls = []

    def once_down(previous, messages, limit):
        calls.append([m.content for m in messages])
        if len(calls) == 1:
            raise OSError("down")
        return f"they talked, part {len(calls)}"

    chat = growing_chat(40)
    list(requests(chat, 500, summarising(once_down)))
    assert len(calls) > 2
    covered = list(chain(*calls[1:]))
    assert covered == [m["content"] for m in chat[: len(covered)]]  # what the first call could not take came again


def test_53_a_window_without_a_question_gets_no_placeholder():  # langchain#39261
    made = made_from([U("task"), C(1), R(1, "r" * 500), C(2), R(2)], 200)
    assert made.messages == [U("task"), C(2), R(2)]
    with pytest.raises(ContextOverflow):
        sent([U("task"), C(1), R(1, "r" * 500)], 200)


def test_54_a_summary_is_written_at_most_once_per_step_of_growth():  # nano-rlm#54
    calls = []

    def summarise(previous, messages, limit):
        calls.append(len(messages))
        return f"they talked, part {len(calls)}"

    turns = 60
    list(requests(growing_chat(turns), 500, summarising(summarise)))
    assert 3 < len(calls) < turns / 3
    assert min(calls) >= 4


def test_55_a_summary_of_summaries_stays_within_its_cap():  # opencrabs#1649
    def growing_summary(previous, messages, limit):
        return (previous + " and " + "more " * 10)[:limit]

    for made in requests(growing_chat(60), 500, summarising(growing_summary)):
        assert made.parts.get("strategy", 0) <= 100
        assert sum(m["content"].count("Summary of ") for m in made.messages) <= 1


def test_56_what_was_summarised_is_not_sent_again():  # langchain PR 13481
    covered = []

    def summarise(previous, messages, limit):
        covered.extend(m.content for m in messages)
        return f"they talked, up to {covered[-1][:3]}"

    for made in requests(growing_chat(30), 400, summarising(summarise)):
        assert not set(covered) & {m["content"] for m in made.messages}


def test_57_reading_changes_nothing_of_the_callers():  # llama_index#22345
    chat = [S(), *growing_chat(2), U()]
    before = json.dumps(chat)
    growing = Assembler(window=80, max_output_tokens=0, counter=LETTERS)
    growing.append(*chat)
    for _ in range(3):
        growing.request()
        growing.request().messages.clear()
    assert json.dumps(chat) == before
    assert len(list(chain(*growing.request().kept_groups, *growing.request().dropped_groups))) == 6


def test_58_a_goal_that_cannot_be_reached_is_an_error_and_the_chat_stays():  # letta#3270
    growing = Assembler(window=60, max_output_tokens=0, counter=LETTERS)
    growing.append(S("s" * 40), U("hello there"))
    with pytest.raises(ContextOverflow):
        growing.request()
    assert [entry.content for entry in growing._chat.messages] == ["hello there"]


def test_59_tool_messages_stay_when_nothing_has_to_leave():  # dotnet/extensions#6890
    chat = [U(), C(1), R(1), A(), U()]
    made = made_from(chat, strategy=summarising(fails))
    assert made.messages == chat and made.dropped_groups == ()


def test_60_a_summariser_never_reads_base64():  # myriade agentlys#347
    read = []

    def summarise(previous, messages, limit):
        read.extend(m.content for m in messages)
        return "pictures"

    chat = [m for _ in range(10) for m in ({"role": "user", "content": [image()]}, A("nice"))]
    sent([*chat, U()], 1000, strategy=summarising(summarise))
    assert "[image_url]" in read and PIXEL[:20] not in str(read)


def test_61_exact_facts_are_pinned_and_not_left_to_a_summary():  # deja-vu#543
    facts = ["path: /srv/app/config.toml", "port 8443", "make deploy ENV=test"]
    policy = summarising(lambda *_: "they set things up")
    made = list(requests([U(". ".join(facts)), A(), *growing_chat(30)], 600, policy, pinned=facts))[-1]
    assert made.absent_facts == ()
    assert all(any(fact in m["content"] for m in made.messages) for fact in facts)
    without = list(
        requests([U(". ".join(facts)), A(), *growing_chat(30)], 600, summarising(lambda *_: "set up"), facts=facts)
    )
    assert without[-1].absent_facts == tuple(facts)


# Prefix cache, speed.


def test_62_the_cut_moves_rarely_and_the_shared_prefix_is_reported():  # kern-ai#295 and three more
    moved = {}
    for name, policy in (("newest", None), ("low water", LowWater(0.5))):
        made = list(requests(growing_chat(100), 1000, policy))[40:]
        moved[name] = sum(request.shared_prefix_tokens < 30 for request in made)
    assert moved["newest"] == 60 and moved["low water"] < 10


def test_63_a_cut_goes_to_a_low_mark_and_not_just_below_the_cap():  # zeroclaw#10674, opencode-copilot-chat#238
    made = list(requests(growing_chat(100), 1000, LowWater(0.5)))
    drops = [b.input_tokens for a, b in pairwise(made) if b.input_tokens < a.input_tokens]
    assert drops and max(drops) <= 0.5 * 1000 + 60
    sent_tokens = sum(request.input_tokens for request in made)
    assert sum(request.shared_prefix_tokens or 0 for request in made) > 0.8 * sent_tokens


def test_64_what_changes_stands_at_the_end():  # autobot#143
    growing = Assembler(window=LARGE, max_output_tokens=0, counter=LETTERS, retrieved=["It is 9:00."])
    growing.append(S("s" * 500), *growing_chat(5), U("What time is it?"))
    first = growing.request()
    growing.retrieved = ["It is 9:01."]
    second = growing.request()
    assert second.shared_prefix_tokens >= first.input_tokens - 150
    assert second.messages[-2]["content"].endswith("9:01.")


class Counting:
    """A counter that counts its calls."""

    name = "counting"

    def __init__(self):
        self.calls = 0

    def __call__(self, text):
        self.calls += 1
        return len(text)


def test_65_each_message_is_tokenized_once():  # llama_index#12264
    counter = Counting()
    made_from([m for i in range(500) for m in (U(f"{i}" * 50), A("a" * 200))] + [U()], 16_000, counter=counter)
    assert counter.calls <= 1001 + 10


def test_66_twice_the_messages_are_twice_the_work():  # term-llm#668, xskill#258
    calls = []
    for n in (8_100, 16_200):
        counter = Counting()
        growing = Assembler(window=16_000, max_output_tokens=0, counter=counter)
        for i in range(n):
            growing.append(U(f"{i}") if i % 2 == 0 else A("a" * 100))
            if i % 2 == 0:
                growing.request()
        calls.append(counter.calls)
    assert calls[1] / calls[0] < 2.01


def test_67_a_second_read_tokenizes_new_messages_only():  # swarms#2305, cloudllm#16, claude-code#12952
    counter = Counting()
    growing = Assembler(window=16_000, max_output_tokens=0, counter=counter)
    growing.append(*growing_chat(60))
    growing.request()
    before = counter.calls
    growing.request()
    assert counter.calls == before
    growing.append(U("one more"))
    growing.request()
    assert counter.calls == before + 1


# Unicode.


@pytest.mark.parametrize("limit", range(1, 41))
def test_68_no_character_is_ever_broken(limit):  # mastra#23787
    for text in ("😀" * 20, "👨‍👩‍👧‍👦" * 5, "e\u0301" * 30, "日本語" * 10):
        chat = [U(), C(1), R(1, text), C(2), R(2)]
        whole = made_from(chat, counter=O200K).input_tokens
        made = made_from(chat, whole - 1, counter=O200K, shorten_tool_results=limit)
        for message in made.messages:
            if message.get("tool_call_id") == "1" and message["content"] != text:
                kept = message["content"].removesuffix(SHORTENED)
                assert "\ufffd" not in kept and text.startswith(kept)
                assert O200K(message["content"]) <= limit
                assert not text[len(kept) :].startswith(("\u0301", "\u200d"))


def test_69_a_cut_steps_back_to_a_clean_border():  # posthog#48123, nodetool#3775, tiktoken_ruby#123
    emoji = "👍"
    assert CL100K(emoji) == 3
    for limit in (1, 2):
        assert cut(f"ab{emoji}", limit + 1, CL100K) == "ab"
    made = made_from(
        [U(), C(1), R(1, f"ab{emoji}" * 50)], counter=CL100K, max_message_tokens=40, shorten_oversized=True
    )
    made.messages[-1]["content"].encode()
    assert "\ufffd" not in made.messages[-1]["content"]


def test_70_a_genuine_replacement_character_stays():  # langwatch#8194
    text = "\ufffd日" * 40
    made = made_from([U(), C(1), R(1, text)], counter=O200K, max_message_tokens=40, shorten_oversized=True)
    kept = made.messages[-1]["content"].removesuffix(SHORTENED)
    assert kept.startswith("\ufffd日\ufffd") and text.startswith(kept)


# Notes, memory, reporting.


def test_71_no_section_is_cut_and_only_what_was_sent_is_logged():  # remnic#244
    made = made_from([U()], 8_000, summary="shared context " * 400, notes="profile " * 900, retrieved=["the notes"])
    contents = [m["content"] for m in made.messages]
    assert contents[0].endswith("shared context ") and contents[1].endswith("the notes")
    assert "notes" not in made.parts and made.parts["retrieved"] > 0
    assert [(stage.name, "left out" in stage.note) for stage in made.stages] == [("notes", True)]
    board = Notes()
    board.update("a", ["x" * 200], at=1)
    board.update("b", ["y" * 200], at=2)
    made = made_from([U()], notes=board, notes_cap=300)
    assert made.parts["notes"] <= 300
    assert [stage.name for stage in made.stages] == ["notes"]


def test_72_a_note_over_its_cap_is_refused_and_reported():  # openchamber#3604
    made = made_from([U()], notes="word " * 420, notes_cap=2_000)
    assert made.messages == [U()]
    assert "left out" in made.stages[0].note
    with pytest.raises(ContextOverflow, match="cap"):
        sent([U()], pinned=["word " * 420], pinned_cap=2_000)


def test_73_a_contradicting_fact_is_there_and_the_old_one_is_not():  # mem0#4536
    board = Pins()
    for text in ("Remember that my favourite drink is tea.", "Remember that my favourite drink is coffee."):
        board.read(Message("user", text))
    made = made_from([U("What do I like?")], pinned=board, pinned_cap=200)
    assert "coffee" in made.messages[0]["content"] and "tea" not in made.messages[0]["content"]


def test_74_the_same_fact_twice_is_there_once():  # mem0#1674
    text = sent([U()], pinned=["likes tea", "likes tea"])[0]["content"]
    assert text.count("likes tea") == 1
    board = Pins()
    for _ in range(2):
        board.read(Message("user", "Remember that my exam is on 12 May."))
    assert sent([U()], pinned=board, pinned_cap=200)[0]["content"].count("12 May") == 1


def test_75_the_old_value_of_a_corrected_fact_is_marked_stale():  # mem0#5576, oh-my-pi#12258
    board = Pins()
    for text in ("Remember that my exam is on 12 May.", "Remember that my exam is on 19 May."):
        board.read(Message("user", text))
    assert board.past("exam")[0].why == "stale"
    assert "12 May" not in sent([U()], pinned=board, pinned_cap=200)[0]["content"]


def test_76_a_pin_is_kept_and_has_a_cap():  # librefang#4137
    chat = [U("remember 42"), A(), *growing_chat(30), U()]
    made = made_from(chat, 300, pinned=[chat[0]], pinned_cap=100)
    assert "remember 42" in made.messages[0]["content"]
    assert 0 in chain(*made.dropped_groups)
    with pytest.raises(ContextOverflow):
        sent(chat, 300, pinned=[chat[0]], pinned_cap=10)


def test_77_the_log_has_tokens_before_and_after_the_budget_and_what_counted():  # zeroclaw#9619
    chat = [*growing_chat(30), U()]
    log = made_from(chat, 300, counter=O200K).as_dict()
    assert log["tokens_before"] == OpenAIRecipe(O200K).request(chat)
    assert log["input_tokens"] == OpenAIRecipe(O200K).request(log["messages"]) <= log["budget"] == 300
    assert (log["counter"], log["exact"]) == ("o200k_base", "sum of parts")


def test_78_what_was_left_out_is_listed():  # claude-code#89831
    chat = [U(), C(1), R(1), A(), U("now")]
    made = made_from(chat, RULE.request([U("now")]))
    assert made.dropped_groups == ((0,), (1, 2), (3,))
    assert made.kept_groups == ((4,),)


def test_79_what_was_recalled_is_capped():  # letta#1635
    chat = [S(), *growing_chat(5), U()]
    made = made_from(chat, 500, retrieved=["r" * 150, "q" * 5_000, "s" * 100], retrieved_cap=400)
    assert made.parts["retrieved"] <= 400
    assert [("left out" in stage.note) for stage in made.stages if stage.name == "retrieved"] == [True]
    assert made.input_tokens <= 500


# The table of budgets that the Cookbook's list gives (4a), and further numbers.


def cookbook():
    """The Cookbook's six messages; the four in the middle, system messages by the names of a user and an assistant,
    as what they are examples of, so that they are history. The counts are the same."""
    messages = [dict(m) for m in GOLDEN["cookbook_messages"]["messages"]]
    for message in messages[1:5]:
        message["role"] = message["name"].removeprefix("example_")
    return messages


@pytest.mark.parametrize(
    ("budgets", "kept", "used"),
    [
        (range(48, 71), [0, 5], 48),
        (range(71, 96), [0, 4, 5], 71),
        (range(96, 112), [0, 3, 4, 5], 96),
        (range(112, 129), [0, 2, 3, 4, 5], 112),
        (range(129, 140), [0, 1, 2, 3, 4, 5], 129),
    ],
)
def test_4a_the_newest_that_fit_of_the_cookbooks_list(budgets, kept, used):
    for budget in budgets:
        made = made_from(cookbook(), budget, counter=CL100K, start_with_user=False)
        assert (list(chain(*made.kept_groups)), made.input_tokens) == (kept, used)
        strict = made_from(cookbook(), budget, counter=CL100K)
        whole_turns = kept if len(kept) % 2 == 0 else [0, *kept[2:]]
        assert list(chain(*strict.kept_groups)) == whole_turns


def test_4a_below_the_mandatory_part_the_need_is_named():
    with pytest.raises(ContextOverflow) as caught:
        made_from(cookbook(), 47, counter=CL100K)
    assert sum(caught.value.parts.values()) == 48
    as_published = GOLDEN["cookbook_messages"]["messages"]  # five system messages lead: all of them are mandatory
    assert made_from(as_published, 129, counter=CL100K).messages == as_published
    with pytest.raises(ContextOverflow):
        made_from(as_published, 128, counter=CL100K)


def test_4e_nothing_costs_the_reply_start_and_an_empty_question_seven():
    assert made_from([], counter=CL100K).input_tokens == 3
    assert made_from([U("")], counter=CL100K).input_tokens == 7


class Ten:
    """LangChain's documented counter: 10 a message, 14 for one in two parts."""

    additive = True
    reply_start = 0

    def message(self, message):
        return 14 if isinstance(message["content"], list) else 10

    def tools_cost(self, tools):
        return 0


def test_4f_langchains_documented_example_by_the_rules_of_this_book():
    two = [{"type": "text", "text": "This is the FIRST 4 token block."}, {"type": "text", "text": "the SECOND one"}]
    chat = [S(), U("one"), {"role": "assistant", "content": two}, U("three"), A("four")]
    sizes = {budget: len(sent(chat, budget, template=Ten())) for budget in (30, 43, 44, 53, 54)}
    # LangChain keeps four messages from 44 on, of which the second is an answer; here a turn leaves whole.
    assert sizes == {30: 3, 43: 3, 44: 3, 53: 3, 54: 5}
    looser = {budget: len(sent(chat, budget, template=Ten(), start_with_user=False)) for budget in (30, 43, 44, 53, 54)}
    assert looser == {30: 3, 43: 3, 44: 4, 53: 4, 54: 5}
    for budget in (9, 29):  # LangChain sends the system message alone, or an answer without its question
        with pytest.raises(ContextOverflow):
            sent(chat, budget, template=Ten())


def test_4f_a_turn_is_a_question_and_all_that_follows_up_to_the_next():
    """The Cookbook's session notebook: eight items with questions at 0, 4 and 6; two turns are the items 4 to 7."""
    chat = [U("0"), A("1"), C(2), R(2), U("4"), A("5"), U("6"), A("7")]
    made = made_from(chat, RULE.request(chat[4:]))
    assert list(chain(*made.kept_groups)) == [4, 5, 6, 7]
    assert made.oldest_turn_kept == 2
    five = growing_chat(5)
    assert len(sent(five, RULE.request(five[-6:]))) == 6


def test_every_template_of_the_book_gives_a_request_that_fits():
    chat = [S("Be brief."), *growing_chat(20), U("last")]
    for template in (ChatML(O200K), ChatML(O200K, special_tokens=False), SystemInLastUser(O200K), PlainRule(O200K)):
        made = made_from(chat, 300, template=template, counter=O200K)
        assert made.input_tokens == template.request(made.messages) <= 300
        assert len(made.messages) > 4
