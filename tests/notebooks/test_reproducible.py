"""The committed notebooks are what their cells give, byte for byte, from any folder and without a network."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

import notebooks

ROOT = Path(__file__).resolve().parents[2]
BLOCKED = {"PYTHONPATH": str(ROOT / "tools" / "no_network")}


def test_executing_them_elsewhere_gives_the_same_files(tmp_path):
    command = [sys.executable, ROOT / "tools" / "notebooks.py", "--check", "--cwd", tmp_path]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 0, f"run `make notebooks` and look at the difference\n{run.stdout}{run.stderr[-4000:]}"


@pytest.mark.parametrize(
    "attempt",
    [
        "socket.create_connection(('192.0.2.1', 80), 1)",
        "socket.socket().connect_ex(('192.0.2.1', 80))",
        "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'', ('192.0.2.1', 53))",
        "socket.getaddrinfo('example.org', 443)",
        "urllib.request.urlopen('http://example.org')",
    ],
)
def test_a_cell_cannot_leave_this_machine(attempt):
    code = f"import socket, urllib.request\n{attempt}"
    run = subprocess.run([sys.executable, "-c", code], env=os.environ | BLOCKED, capture_output=True, text=True)
    assert run.returncode != 0 and "the network is blocked" in run.stderr


def test_a_kernel_can_still_talk_to_its_own_machine():
    code = """
import socket
listening = socket.create_server(("127.0.0.1", 0))
socket.create_connection(listening.getsockname()).close()
socket.getaddrinfo("localhost", 80)
"""
    subprocess.run([sys.executable, "-c", code], env=os.environ | BLOCKED, check=True)


def test_ids_and_cuts_of_a_run_leave_no_trace():
    state = {"b" * 32: {"state": {"layout": "IPY_MODEL_" + "a" * 32}}, "a" * 32: {"state": {}}}
    view = {notebooks.WIDGET_STATE.replace("state", "view"): {"model_id": "b" * 32}}
    cells = [nbformat.v4.new_code_cell("x", metadata={"execution": {"iopub.status.busy": "2026"}})]
    cells[0].outputs = [
        nbformat.v4.new_output("stream", name="stdout", text="one "),
        nbformat.v4.new_output("stream", name="stdout", text="two"),
        nbformat.v4.new_output("display_data", data=view),
    ]
    notebook = nbformat.v4.new_notebook(cells=cells, metadata={"widgets": {notebooks.WIDGET_STATE: {"state": state}}})
    notebooks.normalise(notebook, "name")
    text = json.dumps(notebook)
    assert "a" * 32 not in text and "b" * 32 not in text and "busy" not in text
    assert notebook.cells[0].outputs[0].text == "one two"
    first, second = notebook.metadata.widgets[notebooks.WIDGET_STATE]["state"]
    assert notebook.cells[0].outputs[1].data[next(iter(view))]["model_id"] == first
    assert second in notebook.metadata.widgets[notebooks.WIDGET_STATE]["state"][first]["state"]["layout"]


def test_a_name_that_a_person_gave_to_a_cell_stays():
    cells = [nbformat.v4.new_markdown_cell("# 00 x", id=name) for name in ("the-walk", "0a1b2c3d", "cell-9")]
    notebook = nbformat.v4.new_notebook(cells=cells)
    notebooks.normalise(notebook, "name")
    assert [cell.id for cell in notebook.cells] == ["the-walk", "cell-002", "cell-003"]
