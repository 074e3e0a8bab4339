"""Chats of a big export, read by contextlab and by the standard library: each in a process of its own.

    python bench/reading.py write FILE MB   make an export of this size, shaped like ChatGPT's
    python bench/reading.py read FILE       read it with contextlab.histories
    python bench/reading.py load FILE       read it with json.load, all at once

The last two print their peak memory in MB.
"""

from __future__ import annotations

import atexit
import json
import random
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

WORDS = "tide harbour lantern boat sail knot river stone map the of and a in to é 李 😀".split()


def conversation(draw: random.Random, number: int, messages: int = 30) -> dict:
    """Return one conversation of ChatGPT's export; every tenth question was edited once."""
    mapping = {"root": {"id": "root", "parent": None, "children": [], "message": None}}
    parent = "root"
    for index in range(messages):
        key = f"{number:08x}-{index:04x}-4000-8000-000000000000"
        keys = [key + "-edited", key] if index % 10 == 0 else [key]
        for one in keys:
            text = " ".join(draw.choices(WORDS, k=draw.choice([20, 60, 200])))
            mapping[one] = {"id": one, "parent": parent, "children": [], "message": message(one, index, text)}
            mapping[parent]["children"].append(one)
        parent = key
    about = {"title": f"Chat {number}", "create_time": 1.7e9 + number, "update_time": 1.7e9 + number + 60}
    return {**about, "mapping": mapping, "current_node": parent, "conversation_id": f"c{number}", "id": f"c{number}"}


def message(key: str, index: int, text: str) -> dict:
    return {
        "id": key,
        "author": {"role": "assistant" if index % 2 else "user", "name": None, "metadata": {}},
        "create_time": 1.7e9 + index,
        "update_time": None,
        "content": {"content_type": "text", "parts": [text]},
        "status": "finished_successfully",
        "end_turn": True,
        "weight": 1.0,
        "metadata": {"model_slug": "m", "request_id": "x" * 20, "timestamp_": "absolute"},
        "recipient": "all",
        "channel": "final",
    }


def write(path: Path, megabytes: float) -> None:
    """Write conversations until the file has this size."""
    draw, number = random.Random(1), 0
    with path.open("wb") as stream:
        while stream.tell() < megabytes * 1e6:
            text = json.dumps(conversation(draw, number), ensure_ascii=False)
            stream.write((b"," if number else b"[") + text.encode())
            number += 1
        stream.write(b"]")


def sides(megabytes: float) -> tuple[list[str], list[str]]:
    """Return the two commands over one new file, which is removed at the end."""
    folder = TemporaryDirectory()
    atexit.register(folder.cleanup)
    path = Path(folder.name) / "conversations.json"
    write(path, megabytes)
    command = [sys.executable, __file__]
    return [*command, "read", str(path)], [*command, "load", str(path)]


def peak(command: list[str]) -> float:
    """Return the MB of memory that a command says it took at most."""
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def own_peak() -> float:
    """Return the peak memory of this process in MB."""
    status = Path("/proc/self/status")
    if status.exists():  # what the system tells of a child elsewhere may be the peak of its parent
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024 / 1e6
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)


def main(what: str, path: str, megabytes: str = "100") -> None:
    if what == "write":
        write(Path(path), float(megabytes))
        return
    if what == "read":
        from contextlab import histories

        messages = 0
        reading = histories.read(path)
        for one in reading:
            messages += len(one.messages)
        assert messages == reading.report.shown > 0
    else:
        with open(path, encoding="utf-8") as stream:
            assert json.load(stream)
    print(own_peak())


if __name__ == "__main__":
    main(*sys.argv[1:])
