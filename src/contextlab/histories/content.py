"""The content of a message: a text, or parts and blocks in the forms of a dozen applications and interfaces."""

from __future__ import annotations

from .draft import Draft, as_dict, as_list, as_text, compact
from .records import Part, printable

__all__ = ["Content", "add_message", "data_size", "openai_calls"]

TEXTS = ("text", "input_text", "output_text", "summary_text", "reasoning_text")
IMAGES = (
    "image_url",
    "input_image",
    "image",
    "image_file",
    "image_asset_pointer",
    "image_generation_call",
    "driveimage",
)
AUDIO = ("input_audio", "audio", "audio_asset_pointer", "real_time_user_audio_video_asset_pointer")
VIDEO = ("video", "video_url", "video_container_asset_pointer", "drivevideo")
FILES = ("file", "input_file", "document", "drivedocument")
THOUGHTS = ("thinking", "reasoning", "think", "redacted_thinking", "thought")
CALLS = ("tool_use", "tool_call", "server_tool_use", "mcp_tool_use", "function_call")
ANYWHERE = ("text", "content", "result", "output", "title", "summary", "value", "data")


def data_size(value) -> int | None:
    """Return the bytes that a text in base64, or a data URL with one, stands for; None for anything else.

    >>> data_size("data:image/png;base64,AAAA"), data_size("https://example.org/a.png")
    (3, None)
    """
    text = as_text(value)
    if text.startswith("data:"):
        _, found, text = text.partition(";base64,")
        return len(text.rstrip("=")) * 3 // 4 if found else None
    return None


class Content:
    """What a content holds, in order: ``texts`` and ``parts`` of what is said, ``thoughts``, ``calls``, ``results``.

    ``results``: (id of the call, name, text, parts, index of the block). ``refused``: there is a refusal in it.
    """

    def __init__(self, value, draft: Draft):
        self.draft = draft
        self.texts, self.parts, self.thoughts, self.calls, self.results = [], [], [], [], []
        self.refused = False
        self.plain = isinstance(value, str)
        if self.plain:
            self.texts.append(value)
            return
        for index, block in enumerate(value if isinstance(value, list) else [value]):
            self.block(block, index)

    @property
    def text(self) -> str:
        return "\n".join(filter(None, self.texts))

    @property
    def told(self) -> tuple[Part, ...]:
        """The parts; none when all of it is text."""
        return tuple(self.parts) if any(part.kind != "text" for part in self.parts) else ()

    def say(self, text: str) -> None:
        text = self.draft.whole(text)
        self.texts.append(text)
        self.parts.append(Part("text", text))

    def mark(self, kind: str, name=None, size=None, text: str = "") -> None:
        """Note a part that is no text; a mark, or its text, stands for it in the text of the message."""
        draft = self.draft
        name = draft.whole(as_text(name)) or None
        size = size if isinstance(size, int) and not isinstance(size, bool) and 0 <= size < 1 << 60 else None
        text = draft.whole(text)
        self.parts.append(Part(kind, text, name, size))
        shown = kind.removeprefix("other:")
        self.texts.append(text or (f"[{shown}: {name}]" if name else f"[{shown}]"))

    def block(self, block, index: int = 0) -> None:
        """Take one block."""
        if isinstance(block, str):
            self.say(block)
            return
        if isinstance(block, Part):
            self.mark(block.kind, block.name, block.size, block.text)
            return
        if not isinstance(block, dict):
            if block is not None:
                self.mark("other:" + type(block).__name__, text=compact(block))
            return
        kind = as_text(block.get("type") or block.get("block_type") or block.get("content_type"))
        kind = printable(kind[:60])
        low = kind.lower()
        if low in TEXTS or (not kind and isinstance(block.get("text"), str)):
            text = block.get("text")
            self.say(
                as_text(text.get("value")) if isinstance(text, dict) else as_text(text) or as_text(block.get("content"))
            )
        elif low == "audio_transcription":
            self.say(as_text(block.get("text")))
        elif low == "refusal":
            self.refused = True
            self.mark("refusal", text=as_text(block.get("refusal")))
        elif low in IMAGES or low == "image_url":
            source = block.get("image_url") or block.get("source") or block.get("url") or block.get("image") or block
            url = source.get("url") or source.get("data") if isinstance(source, dict) else source
            size = block.get("size_bytes") or data_size(url)
            if isinstance(source, dict) and source.get("type") == "base64":
                size = data_size("data:;base64," + as_text(source.get("data")))
            self.mark("image", block.get("name") or block.get("file_name"), size)
        elif low in AUDIO:
            inner = as_dict(block.get("input_audio") or block.get("audio"))
            text = as_text(block.get("transcript")) or as_text(inner.get("transcript"))
            size = block.get("size_bytes") or data_size("data:;base64," + as_text(inner.get("data"))) or None
            self.mark("audio", block.get("name"), size, text)
        elif low in VIDEO:
            self.mark("video", block.get("name"), block.get("size_bytes"))
        elif low in FILES:
            inner, source = as_dict(block.get("file")), as_dict(block.get("source"))
            text = as_text(source.get("data")) if source.get("type") == "text" else ""
            name = block.get("filename") or inner.get("filename") or block.get("title") or block.get("name")
            size = data_size(inner.get("file_data")) or data_size(block.get("file_data"))
            self.mark("file", name, size, text)
        elif low in THOUGHTS:
            text = block.get("thinking") or block.get("text") or block.get("content") or block.get("reasoning")
            text = text if isinstance(text, str) else block.get("think") or text or block.get("summary")
            self.thoughts.append(Content(text or "", self.draft).text if not isinstance(text, dict) else compact(text))
        elif low in CALLS:
            self._call(block)
        elif low in ("tool_result", "function_call_output") or low.endswith("_tool_result"):
            self._result(block, index)
        else:
            if kind:
                self.draft.kinds["other:" + kind] = self.draft.kinds.get("other:" + kind, 0) + 1
            text = next((block[key] for key in ANYWHERE if isinstance(block.get(key), str) and block[key]), "")
            if not text:
                text = "\n".join(one for one in as_list(block.get("parts")) if isinstance(one, str))
            self.mark("other:" + (kind or "object"), text=text)

    def _call(self, block):
        inner = block.get("tool_call") or block.get("function") or block.get("functionCall")
        call = {**block, **inner} if isinstance(inner, dict) else block
        function = as_dict(call.get("function"))
        name = call.get("name") or call.get("tool_name") or function.get("name")
        arguments = next(
            (
                call[key]
                for key in ("input", "arguments", "args", "tool_kwargs", "partial_json")
                if call.get(key) is not None
            ),
            function.get("arguments"),
        )
        call_id = call.get("call_id") or call.get("tool_call_id") or call.get("id")
        self.calls.append(self.draft.call(call_id, name, arguments))
        output = call.get("output")
        if isinstance(output, str) and output:  # LibreChat keeps the result beside the call
            self.results.append((as_text(call_id), as_text(name), output, (), None))

    def _result(self, block, index):
        value = block.get("content") if block.get("content") is not None else block.get("output")
        inner = Content("" if value is None else value, self.draft)
        self.thoughts += inner.thoughts
        call_id = as_text(block.get("tool_use_id") or block.get("call_id") or block.get("tool_call_id"))
        text = inner.text or ("[error]" if block.get("is_error") else "[no output]")
        self.results.append((call_id, as_text(block.get("name")), text, inner.told, index))


def openai_calls(message: dict, draft: Draft) -> list[dict]:
    """Return the calls that stand beside the content, in OpenAI's form; the older ``function_call`` is one too."""
    calls = []
    for one in as_list(message.get("tool_calls")):
        one = as_dict(one)
        function = one.get("function") if isinstance(one.get("function"), dict) else one
        arguments = function.get("arguments")
        if arguments is None:
            arguments = function.get("args", function.get("input"))
        if function.get("name") or arguments is not None:
            calls.append(draft.call(one.get("id") or one.get("call_id"), function.get("name"), arguments))
        else:
            draft.warn("a tool call without a name and arguments was left out")
    old = message.get("function_call")
    if isinstance(old, dict):
        calls.append(draft.call(None, old.get("name"), old.get("arguments")))
    return calls


def add_message(draft: Draft, role: str, value, *, calls=(), source="", thoughts=(), **more) -> None:
    """Add the messages that one message of a file becomes.

    Thoughts come first, as a hidden message of their own. Results of tools inside a user message go before the rest of
    it. Blocks of an assistant message that stand behind a result are a message of their own.
    """
    time, name = more.get("time"), more.get("name")
    if isinstance(value, str):  # the usual case
        for thought in thoughts:
            draft.add("assistant", thought, time=time, kind="reasoning", source=source)
        draft.add(role, value, calls=calls, source=source, **more)
        return
    blocks = value if isinstance(value, list) else [] if value is None else [value]
    if role == "assistant" and any(_is_result(block) for block in blocks):
        start = 0
        for index, block in enumerate([*blocks, {"type": "tool_result"}]):
            if not _is_result(block):
                continue
            if index > start or (index == len(blocks) and calls):
                last = calls if index == len(blocks) else ()
                add_message(draft, role, blocks[start:index], calls=last, source=source, thoughts=thoughts, **more)
                thoughts = ()
            if index < len(blocks):
                inner = Content([None] * index + [block], draft)
                _add_results(draft, inner, source, time)
            start = index + 1
        return
    content = Content(blocks, draft)
    for thought in [*thoughts, *content.thoughts]:
        draft.add("assistant", thought or "[reasoning]", time=time, kind="reasoning", source=source)
    if role in ("tool", "function"):
        for call_id, result_name, text, parts, _ in content.results:
            draft.add("tool", text, parts=parts, call_id=call_id, name=result_name, time=time, source=source)
        if content.texts or not content.results:
            draft.add(role, content.text, parts=content.told, source=source, **more)
        return
    if role != "assistant":
        _add_results(draft, content, source, time)
    calls = [*content.calls, *calls]
    if content.texts or calls or not (content.results or content.thoughts or thoughts):
        if content.refused and more.get("kind", "message") == "message":
            more["kind"] = "refusal"
        draft.add(role, content.text, parts=content.told, calls=calls, source=source, **{**more, "name": name})
    if role == "assistant":
        _add_results(draft, content, source, time)


def _is_result(block):
    kind = as_text(as_dict(block).get("type"))
    return kind in ("tool_result", "function_call_output") or kind.endswith("_tool_result")


def _add_results(draft, content, source, time):
    for call_id, name, text, parts, index in content.results:
        where = source if index is None else f"{source}.content[{index}]"
        draft.add("tool", text, parts=parts, call_id=call_id, name=name, time=time, source=where)
