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


def _parser():
    parser = _Parser(prog="contextlab", description="Predict, price and repair what a long chat forgets.")
    commands = parser.add_subparsers(dest="command", metavar="command", required=True, parser_class=_Parser)

    lab = commands.add_parser(
        "lab", help="replay the 200-turn chat: when is the name forgotten, and what does it cost?"
    )
    lab.add_argument("--seed", type=int, metavar="N", help="seed of the scripted chat (default: 20261105)")
    lab.add_argument("--turns", type=int, default=200, metavar="N", help="turns of the chat, at least 2 (default: 200)")
    lab.add_argument(
        "--budget",
        type=int,
        action="append",
        metavar="N",
        help="input budget in units; repeat it for several (default: 4000, 8000 and 32000)",
    )
    lab.add_argument(
        "--reply-reserve", type=int, default=0, metavar="N", help="units kept free for the reply (default: 0)"
    )
    lab.add_argument(
        "--reply-sentences", type=int, nargs=2, metavar=("LO", "HI"), help="sentences of a reply (default: 9 15)"
    )
    lab.add_argument("--summary-without-facts", action="store_true", help="the rolling summary keeps topics only")
    lab.add_argument("--json", action="store_true", help="print JSON")
    lab.add_argument("--trace", action="store_true", help="with --json: every message and every request")
    lab.set_defaults(run=_lab)

    count = commands.add_parser("count", help="count a text with one counter, or with all of them side by side")
    count.add_argument("file", nargs="?", default="-", metavar="FILE", help="a UTF-8 text (default: standard input)")
    count.add_argument("--counter", metavar="NAME", help="chars, pieces, cl100k_base or o200k_base")
    count.add_argument("--json", action="store_true", help="print JSON")
    count.set_defaults(run=_count)
    return parser


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

    print(json.dumps(value, ensure_ascii=False))


def main(arguments=None):
    """Run the command with these arguments (default: those of the process); return the exit status.

    Bad input gives one line on standard error and the status 2.
    """
    try:
        options = _parser().parse_args(arguments)
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
