"""A process of its own for a student's code: no network, a read-only system, nothing of the course in sight."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import platform
import select
import shutil
import struct
import subprocess
import sys
import time
from collections import namedtuple
from pathlib import Path

INSIDE = Path(__file__).with_name("inside.py")
LONGEST = 2_000_000  # bytes of one line from inside

Limits = namedtuple("Limits", "seconds seconds_in_all memory", defaults=(5, 60, 1_000_000_000))
Limits.__doc__ = "Seconds of one cell or call, seconds of one submission in all, bytes of memory."


class NoSandbox(RuntimeError):
    """There is no sandbox on this machine."""


class Lost(Exception):
    """The process ended, or did not answer in time; the argument says which."""


def python() -> tuple[str, list[str]]:
    """Return the interpreter without its environment, and the folders that hold its installed packages."""
    base = os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)
    command = [base, "-I", "-c", "import site, sys; print(sys.prefix, *site.getsitepackages(), sep='\\n')"]
    prefix, *packages = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\n")[:-1]
    return base, [prefix, *packages]


# Numbers of system calls: denied ones (fork, vfork, ptrace, unshare, setns), clone, clone3.
_CALLS = {
    "x86_64": (0xC000003E, (57, 58, 101, 272, 308), 56, 435),
    "aarch64": (0xC00000B7, (117, 97, 268), 220, 435),
}


def no_new_processes() -> bytes | None:
    """Return a filter for the kernel that refuses new processes and allows threads; None on other machines."""
    if platform.machine() not in _CALLS:
        return None
    architecture, denied, clone, clone3 = _CALLS[platform.machine()]
    allow, refuse, kill = 0x7FFF0000, 0x00050001, 0x80000000  # refuse: "operation not permitted"
    absent = 0x00050000 | 38  # "no such call": the C library falls back to clone
    load, equal, test, end = 0x20, 0x15, 0x45, 0x06
    steps = [(load, 0, 0, 4), (equal, 1, 0, architecture), (end, 0, 0, kill), (load, 0, 0, 0)]
    for number in denied:
        steps += [(equal, 0, 1, number), (end, 0, 0, refuse)]
    steps += [(equal, 0, 1, clone3), (end, 0, 0, absent)]
    # clone with the flag CLONE_THREAD (0x10000) starts a thread.
    steps += [(equal, 0, 3, clone), (load, 0, 0, 16), (test, 1, 0, 0x10000), (end, 0, 0, refuse), (end, 0, 0, allow)]
    return b"".join(struct.pack("HBBI", *step) for step in steps)


@functools.cache
def walls() -> tuple[str, ...]:
    """Return the command that everything inside begins with; raises `NoSandbox` where bubblewrap does not work."""
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        raise NoSandbox("bubblewrap (the command bwrap) is not installed: apt-get install bubblewrap")
    base, (prefix, *packages) = python()
    command = [bwrap, "--unshare-all", "--die-with-parent", "--new-session", "--clearenv", "--cap-drop", "ALL"]
    command += ["--unshare-user", "--uid", "65534", "--gid", "65534", "--hostname", "grading"]
    seen = ["/usr"] if Path(prefix).is_relative_to("/usr") else ["/usr", prefix]
    for folder in seen:
        command += ["--ro-bind", folder, folder]
    for name in ("bin", "lib", "lib32", "lib64", "sbin"):
        path = Path("/", name)
        if path.is_symlink():
            command += ["--symlink", os.readlink(path), str(path)]
        elif path.is_dir():
            command += ["--ro-bind", str(path), str(path)]
    # The standard library alone: neither this book's library nor anybody's copy of it.
    for folder in dict.fromkeys([*packages, "/usr/lib/python3", "/usr/local"]):
        in_sight = Path(folder).is_dir() and any(Path(folder).is_relative_to(one) for one in seen)
        if in_sight and not Path(prefix).is_relative_to(folder):
            command += ["--tmpfs", folder, "--remount-ro", folder]
    command += ["--ro-bind", str(INSIDE), "/grading/inside.py", "--proc", "/proc", "--dev", "/dev"]
    command += ["--size", "50000000", "--tmpfs", "/tmp", "--chdir", "/tmp", "--setenv", "PATH", "/usr/bin"]
    command += ["--setenv", "LC_ALL", "C.UTF-8", "--setenv", "HOME", "/tmp", "--remount-ro", "/"]
    tried = subprocess.run([*command, base, "-I", "-S", "-c", ""], capture_output=True, text=True, check=False)
    if tried.returncode:
        raise NoSandbox(f"bubblewrap does not work here: {tried.stderr.strip() or tried.returncode}")
    return (*command, "--", base)


class Process:
    """A student's process. ``run`` the cells first, then ``ask`` as often as needed; `Lost` ends it."""

    def __init__(self, limits: Limits, walled: bool = True, ends: float | None = None):
        self.limits = limits
        self.ends = time.monotonic() + limits.seconds_in_all if ends is None else ends
        self.at = None  # the cell that runs
        fds = ()
        if walled:
            command = list(walls())
            filter_ = no_new_processes()
            if filter_ is not None:
                read, write = os.pipe()
                os.write(write, filter_)
                os.close(write)
                fds = (read,)
                command[-2:-2] = ["--seccomp", str(read)]
            script = "/grading/inside.py"
        else:
            command, script = [python()[0]], str(INSIDE)
        self.process = subprocess.Popen(
            [*command, "-I", "-S", "-B", script],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            pass_fds=fds,
            cwd="/",
            start_new_session=True,
        )
        for fd in fds:
            os.close(fd)
        self._rest = b""

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.process.kill()
        for stream in (self.process.stdin, self.process.stdout):
            with contextlib.suppress(OSError):  # what was not sent yet is of no use any more
                stream.close()
        self.process.wait()

    def run(self, cells: list[tuple[str, str]]) -> list[dict]:
        """Run the cells; return one dict a cell: ``cell``, ``error`` (a dict or None), ``printed``."""
        self._send({**self.limits._asdict(), "cells": cells})
        done = []
        for name, _ in cells:
            if self._receive(self._patience()) != {"at": name}:
                raise Lost("the process wrote out of turn")
            self.at = name
            done.append(_seen(self._receive(self._patience()), name))
        if self._receive(self._patience()) != {"ready": True}:
            raise Lost("the process wrote out of turn")
        return done

    def ask(self, name: str, args: list | None) -> dict:
        """Return the answer to one question: a dict with one of ``plain``, ``not plain``, ``error``, ``missing``."""
        if self._rest or select.select([self.process.stdout.fileno()], [], [], 0)[0]:
            raise Lost("the process wrote out of turn, or ended")
        self._send({"name": name, "args": args})
        return self._receive(self._patience())

    def _patience(self) -> float:
        """Seconds for one step: code that catches what ends it costs its own time, not that of the other cells."""
        return min(2 * self.limits.seconds + 1, self.ends - time.monotonic())

    def _send(self, message: dict) -> None:
        try:
            self.process.stdin.write(json.dumps(message).encode() + b"\n")
            self.process.stdin.flush()
        except OSError:
            raise Lost("the process ended") from None

    def _receive(self, seconds: float) -> dict:
        until = time.monotonic() + max(0.0, seconds)
        stdout = self.process.stdout.fileno()
        while b"\n" not in self._rest:
            if not select.select([stdout], [], [], max(0.0, until - time.monotonic()))[0]:
                raise Lost("no answer in time")
            piece = os.read(stdout, 65536)
            self._rest += piece
            if not piece:
                raise Lost("the process ended")
            if len(self._rest) > LONGEST:
                raise Lost("the process wrote too much")
        line, self._rest = self._rest.split(b"\n", 1)
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            message = None
        if not isinstance(message, dict):
            raise Lost("the process wrote what is no answer")
        return message


def _seen(message: dict, name: str) -> dict:
    """Return what a cell is said to have done, with values of the expected types; the student's code may have said it.

    Raises `Lost` when it is another message.
    """
    error = message.get("error")
    if message.get("cell") != name or not (error is None or isinstance(error, dict)):
        raise Lost("the process wrote out of turn")
    if error is not None:
        line = error.get("line")
        text = {key: str(error.get(key, ""))[:500] for key in ("name", "text")}
        error = {**text, "line": line if isinstance(line, int) else None}
    return {"cell": name, "error": error, "printed": str(message.get("printed", ""))[:2000]}
