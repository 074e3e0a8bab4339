"""Chat templates run in a sandbox, and no template runs for ever.

A template comes with a model, so it is a stranger's program. Jinja's immutable sandbox keeps it from Python's
internals and from changing what it is given. It does not keep a template from looping through 100,000 times 100,000
passes or from building a text of a terabyte. `Sandbox` counts the work, a step for each pass of a loop, call, filter
and operation, and stops at a limit that grows with the chat; it counts, so the same template stops at the same step
everywhere. Methods and filters whose work the arguments do not bound are not available.

The settings are those of transformers' `apply_chat_template`: blocks trimmed, loop controls, a `tojson` that escapes
nothing, `raise_exception`, `strftime_now`, and the `generation` tag, which marks replies for training.
"""

from __future__ import annotations

import json
import re
from datetime import datetime
from time import monotonic

from jinja2 import TemplateError, ext, nodes, utils
from jinja2.runtime import Macro
from jinja2.sandbox import ImmutableSandboxedEnvironment, SecurityError
from jinja2.visitor import NodeTransformer

__all__ = ["Sandbox", "TooMuchWork"]

SECONDS = 10.0  # the last resort, for work that steps do not see; a millisecond more for each value in the chat
LONGEST_SOURCE = 1_000_000  # characters of a template

METHODS = {
    str: "strip lstrip rstrip split rsplit splitlines startswith endswith upper lower title capitalize swapcase "
    "replace join find rfind index rindex count format isdigit isalpha isalnum isnumeric isdecimal isspace isupper "
    "islower istitle removeprefix removesuffix partition rpartition",
    list: "index count copy",
    tuple: "index count",
    dict: "get items keys values copy",
}
METHODS = {kind: frozenset(names.split()) for kind, names in METHODS.items()}

FILTERS = frozenset(
    "abs attr batch capitalize count d default dictsort e escape first float format groupby indent int items join last "
    "length list lower map max min reject rejectattr replace reverse round safe select selectattr slice sort string "
    "sum title tojson trim truncate unique upper wordcount".split()
)
# Filters with a number that decides how long their result is: its position after the value, its name, the most.
NUMBERS = {"indent": (0, "width", 200), "round": (0, "precision", 100), "slice": (0, "slices", 10_000)}


class TooMuchWork(TemplateError):
    """The template was stopped at its limit."""


class _Meter:
    """The work of one render so far, and its limits."""

    __slots__ = ("deadline", "longest", "out", "seconds", "steps", "steps_limit")

    def __init__(self, steps: int, longest: int, seconds: float = SECONDS) -> None:
        self.steps = self.out = 0
        self.steps_limit = steps
        self.longest = longest  # characters of a text, elements of a list, and a quarter of what is written in all
        self.seconds = seconds
        self.deadline = monotonic() + seconds

    def step(self, steps: int = 1) -> None:
        self.steps += steps
        if self.steps > self.steps_limit:
            raise TooMuchWork(f"it was stopped after {self.steps_limit:,} steps: it loops too often")
        if monotonic() > self.deadline:
            raise TooMuchWork(f"it was stopped after {self.seconds:.0f} seconds")

    def size(self, size: int) -> None:
        if size > self.longest:
            raise TooMuchWork(f"it was stopped: it builds a value of {size:,} characters or elements")

    def write(self, characters: int) -> None:
        self.out += characters
        if self.out > 4 * self.longest:
            raise TooMuchWork(f"it was stopped: it writes more than {4 * self.longest:,} characters")

    def weigh(self, value: object) -> int:
        """Charge a step for each element inside `value`, at any depth; return its size."""
        if isinstance(value, str):
            return len(value)
        if isinstance(value, range):
            self.step(len(value))
        if not isinstance(value, list | tuple | dict):
            return 1
        size, open_values = 0, [value]
        while open_values:
            one = open_values.pop()
            inner = [*one.keys(), *one.values()] if isinstance(one, dict) else one
            size += len(inner) + 1
            self.step(len(inner) + 1)
            for element in inner:
                if isinstance(element, str):
                    size += len(element)
                elif isinstance(element, list | tuple | dict):
                    open_values.append(element)
            self.size(size)
        return size


class _Namespace(utils.Namespace):
    """Jinja's namespace, which holds what a loop changes; printing one prints nothing of what it holds."""

    def __init__(*args, **kwargs):
        self, *rest = args
        utils.Namespace.__init__(self, *rest, **kwargs)
        for name in dict(*rest, **kwargs):
            _Namespace._check(name)

    def __setitem__(self, name, value):
        _Namespace._check(name)
        utils.Namespace.__setitem__(self, name, value)

    @staticmethod
    def _check(name):
        if isinstance(name, str) and name.startswith("_"):
            raise SecurityError(f"a namespace holds no name that begins with an underscore: {name}")

    def __repr__(self):
        return "<namespace>"


class _Generation(ext.Extension):
    """The tag `{% generation %}` of training templates: its body is rendered as if the tag were not there."""

    tags = {"generation"}  # noqa: RUF012 - Jinja's interface

    def parse(self, parser):
        next(parser.stream)
        return parser.parse_statements(["name:endgeneration"], drop_needle=True)


class _CountWork(NodeTransformer):
    """Put a step into every loop and macro; measure joined texts and new lists; refuse other templates."""

    @staticmethod
    def _call(name, arguments, like):
        call = nodes.Call(nodes.EnvironmentAttribute(name), arguments, [], None, None)
        return call.set_lineno(like.lineno)

    def _with_step(self, node):
        self.generic_visit(node)
        static = sum(len(data.data) for part in node.body for data in _with_self(part, nodes.TemplateData))
        step = self._call("step_of_template", [nodes.Const(static)], node)
        node.body.insert(0, nodes.ExprStmt(step, lineno=node.lineno))
        return node

    def visit_For(self, node):
        node = self._with_step(node)
        if node.test is not None:  # passes that the test refuses reach no body
            node.iter = self._call("weighed", [node.iter], node)
        return node

    visit_Macro = visit_CallBlock = _with_step

    def visit_Concat(self, node):
        self.generic_visit(node)
        return self._call("joined", node.nodes, node)

    def _built(self, node):
        self.generic_visit(node)
        return node if getattr(node, "ctx", "load") != "load" else self._call("weighed", [node], node)

    visit_List = visit_Tuple = visit_Dict = _built

    def visit_Getitem(self, node):
        self.generic_visit(node)
        if isinstance(node.arg, nodes.Slice):
            node.node = self._call("sliced", [node.node], node)
        return node

    def _refuse(self, node):
        raise TemplateError("it calls another template: one that stands alone is needed")

    visit_Include = visit_Import = visit_FromImport = visit_Extends = _refuse


def _with_self(node, kind):
    yield from node.find_all(kind)
    if isinstance(node, kind):
        yield node


class Sandbox(ImmutableSandboxedEnvironment):
    """A Jinja environment for one template; `render` is its only use.

    Args:
        source: the template.
        now: what `strftime_now` tells; None is the clock.

    Raises:
        jinja2.TemplateError, RecursionError, …: whatever Jinja finds wrong; the caller gives it a context.
    """

    intercepted_binops = frozenset(("+", "-", "*", "/", "//", "%", "**"))

    def __init__(self, source: str, now: datetime | None = None) -> None:
        super().__init__(
            trim_blocks=True,
            lstrip_blocks=True,
            extensions=[_Generation, ext.loopcontrols],
            optimized=False,  # nothing is computed while compiling, where no meter runs
            finalize=self._written,
            cache_size=0,
        )
        self.meter = _Meter(100_000, 1_000_000)
        self.filters = {name: self._metered(name, self.filters[name]) for name in FILTERS - {"tojson"}}
        self.filters["tojson"] = self._tojson
        self.globals = {
            "range": self.globals["range"],
            "dict": lambda *args, **kwargs: self.weighed(dict(*args, **kwargs)),
            "namespace": _Namespace,
            "cycler": self.globals["cycler"],
            "joiner": self.globals["joiner"],
            "raise_exception": _raise_exception,
            "strftime_now": lambda form: (now or datetime.now()).strftime(form),
        }
        if len(source) > LONGEST_SOURCE:
            raise TooMuchWork(f"it has {len(source):,} characters; at most {LONGEST_SOURCE:,} are read")
        self.template = self.from_string(source)

    def render(self, **variables) -> str:
        """Return the rendered text; the limits grow with the size of the variables."""
        measure = _Meter(10**9, 10**9)
        size = measure.weigh(variables)
        seconds = SECONDS + measure.steps / 1000
        self.meter = _Meter(200_000 + 200 * measure.steps + size, 1_000_000 + 8 * size, seconds)
        return "".join(self.template.generate(**variables))

    def _parse(self, source, name, filename):
        return _CountWork().visit(super()._parse(source, name, filename))

    # What the compiled template calls.

    def step_of_template(self, static):
        self.meter.step()
        self.meter.write(static)

    def weighed(self, value):
        self.meter.weigh(value)
        return value

    def joined(self, *values):
        for value in values:
            self.meter.weigh(value)
        texts = list(map(str, values))
        self.meter.size(sum(map(len, texts)))
        return "".join(texts)

    def sliced(self, value):
        self.meter.step(1 + (len(value) // 100 if isinstance(value, str | list | tuple) else 0))
        return value

    def _written(self, value):
        self.meter.write(self.meter.weigh(value))
        return value

    # What Jinja asks of a sandbox.

    def is_safe_attribute(self, obj, attr, value):
        for kind, names in METHODS.items():
            if isinstance(obj, kind):
                return attr in names
        if isinstance(obj, int | float | complex | bytes | range):
            return False
        return super().is_safe_attribute(obj, attr, value)

    def call(self, context, obj, /, *args, **kwargs):
        owner = getattr(obj, "__self__", None)
        if owner is self:
            return obj(*args)
        self.meter.step()
        if isinstance(owner, str):
            args = self._text_method(owner, obj.__name__, args)
        result = super().call(context, obj, *args, **kwargs)
        if not isinstance(obj, Macro):  # its text was measured as it was written
            self.meter.size(len(result) if isinstance(result, str | list | tuple | dict) else 0)
        return result

    def wrap_str_format(self, value):
        formatted = super().wrap_str_format(value)
        if formatted is None:
            return None

        def measured(*args, **kwargs):
            self._format(value.__self__, (*args, *kwargs.values()), "{")
            return formatted(*args, **kwargs)

        return measured

    def call_binop(self, context, operator, left, right):
        self.meter.step()
        sequences = (str, list, tuple)
        if operator == "*" and (isinstance(left, sequences) or isinstance(right, sequences)):
            sequence, times = (left, right) if isinstance(left, sequences) else (right, left)
            if isinstance(times, int):
                self.meter.size(len(sequence) * max(times, 0))
                self.meter.step(len(sequence) * max(times, 0) // 100)
        elif operator == "+" and isinstance(left, sequences) and isinstance(right, sequences):
            self.meter.size(len(left) + len(right))
            self.meter.step((len(left) + len(right)) // 100)
        elif operator == "%" and isinstance(left, str):
            self._format(left, right if isinstance(right, tuple) else (right,), "%")
        elif operator == "**" and not (isinstance(right, int | float) and abs(right) <= 64):
            raise TooMuchWork("it was stopped: it raises to a power above 64")
        result = super().call_binop(context, operator, left, right)
        if isinstance(result, int) and result.bit_length() > 4096:
            raise TooMuchWork("it was stopped: it builds a number of more than 4,096 bits")
        return result

    # Methods and filters with the sizes of their results known before they run.

    def _text_method(self, text, name, args):
        self.meter.step(len(text) // 1000)
        if name == "replace" and len(args) >= 2:
            self._replace(text, *args[:2])
        elif name == "join" and args:
            values = list(args[0])
            self._join(values, text)
            args = (values, *args[1:])
        return args

    def _replace(self, text, old, new):
        if isinstance(old, str) and isinstance(new, str):
            places = text.count(old)
            self.meter.size(len(text) + places * max(len(new) - len(old), 0))

    def _join(self, values, between):
        size = sum(self.meter.weigh(value) for value in values)
        self.meter.size(size + len(str(between)) * len(values))
        self.meter.step(len(values))

    def _format(self, form, values, sign):
        if re.search(r"\d{4}", form) or (sign == "%" and "*" in form) or re.search(r"\{[^{}]*:[^{}]*\{", form):
            raise TooMuchWork("it was stopped: it formats to a width that it does not need")
        longest = max((self.meter.weigh(value) for value in values), default=0)
        self.meter.size(len(form) + form.count(sign) * longest)

    def _tojson(self, value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        self.meter.step()
        if indent is not None and (len(indent) if isinstance(indent, str) else indent) > 40:
            raise TooMuchWork("it was stopped: it indents JSON by more than 40 characters")
        self.meter.size(6 * self.meter.weigh(value))
        return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

    def _metered(self, name, function):
        """Return the filter with its work counted; `function` may want Jinja's context as its first argument."""
        wants_context = getattr(function, "jinja_pass_arg", None) is not None

        def metered(*args, **kwargs):
            first, *rest = args[1:] if wants_context else args
            if name == "join" and hasattr(first, "__next__"):
                first = list(first)
                args = (*args[:wants_context], first, *rest)
            self.meter.step(1 + (len(first) // 1000 if isinstance(first, str) else 0))
            if isinstance(first, list | tuple | dict | range):
                self.meter.step(len(first))
            self._check_filter(name, first, rest, kwargs)
            result = function(*args, **kwargs)
            if isinstance(result, str | list | tuple | dict):
                self.meter.size(len(result))
                return result
            return self._stepping(result) if hasattr(result, "__next__") else result

        metered.__dict__.update(getattr(function, "__dict__", {}))
        return metered

    def _check_filter(self, name, first, rest, kwargs):
        if name in NUMBERS:
            place, keyword, most = NUMBERS[name]
            number = rest[place] if len(rest) > place else kwargs.get(keyword, 0)
            if (len(number) if isinstance(number, str) else abs(number)) > most:
                raise TooMuchWork(f"it was stopped: it calls the filter {name} with a number above {most:,}")
            if name == "indent" and isinstance(first, str):
                width = len(number) if isinstance(number, str) else number
                self.meter.size(len(first) + (first.count("\n") + 1) * width)
        elif name == "replace" and len(rest) >= 2 and isinstance(first, str):
            self._replace(first, *rest[:2])
        elif name == "format" and isinstance(first, str):
            self._format(first, (*rest, *kwargs.values()), "%")
        elif name == "sum" and not isinstance(rest[1] if len(rest) > 1 else kwargs.get("start", 0), int | float):
            raise SecurityError("the filter sum adds numbers only")
        elif name in ("join", "string", "trim", "upper", "lower", "title", "capitalize", "escape", "e", "wordcount"):
            size = self.meter.weigh(first)
            if name == "join" and isinstance(first, list | tuple | dict):
                self.meter.size(size + len(first) * len(str(rest[0] if rest else kwargs.get("d", ""))))

    def _stepping(self, iterator):
        for element in iterator:
            self.meter.step()
            yield element


def _raise_exception(message):
    raise TemplateError(str(message))
