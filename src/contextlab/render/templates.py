"""Chat templates: a request as the text that the model reads, markers included, and the exact count of it."""

from __future__ import annotations

from _thread import allocate_lock

from ..chat import INSTRUCTION_ROLES, Message
from ..errors import InputError, MissingDependency
from .rules import call_texts, check_role, content_texts, fields_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import datetime

__all__ = ["CHATML", "SYSTEM_IN_LAST_USER", "ChatML", "SystemInLastUser", "Template"]

# A line that ends in a block ends there: Jinja drops the line feed after it, as transformers tells it to.
CHATML = r"""
{%- if tools %}
<|im_start|>tools
{% for tool in tools %}{{ tool | tojson + "\n" }}{% endfor %}
<|im_end|>{{ "\n" }}
{%- endif %}
{%- for message in messages %}
<|im_start|>{{ message.role }}{% if message.name %} name={{ message.name }}{% endif %}
{{ "\n" + (message.content or "") }}
{%- for call in message.tool_calls or [] %}
{{ "\n<tool_call>" + call.function.name + " " + call.function.arguments }}
{%- endfor %}
<|im_end|>{{ "\n" }}
{%- endfor %}
<|im_start|>{{ "assistant\n" }}"""
CHATML_MARKERS = ("<|im_start|>", "<|im_end|>")

SYSTEM_IN_LAST_USER = r"""
{%- set at = namespace(last_user=-1, system="") %}
{%- for message in messages %}
{%- if message.role in ["system", "developer"] %}
{%- set at.system = at.system + (message.content or "") + "\n\n" %}
{%- elif message.role == "user" %}
{%- set at.last_user = loop.index0 %}
{%- endif %}
{%- endfor %}
{%- if at.last_user < 0 %}{{ raise_exception("no user message can carry the instructions") }}{% endif %}
{{- bos_token }}
{%- for message in messages %}
{%- if message.role == "user" %}
{%- if loop.index0 == at.last_user and tools %}
{{- "[AVAILABLE_TOOLS]" + tools | tojson + "[/AVAILABLE_TOOLS]" }}
{%- endif %}
{{- "[INST]" + (at.system if loop.index0 == at.last_user else "") + (message.content or "") + "[/INST]" }}
{%- elif message.role == "assistant" %}
{{- message.content or "" }}
{%- for call in message.tool_calls or [] %}
{{- "[TOOL_CALLS]" + call.function.name + " " + call.function.arguments }}
{%- endfor %}
{{- eos_token }}
{%- elif message.role in ["tool", "function"] %}
{{- "[TOOL_RESULTS]" + (message.content or "") + "[/TOOL_RESULTS]" }}
{%- endif %}
{%- endfor %}"""
SYSTEM_IN_LAST_USER_MARKERS = (
    *("<s>", "</s>", "[INST]", "[/INST]", "[TOOL_CALLS]"),
    *("[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[TOOL_RESULTS]", "[/TOOL_RESULTS]"),
)

SPECIAL_TOKENS = "bos_token eos_token unk_token sep_token pad_token cls_token mask_token".split()


class Template:
    """A chat template in Jinja, as models come with: rendered in a sandbox, then counted whole.

    What the template prints is what is counted, once: a start token that it prints is not added again. Messages,
    tools and `add_generation_prompt` reach it as in transformers' `apply_chat_template`; keys without a value are
    left out. It is not additive as far as anybody knows: `request` is exact; `message` and `reply_start` are
    estimates from short conversations, good for choosing what to send before the whole is counted.

    Args:
        source: the template.
        counter: a callable that counts a text.
        markers: the texts that are special tokens: each counts 1, and no token reaches across it. Leave it empty
            when the counter knows them, as a `TokenizerFile` does, or when they are to be counted as text.
        variables: more that the template may use, such as {"bos_token": "<s>"}.
        tools_source: another template for requests with tools; some models have two.
        now: a datetime for templates that print the date; None is the clock, which changes counts.
        name: what the template is called in error messages.

    Raises:
        InputError: while rendering: the template is no Jinja, fails, refuses the messages, calls for what the
            sandbox does not give, or does too much work.
        MissingDependency: while rendering: Jinja2 is not installed.

    >>> from contextlab.tokens import BPE
    >>> source = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}<assistant>"
    >>> template = Template(source, BPE(), markers=("<user>", "<assistant>"))
    >>> template.render([{"role": "user", "content": "Hello"}])
    '<user>Hello<assistant>'
    >>> template.request([{"role": "user", "content": "Hello"}])
    3
    """

    additive = False

    def __init__(
        self,
        source: str,
        counter: Callable[[str], int],
        *,
        markers: Iterable[str] = (),
        variables: dict | None = None,
        tools_source: str | None = None,
        now: datetime | None = None,
        name: str = "the template",
    ) -> None:
        for text in (source, tools_source or ""):
            if not isinstance(text, str):
                raise InputError(f"{name} is no text but {type(text).__name__}")
        self.source = source
        self.counter = counter
        self.markers = tuple(markers)
        self.variables = _plain(variables or {}, "a variable")
        self.tools_source = tools_source
        self.now = now
        self.name = name
        self._sandboxes = {}
        self._rendering = allocate_lock()
        self._split = None
        self._estimates = None

    def __getstate__(self) -> dict:
        """What travels to another process: neither the lock nor the compiled template."""
        return {**self.__dict__, "_sandboxes": {}, "_rendering": None, "_split": None}

    def __setstate__(self, state: dict) -> None:
        self.__dict__.update(state, _rendering=allocate_lock())

    @classmethod
    def from_file(
        cls, path: str, counter: Callable[[str], int] | None = None, *, now: datetime | None = None
    ) -> Template:
        """Return the chat template of a model, from its tokenizer_config.json.

        A template of its own file, chat_template.jinja, is found beside it. No code of the model is run but the
        template, in the sandbox.

        Args:
            path: the file, or the folder that it is in.
            counter: what counts the text; the markers are then those that the file declares. None is the model's
                own vocabulary, tokenizer.json beside the file, which needs the package tokenizers.
            now: as in `Template`.

        Raises:
            InputError: a file is missing or is not what it has to be, or it has no chat template.
            MissingDependency: at the first count without a counter: tokenizers is not installed.
        """
        from os.path import basename, dirname, isdir, isfile, join

        path = join(path, "tokenizer_config.json") if isdir(path) else str(path)
        config = _read_json(path)
        template = config.get("chat_template")
        beside = join(dirname(path), "chat_template.jinja")
        if template is None and isfile(beside):
            template = _read_text(beside)
        if template is None:
            raise InputError(
                f"{path} has no chat_template, and there is no chat_template.jinja beside it: "
                "take the file of a model that was tuned for chats, or write the template and use Template(...)"
            )
        if isinstance(template, list):  # [{"name": "default", "template": "..."}, ...]
            template = {one.get("name"): one.get("template") for one in template if isinstance(one, dict)}
        if isinstance(template, dict):
            named = template
            template = named.get("default") or (next(iter(named.values())) if len(named) == 1 else None)
        else:
            named = {}
        if not isinstance(template, str):
            raise InputError(
                f"{path} has chat templates, but none of them is called default: {sorted(map(str, named))}"
            )

        variables = {}
        for name in SPECIAL_TOKENS:
            token = config.get(name)
            token = token.get("content") if isinstance(token, dict) else token
            if isinstance(token, str):
                variables[name] = token
        markers = ()
        if counter is None:
            from ..tokens import TokenizerFile

            counter = TokenizerFile(join(dirname(path), "tokenizer.json"))
        else:
            added = config.get("added_tokens_decoder")
            more = config.get("additional_special_tokens") or config.get("extra_special_tokens")
            listed = [
                *(added.values() if isinstance(added, dict) else ()),
                *(more.values() if isinstance(more, dict) else more if isinstance(more, list) else ()),
            ]
            listed = [one.get("content") if isinstance(one, dict) else one for one in listed]
            markers = {one for one in [*listed, *variables.values()] if isinstance(one, str) and one}
        return cls(
            template,
            counter,
            markers=sorted(markers),
            variables=variables,
            tools_source=named.get("tool_use"),
            now=now,
            name=f"the chat template of {basename(dirname(path)) or path}",
        )

    def render(self, messages: Iterable[Message | dict], tools: Sequence[dict] | None = None) -> str:
        """Return the whole request as the text that the model reads.

        Raises:
            InputError: the template fails or refuses the messages, or a message holds what is no text.
        """
        chat = [self._prepared(message, f"message {number}") for number, message in enumerate(messages)]
        variables = {
            **self.variables,
            "messages": chat,
            "tools": _plain(list(tools), "the tools") if tools else None,
            "documents": None,
            "add_generation_prompt": True,
        }
        source = self.tools_source if tools and self.tools_source else self.source
        with self._rendering:  # the sandbox counts the work of one render at a time
            try:
                sandbox = self._sandboxes.get(source) or self._sandbox(source)
                return sandbox.render(**variables)
            except (InputError, MissingDependency):
                raise
            except RecursionError:
                raise InputError(
                    f"{self.name} fails: it calls itself without an end, or is nested too deeply"
                ) from None
            except MemoryError:
                raise InputError(f"{self.name} fails: it needs more memory than there is") from None
            except Exception as error:  # a template can raise whatever Python can
                line = getattr(error, "lineno", None)
                where = f" in line {line}" if line else ""
                raise InputError(f"{self.name} fails{where}: {error or type(error).__name__}") from error

    def _sandbox(self, source: str):
        try:
            from .sandbox import Sandbox
        except ImportError as error:
            raise MissingDependency(
                f"{self.name} needs Jinja2 to be rendered: install it (pip install jinja2)"
            ) from error
        sandbox = self._sandboxes[source] = Sandbox(source, self.now)
        return sandbox

    def _prepared(self, message: Message | dict, where: str) -> dict:
        """Return a message as the template sees it."""
        if isinstance(message, Message):
            message = message.to_openai()
        if not isinstance(message, dict):
            raise InputError(f"{where} is no message but {type(message).__name__}")
        content_texts(message.get("content"))  # an image costs more than its marker: refuse it here
        return _plain({key: value for key, value in message.items() if value is not None}, where)

    def request(self, messages: Iterable[Message | dict], tools: Sequence[dict] | None = None) -> int:
        """Return the tokens of a whole request, counted as it is rendered."""
        return self.count(self.render(messages, tools))

    def count(self, text: str) -> int:
        """Return the tokens of a rendered text: 1 for each marker, and the pieces between them."""
        if not self.markers:
            return self.counter(text)
        if self._split is None:
            self._split = _splitter(self.markers)
        pieces = self._split(text)
        if len(pieces) == 1:
            return self.counter(text)
        return len(pieces) - 1 + sum(map(self.counter, filter(None, pieces)))

    def message(self, message: Message | dict) -> int:
        """Return an estimate of what a message adds to a request."""
        return self._estimate()[0] + self._texts(message)

    @property
    def reply_start(self) -> int:
        """An estimate of what a request costs beside its messages: start token, reply start, what is always there."""
        return self._estimate()[1]

    def tools_cost(self, tools: Sequence[dict] | None, messages: Sequence[Message | dict] | None = None) -> int:
        """Return what tools add to a request, the difference of two renders.

        Args:
            tools: the tools, in OpenAI's form.
            messages: the messages of the request; None is a short one with instructions.
        """
        if not tools:
            return 0
        messages = _SHORT if messages is None else messages
        return self.request(messages, tools) - self.request(messages)

    def _texts(self, message: Message | dict) -> int:
        _, content, name, calls, _ = fields_of(message)
        texts = [*content_texts(content), *([name] if name else ())]
        for call in calls or ():
            texts += call_texts(call)
        return sum(map(self.count, texts))

    def _estimate(self) -> tuple[int, int]:
        """Return what the template adds to a message, and to a request, measured on short conversations."""
        if self._estimates is None:
            system, user = _SHORT
            reply = {"role": "assistant", "content": user["content"]}
            texts = self._texts(user)
            one, three = self.request([user]), self.request([user, reply, user])
            each = max(0, -(-(three - one) // 2) - texts)
            try:
                rest = self.request([system, user]) - 2 * (each + texts)
            except InputError:  # some templates know no instructions
                rest = one - each - texts
            self._estimates = each, max(0, rest)
        return self._estimates

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.counter!r})"


_SHORT = ({"role": "system", "content": "Hello"}, {"role": "user", "content": "Hello"})


class _OurTemplate(Template):
    """What the two templates of the book share: known roles, texts only, calls with a name and arguments."""

    def _prepared(self, message: Message | dict, where: str) -> dict:
        role, content, name, calls, _ = fields_of(message)
        check_role(role)
        prepared = {"role": role, "content": "\n".join(content_texts(content))}
        if name:
            prepared["name"] = str(name)
        if calls:
            named = (call_texts(call) for call in calls)
            prepared["tool_calls"] = [{"function": {"name": name, "arguments": "".join(rest)}} for name, *rest in named]
        return prepared


class ChatML(_OurTemplate):
    r"""ChatML: each message between two markers, its role on the first line. Additive: no render is needed to count it.

    The form is that of OpenAI's ChatML (openai-python, chatml.md); tools stand in a message of their own, calls after
    the text of the reply. Neither has one form that all models share.

    Args:
        counter: a callable that counts a text.
        special_tokens: whether the markers are special tokens, one each, as a model's tokenizer has them. Encoded as
            plain text they cost several each and mean nothing to the model; then the template is not additive.

    >>> from contextlab.tokens import BPE
    >>> chat = [Message("user", "Hello")]
    >>> ChatML(BPE()).render(chat)
    '<|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\n'
    >>> ChatML(BPE()).request(chat), ChatML(BPE(), special_tokens=False).request(chat)
    (9, 23)
    """

    def __init__(self, counter: Callable[[str], int], special_tokens: bool = True) -> None:
        super().__init__(CHATML, counter, markers=CHATML_MARKERS if special_tokens else (), name="ChatML")
        self.additive = special_tokens
        self._fixed = None

    def message(self, message: Message | dict) -> int:
        """Return the tokens of one message inside a request: exact when the template is additive.

        Raises:
            InputError: the role is none of `contextlab.chat.ROLES`, the content is no text, or a call has no name.
        """
        return self.count(self._block(self._prepared(message, "the message")))

    def _block(self, message: dict) -> str:
        """The text of a message: what the Jinja template prints, without Jinja."""
        name = f" name={message['name']}" if "name" in message else ""
        text = f"<|im_start|>{message['role']}{name}\n{message['content']}"
        for call in message.get("tool_calls", ()):
            text += f"\n<tool_call>{call['function']['name']} {call['function']['arguments']}"
        return f"{text}<|im_end|>\n"

    @property
    def reply_start(self) -> int:
        """The tokens that open the reply."""
        if self._fixed is None:
            self._fixed = self.count("<|im_start|>assistant\n")
        return self._fixed

    def tools_cost(self, tools: Sequence[dict] | None, messages: Sequence[Message | dict] | None = None) -> int:
        """Return the tokens of the tools: a message of their own, the same in every request."""
        return self.count(self._tools_block(tools)) if tools else 0

    def _tools_block(self, tools: Sequence[dict]) -> str:
        import json

        lines = "".join(json.dumps(tool, ensure_ascii=False) + "\n" for tool in _plain(list(tools), "the tools"))
        return f"<|im_start|>tools\n{lines}<|im_end|>\n"

    def text(self, messages: Iterable[Message | dict], tools: Sequence[dict] | None = None) -> str:
        """Return what `render` returns, put together without Jinja."""
        blocks = [self._block(self._prepared(message, f"message {i}")) for i, message in enumerate(messages)]
        return "".join([self._tools_block(tools) if tools else "", *blocks, "<|im_start|>assistant\n"])

    def request(self, messages: Iterable[Message | dict], tools: Sequence[dict] | None = None) -> int:
        """Return the tokens of a whole request."""
        if self.additive:
            return self.reply_start + sum(map(self.message, messages)) + self.tools_cost(tools)
        return self.count(self.text(messages, tools))


class SystemInLastUser(_OurTemplate):
    r"""A template that moves the instructions into the last user message. Not additive.

    Several families do so; Mistral's versions 2 and 3 are the model for this one. Where the instructions stand then
    depends on the newest message, so each request holds them at another place, and no message has a price of its
    own. A request without a user message is an error: nothing could carry the instructions.

    Args:
        counter: a callable that counts a text.
        special_tokens: whether the markers are special tokens, one each, or text.

    >>> from contextlab.tokens import BPE
    >>> chat = [Message("system", "Be brief."), Message("user", "Hello")]
    >>> SystemInLastUser(BPE()).render(chat)
    '<s>[INST]Be brief.\n\nHello[/INST]'
    """

    def __init__(self, counter: Callable[[str], int], special_tokens: bool = True) -> None:
        super().__init__(
            SYSTEM_IN_LAST_USER,
            counter,
            markers=SYSTEM_IN_LAST_USER_MARKERS if special_tokens else (),
            variables={"bos_token": "<s>", "eos_token": "</s>"},
            name="SystemInLastUser",
        )

    def message(self, message: Message | dict) -> int:
        """Return an estimate of what a message adds to a request: its text, and the markers that its role brings."""
        prepared = self._prepared(message, "the message")
        if prepared["role"] in INSTRUCTION_ROLES:
            return self.count(prepared["content"] + "\n\n")
        return self._count_pieces(self._block(prepared))

    def text(self, messages: Iterable[Message | dict], tools: Sequence[dict] | None = None) -> str:
        """Return what `render` returns, put together without Jinja.

        Raises:
            InputError: no user message can carry the instructions, or a message is none of those that `message` takes.
        """
        return "".join(self._pieces(messages, tools))

    def _pieces(self, messages: Iterable[Message | dict], tools: Sequence[dict] | None) -> list[str]:
        """The text of a request: its markers, and what stands between two of them."""
        chat = [self._prepared(message, f"message {i}") for i, message in enumerate(messages)]
        system = "".join([one["content"] + "\n\n" for one in chat if one["role"] in INSTRUCTION_ROLES])
        last_user = max([i for i, one in enumerate(chat) if one["role"] == "user"], default=-1)
        if last_user < 0:
            raise InputError(f"{self.name} fails: no user message can carry the instructions")
        pieces = ["<s>"]
        for i, one in enumerate(chat):
            if i == last_user and tools:
                import json

                listed = json.dumps(_plain(list(tools), "the tools"), ensure_ascii=False)
                pieces += "[AVAILABLE_TOOLS]", listed, "[/AVAILABLE_TOOLS]"
            if one["role"] not in INSTRUCTION_ROLES:
                pieces += self._block(one, system if i == last_user else "")
        return pieces

    def _block(self, message: dict, inserted: str = "") -> list[str]:
        """The pieces of a message that is no instruction: what the Jinja template prints, without Jinja."""
        role, content = message["role"], message["content"]
        if role == "user":
            return ["[INST]", inserted + content, "[/INST]"]
        if role in ("tool", "function"):
            return ["[TOOL_RESULTS]", content, "[/TOOL_RESULTS]"]
        calls = [call["function"] for call in message.get("tool_calls", ())]
        called = [piece for call in calls for piece in ("[TOOL_CALLS]", f"{call['name']} {call['arguments']}")]
        return [content, *called, "</s>"]

    def request(self, messages: Iterable[Message | dict], tools: Sequence[dict] | None = None) -> int:
        """Return the tokens of a whole request."""
        return self._count_pieces(self._pieces(messages, tools))

    def _count_pieces(self, pieces: list[str]) -> int:
        """Return the tokens of the joined pieces; no token reaches across a marker, so each piece has its count."""
        if not self.markers:
            return self.count("".join(pieces))
        markers = SYSTEM_IN_LAST_USER_MARKERS
        return sum([1 if piece in markers else self.count(piece) for piece in pieces if piece])

    @property
    def reply_start(self) -> int:
        """The start token; the reply itself begins after the last marker."""
        return self.count("<s>")


def _splitter(markers: Sequence[str]) -> Callable[[str], list[str]]:
    """Return a function that gives the pieces of a text between its markers: leftmost first, then longest first."""
    import re

    firsts = {marker[0] for marker in markers}
    longest_first = sorted(markers, key=len, reverse=True)
    split = re.compile("|".join(map(re.escape, longest_first))).split

    def between(text: str) -> list[str]:
        for first in firsts:  # most texts hold no marker: a look for its first character is faster than the search
            if first in text:
                return split(text)
        return [text]

    return between


def _plain(value: object, where: str, depth: int = 0):
    """Return `value` as plain JSON data: what a template is shown has no methods of its own."""
    if value is None or type(value) in (str, int, float, bool):
        return value
    if depth < 64:
        if isinstance(value, dict):
            return {str(key): _plain(inner, where, depth + 1) for key, inner in value.items()}
        if isinstance(value, list | tuple):
            return [_plain(inner, where, depth + 1) for inner in value]
    elif isinstance(value, dict | list | tuple):
        raise InputError(f"{where} is nested deeper than 64 levels")
    raise InputError(f"{where} holds a {type(value).__name__}: only JSON data is rendered")


def _read_text(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as stream:
            return stream.read()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text: byte at offset {error.start}") from None


def _read_json(path: str) -> dict:
    import json

    try:
        config = json.loads(_read_text(path))
    except (json.JSONDecodeError, RecursionError) as error:
        where = f"line {error.lineno}, {error.msg}" if isinstance(error, json.JSONDecodeError) else "nested too deeply"
        raise InputError(f"{path} is not JSON: {where}") from None
    if not isinstance(config, dict):
        raise InputError(f"{path} is no tokenizer_config.json: it holds a {type(config).__name__}, not an object")
    return config
