"""Runs a student's cells, inside the sandbox, and hands out values as plain data. Nothing in here is a secret.

This file runs alone, under `python -I -S`, in the same process as the student's code, and the student's code can
change all of it. That gains nothing: right answers are not in this process, and hidden inputs come one by one after
the cells have run. Lines of JSON come in (file descriptor 0 at the start) and go out (1 at the start).
"""

import io
import json
import os
import signal
import sys

LARGEST = 500_000  # characters of one answer
DEEPEST = 20


class TimeUp(BaseException):
    """The time of a cell or of a call is over; `except Exception` does not catch it."""


class NotPlain(Exception):
    """A value is no plain data; the argument is the name of its type."""


def plain(value, depth=0):
    """Return ``value`` as lists, dicts and scalars of exactly the built-in types, or raise `NotPlain`."""
    kind = type(value)
    if kind in (type(None), bool, int, str):
        return value
    if kind is float:
        if value != value or value in (float("inf"), float("-inf")):
            raise NotPlain(f"float {value}")
        return value
    if depth < DEEPEST:
        if kind in (list, tuple):
            return [plain(item, depth + 1) for item in value]
        if kind is range:
            return list(value[:LARGEST])
        if kind is dict and all(type(key) is str for key in value):
            return {key: plain(item, depth + 1) for key, item in value.items()}
    raise NotPlain(kind.__name__)


class Bounded(io.StringIO):
    """A stream that keeps its first characters and forgets the rest."""

    def write(self, text):
        left = 2000 - self.tell()
        if left > 0:
            super().write(text[:left])
        return len(text)


def limit(settings):
    """Set the limits of memory, files and processor time; they cannot be raised again."""
    import resource

    def put(name, most):
        resource.setrlimit(getattr(resource, name), (most, most))

    put("RLIMIT_AS", settings["memory"])
    put("RLIMIT_FSIZE", 10_000_000)
    put("RLIMIT_CORE", 0)
    put("RLIMIT_NOFILE", 64)
    put("RLIMIT_CPU", settings["seconds_in_all"] + 5)


def timed(seconds, function, *args):
    """Call a function; after ``seconds`` `TimeUp` is raised in it, again and again until it ends."""
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds, 0.5)
        try:
            return function(*args)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except TimeUp:
        signal.setitimer(signal.ITIMER_REAL, 0)
        raise


def run_cell(text, file, names):
    """Run the text of a cell among the names of those before it."""
    exec(compile(text, file, "exec"), names)


def described(error):
    """Return name, text and line of an error in a cell."""
    line, trace = None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename.startswith("<cell"):
            line = trace.tb_lineno
        trace = trace.tb_next
    try:
        text = str(error)[:500]
    except BaseException:
        text = ""
    return {"name": type(error).__name__, "text": text, "line": getattr(error, "lineno", None) or line}


def main():
    incoming, outgoing = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)
    settings = json.loads(incoming.readline())
    limit(settings)

    def ring(number, frame):
        raise TimeUp

    signal.signal(signal.SIGALRM, ring)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.stdin = io.StringIO()

    def say(message):
        outgoing.write(json.dumps(message).encode() + b"\n")
        outgoing.flush()

    names = {"__name__": "__main__", "__builtins__": __builtins__}
    main_module = type(sys)("__main__")
    main_module.__dict__.update(names)
    sys.modules["__main__"] = main_module
    names = main_module.__dict__

    for cell, text in settings["cells"]:
        say({"at": cell})
        sys.stdout = sys.stderr = Bounded()
        error = None
        try:
            timed(settings["seconds"], run_cell, text, f"<cell {cell}>", names)
        except TimeUp:
            error = {"name": "TimeUp", "text": f"the cell ran longer than {settings['seconds']} seconds", "line": None}
        except BaseException as raised:
            error = described(raised)
        say({"cell": cell, "error": error, "printed": sys.stdout.getvalue() if type(sys.stdout) is Bounded else ""})
    say({"ready": True})

    for line in incoming:
        ask = json.loads(line)
        sys.stdout = sys.stderr = Bounded()
        try:
            if ask["name"] not in names:
                answer = {"missing": True}
            else:
                found = names[ask["name"]]
                if ask["args"] is not None:
                    found = timed(settings["seconds"], found, *ask["args"])
                answer = {"plain": timed(settings["seconds"], plain, found)}
                if len(json.dumps(answer)) > LARGEST:
                    answer = {"not plain": "a very large value"}
        except NotPlain as kind:
            answer = {"not plain": str(kind)[:60]}
        except TimeUp:
            answer = {"error": "TimeUp"}
        except BaseException as raised:
            answer = {"error": type(raised).__name__[:60]}
        try:
            say(answer)
        except (MemoryError, ValueError) as raised:
            say({"error": type(raised).__name__})


if __name__ == "__main__":
    main()
