"""The command `contextlab`: what it prints is computed by the library, module by module."""

from __future__ import annotations

import argparse
import sys

from .errors import ContextLabError, InputError

# Modules and json are imported by the subcommand that needs them: starting is most of the time of a short command.

LAB_BUDGETS = (4000, 8000, 32000)
STRATEGIES = ("keep_newest", "pinned_note", "rolling_summary")
TRACE_COLUMNS = "turn input_units messages_kept messages_dropped oldest_turn_kept name_visible header_units".split()


def _help_layout(prog):
    # Left to itself, argparse asks the terminal for its width at every start, not only for --help: 2 ms of imports.
    return argparse.HelpFormatter(prog, width=78)


class _Parser(argparse.ArgumentParser):
    def __init__(self, **options):
        super().__init__(formatter_class=_help_layout, **options)

    def error(self, message):
        raise InputError(f"{message} (try: {self.prog} --help)")


def _parser(called):
    """Return the parser; only the command that is ``called`` has its options, since each costs every start."""
    parser = _Parser(prog="contextlab", description="Predict, price and repair what a long chat forgets.")
    commands = parser.add_subparsers(dest="command", metavar="command", required=True, parser_class=_Parser)
    for name, (purpose, add_options, run) in COMMANDS.items():
        command = commands.add_parser(name, help=purpose)
        command.set_defaults(run=run)
        if name == called:
            add_options(command)
    return parser


def _lab_options(parser):
    parser.add_argument("--seed", type=int, metavar="N", help="seed of the scripted chat (default: 20261105)")
    parser.add_argument(
        "--turns", type=int, default=200, metavar="N", help="turns of the chat, at least 2 (default: 200)"
    )
    parser.add_argument(
        "--budget",
        type=int,
        action="append",
        metavar="N",
        help="input budget in units; repeat it for several (default: 4000, 8000 and 32000)",
    )
    parser.add_argument(
        "--reply-reserve", type=int, default=0, metavar="N", help="units kept free for the reply (default: 0)"
    )
    parser.add_argument(
        "--reply-sentences", type=int, nargs=2, metavar=("LO", "HI"), help="sentences of a reply (default: 9 15)"
    )
    parser.add_argument("--summary-without-facts", action="store_true", help="the rolling summary keeps topics only")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--trace", action="store_true", help="with --json: every message and every request")


def _count_options(parser):
    parser.add_argument("file", nargs="?", default="-", metavar="FILE", help="a UTF-8 text (default: standard input)")
    parser.add_argument("--counter", metavar="NAME", help="chars, pieces, cl100k_base or o200k_base")
    parser.add_argument("--json", action="store_true", help="print JSON")


def _kv_options(parser):
    parser.add_argument("model", nargs="?", metavar="MODEL", help="a name of the model table, such as llama-3.1-8b")
    parser.add_argument("--config", metavar="FILE", help="a Hugging Face config.json, in place of a name")
    parser.add_argument("--tokens", type=int, required=True, metavar="N", help="tokens of each sequence")
    parser.add_argument("--layers", type=int, metavar="N", help="layers of a model of your own")
    parser.add_argument("--kv-heads", type=int, metavar="N", help="its KV heads a layer")
    parser.add_argument("--head-dim", type=int, metavar="N", help="elements of a key, and of a value")
    parser.add_argument("--kv-lora-rank", type=int, metavar="R", help="elements of its latent (MLA)")
    parser.add_argument("--rope-dim", type=int, metavar="D", help="elements of the position part beside the latent")
    parser.add_argument("--decompressed", action="store_true", help="the latent is held expanded for every head")
    parser.add_argument("--dtype", default="fp16", metavar="TYPE", help="element type of the cache (default: fp16)")
    parser.add_argument("--batch", type=int, default=1, metavar="N", help="sequences (default: 1)")
    parser.add_argument("--beams", type=int, default=1, metavar="N", help="beams of each sequence (default: 1)")
    parser.add_argument("--window", type=int, metavar="W", help="tokens that a sliding layer looks back on")
    parser.add_argument("--full-every", type=int, metavar="K", help="every so many layers one is full")
    parser.add_argument(
        "--window-cap",
        default="window",
        metavar="CAP",
        help="what a sliding layer holds at most: window, window-1, blocks, or none (default: window)",
    )
    parser.add_argument("--block-size", type=int, metavar="N", help="tokens a block, when memory comes in blocks")
    parser.add_argument("--tp", type=int, default=1, metavar="N", help="ranks of tensor parallelism (default: 1)")
    parser.add_argument("--json", action="store_true", help="print JSON")


def _assemble_options(parser):
    parser.add_argument("file", metavar="REQUEST.json", help="a list of messages, or an object with messages and tools")
    parser.add_argument("--window", type=int, required=True, metavar="N", help="tokens of the context window")
    parser.add_argument("--max-output-tokens", type=int, required=True, metavar="N", help="tokens kept for the reply")
    parser.add_argument("--margin", type=int, default=0, metavar="N", help="tokens kept free besides (default: 0)")
    parser.add_argument("--tools", metavar="FILE", help="a JSON list of tools, in place of those of the request")
    parser.add_argument(
        "--pin", action="append", default=[], metavar="TEXT", help="a pinned note; repeat it for several"
    )
    parser.add_argument("--counter", default="o200k_base", metavar="NAME", help="as in count (default: o200k_base)")
    parser.add_argument(
        "--template",
        default="openai",
        metavar="NAME",
        help="openai, plain, chatml, system-in-last-user, or a tokenizer_config.json (default: openai)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def _lab(options):
    from . import forecast
    from .keep import KeepNewest
    from .pins import PinnedNote
    from .render import PlainRule
    from .replay import CountedChat, replay
    from .script import NAME, REPLY_SENTENCES, SEED, scripted_chat
    from .summary import RollingSummary
    from .tokens import WordPieces

    if options.turns < 2:
        raise InputError(f"--turns is at least 2, not {options.turns}: a forecast needs a turn after the first")
    if options.trace and not options.json:
        raise InputError("--trace goes with --json")
    seed = SEED if options.seed is None else options.seed
    messages = scripted_chat(options.turns, seed, options.reply_sentences or REPLY_SENTENCES)
    chat = CountedChat(messages, PlainRule(WordPieces()))
    average_turn = forecast.sizes(chat).mean_turn
    summary_options = {"extract": None} if options.summary_without_facts else {}

    runs = []
    for budget in options.budget or LAB_BUDGETS:
        traces = {}
        for strategy in STRATEGIES:
            policy = {"keep_newest": KeepNewest, "pinned_note": PinnedNote}.get(strategy)
            policy = policy() if policy else RollingSummary(**summary_options)
            traces[strategy] = replay(chat, policy, input_budget=budget, reply_reserve=options.reply_reserve, fact=NAME)
        # The published forecast knows nothing of a reply reserve.
        runs.append((budget, forecast.published(chat.room(budget), average_turn), traces))

    if options.json:
        _print_json(_lab_json(chat, average_turn, runs, options.trace))
    else:
        _print_lab(seed, options, average_turn, runs)


def _lab_json(chat, average_turn, runs, with_trace):
    result = {"average_turn": average_turn}
    if with_trace:
        history = chat.history
        result["messages"] = {
            "columns": ["turn", "role", "topic", "units_with_overhead"],
            "rows": [
                [message.turn, message.role, message.topic, history.units(i, i + 1)]
                for i, message in enumerate(history.messages)
            ],
        }
    result["runs"] = []
    for budget, predicted, traces in runs:
        strategies = {}
        for strategy, trace in traces.items():
            strategies[strategy] = {
                "gone_at_turn": trace.gone_at_turn,
                "turns_visible": trace.turns_visible,
                "total_input_units": trace.total_input_units,
                "mean_messages_kept": trace.mean_messages_kept,
                "header_units_min_max": list(trace.header_units_min_max),
            }
            if with_trace:
                strategies[strategy]["trace_columns"] = TRACE_COLUMNS
                strategies[strategy]["trace"] = [list(map(int, row)) for row in trace.rows]
        result["runs"].append({"input_budget": budget, "predicted_drop_turn": predicted, "strategies": strategies})
    return result


def _print_lab(seed, options, average_turn, runs):
    print(f"A scripted chat of {options.turns} turns (seed {seed}); the name is said once, in turn 1.")
    print(f"Units are approximate (word pieces). An average turn has {average_turn:.1f} units.")
    if options.reply_reserve:
        print(f"Reply reserve: {options.reply_reserve:,} units, off every budget; the prediction does not know of it.")
    header = ("budget", "predicted", "strategy", "gone at", "with the name", "input units", "messages", "note units")
    rows = [header]
    for budget, predicted, traces in runs:
        for strategy, trace in traces.items():
            first = strategy == STRATEGIES[0]
            least, most = trace.header_units_min_max
            rows.append(
                (
                    f"{budget:,}" if first else "",
                    str(predicted) if first else "",
                    strategy.replace("_", "-" if strategy == "keep_newest" else " "),
                    "never" if trace.gone_at_turn is None else str(trace.gone_at_turn),
                    f"{trace.turns_visible} of {len(trace)}",
                    f"{trace.total_input_units:,}",
                    f"{trace.mean_messages_kept:.2f}",
                    str(most) if least == most else f"{least} to {most}",
                )
            )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        if row[0] or row is header:
            print()
        cells = [
            cell.ljust(w) if i == 2 else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths, strict=True))
        ]
        print("  ".join(cells).rstrip())


def _count(options):
    from .tokens import COUNTERS, get_counter

    counters = [get_counter(name) for name in ([options.counter] if options.counter else COUNTERS)]
    text = _read_text(options.file)
    counts = {counter.name: counter(text) for counter in counters}
    if options.json:
        _print_json(counts)
    elif options.counter:
        print(counts[counters[0].name])
    else:
        print(f"{len(text):,} characters")
        width = max(len(f"{count:,}") for count in counts.values())
        for counter in counters:
            print(f"{counter.name:<11}  {counts[counter.name]:>{width},}  {counter.unit}")


def _kv(options):
    from . import kv

    shape = _kv_shape(options, kv)
    if options.window is not None:
        shape = shape.with_window(options.window, options.full_every)
    elif options.full_every is not None:
        raise InputError("--full-every says which layers do not slide: it goes with --window")
    if options.decompressed:
        shape = shape.expanded()
    size = kv.cache_size(
        shape,
        options.tokens,
        dtype=options.dtype,
        batch=options.batch,
        beams=options.beams,
        window_cap=options.window_cap,
        block_size=options.block_size,
        tp=options.tp,
    )
    if options.json:
        _print_json({**size._asdict(), "terms": [term._asdict() for term in size.terms]})
        return
    print(f"The KV cache of {shape.name or options.config or 'a model of your own'}")
    lines = [
        (term.name, term.value if isinstance(term.value, str) else f"{term.value:,}", term.unit) for term in size.terms
    ]
    widths = [max(len(line[i]) for line in lines) for i in (0, 1)]
    for name, value, unit in lines:
        print(f"{name:<{widths[0]}}  {value:>{widths[1]}}  {unit}")
    print(f"{'':<{widths[0]}}  = {kv.binary(size.bytes)} = {kv.decimal(size.bytes)}")
    if options.model is not None:
        row = next(row for row in kv.models() if row["name"] == shape.name)
        print(f"Source: {row['source']}")
        if "note" in row:
            print(f"Note: {row['note']}")


def _kv_shape(options, kv):
    own = ("layers", "kv_heads", "head_dim", "kv_lora_rank", "rope_dim")
    given = [f"--{name.replace('_', '-')}" for name in own if getattr(options, name) is not None]
    if options.model is not None and options.config is not None:
        raise InputError("give a model or --config, not both")
    if options.model is None and options.config is None:
        if options.layers is None:
            raise InputError("name a model, or give --config FILE, or --layers, --kv-heads and --head-dim")
        return kv.described_shape(*(getattr(options, name) for name in own))
    if given:
        raise InputError(f"{', '.join(given)} describe a model of your own: leave them out, or the model's name")
    if options.model is not None:
        return kv.model(options.model)
    import json

    try:
        config = json.loads(_read_text(options.config))
    except json.JSONDecodeError as error:
        raise InputError(f"{options.config} is not JSON: line {error.lineno}, {error.msg}") from None
    return kv.from_config(config)


def _assemble(options):
    from .assembler import TEMPLATES, assemble
    from .tokens import get_counter

    counter = get_counter(options.counter)
    template = options.template
    if template not in TEMPLATES and template.endswith(".json"):
        from .render import Template

        template = Template.from_file(template, counter)
    content = _read_json(options.file)
    whole = isinstance(content, dict)
    messages, tools = (content.get("messages"), content.get("tools")) if whole else (content, None)
    if options.tools:
        tools = _read_json(options.tools)
    for value, what, file in (
        (messages, "messages", options.file),
        (tools or [], "tools", options.tools or options.file),
    ):
        if not isinstance(value, list):
            raise InputError(f"{file} has no list of {what}: expected a list, or an object with messages and tools")
    request = assemble(
        messages,
        window=options.window,
        max_output_tokens=options.max_output_tokens,
        margin=options.margin,
        tools=tools,
        pinned=options.pin,
        counter=counter,
        template=template,
    )
    if options.json:
        _print_json(request.as_dict())
    else:
        _print_request(request, counter.unit)


def _print_request(request, unit):
    print(f"{request.input_tokens:,} of {request.budget:,} {unit} ({request.counter}, {request.exact})")
    width = max(map(len, request.parts), default=0)
    for part, tokens in request.parts.items():
        print(f"  {part:<{width}}  {tokens:>8,}")
    kept, dropped = (sum(map(len, groups)) for groups in (request.kept_groups, request.dropped_groups))
    turn = "" if request.oldest_turn_kept is None else f", from turn {request.oldest_turn_kept} on"
    print(f"kept {kept} of {kept + dropped} messages{turn}; with nothing left out: {request.tokens_before:,}")
    for stage in request.stages:
        indices = f" (messages {', '.join(map(str, stage.indices))})" if stage.indices else ""
        print(f"{stage.name}: {stage.tokens:,} {unit}, {stage.note}{indices}")


def _trace_options(parser):
    from .cli_trace import add_options

    add_options(parser)


def _trace(options):
    from .cli_trace import run

    run(options, _print_json)


def _read_json(file):
    import json

    try:
        return json.loads(_read_text(file))
    except json.JSONDecodeError as error:
        name = "standard input" if file == "-" else file
        raise InputError(f"{name} is not JSON: line {error.lineno}, column {error.colno}: {error.msg}") from None
    except RecursionError:
        raise InputError(f"{file} is nested too deeply to be a request") from None


def _read_text(file):
    name = "standard input" if file == "-" else file
    try:
        if file == "-":
            data = sys.stdin.buffer.read()
        else:
            with open(file, "rb") as stream:
                data = stream.read()
    except OSError as error:
        raise InputError(f"cannot read {name}: {error.strerror or error}") from None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{name} is not UTF-8 text: byte 0x{data[error.start]:02x} at offset {error.start}; save it as UTF-8"
        ) from None


def _print_json(value):
    import json

    try:
        print(json.dumps(value, ensure_ascii=False))
    except UnicodeEncodeError:  # half of a surrogate pair, or a terminal that lacks a letter
        print(json.dumps(value))


# Name -> what it is for, what adds its options, what runs it.
COMMANDS = {
    "lab": (
        "replay the 200-turn chat: when is the name forgotten, and what does it cost?",
        _lab_options,
        _lab,
    ),
    "count": (
        "count a text with one counter, or with all of them side by side",
        _count_options,
        _count,
    ),
    "kv": (
        "size the KV cache of a model: the bytes, and every term they come from",
        _kv_options,
        _kv,
    ),
    "assemble": (
        "fit a chat into a window: the request to send, and what was left out",
        _assemble_options,
        _assemble,
    ),
    "trace": (
        "read a chat of your own: when does it forget, and what did it send?",
        _trace_options,
        _trace,
    ),
}


def main(arguments=None):
    """Run the command with these arguments (default: those of the process); return the exit status.

    Bad input gives one line on standard error and the status 2.
    """
    try:
        arguments = sys.argv[1:] if arguments is None else arguments
        options = _parser(next(iter(arguments), None)).parse_args(arguments)
        options.run(options)
        sys.stdout.flush()
    except ContextLabError as error:
        print(f"contextlab: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader of a pipe (head, say) has what it wanted
        sys.stdout = None
        return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
