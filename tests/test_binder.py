"""What Binder does: an environment from exactly requirements.txt, JupyterLab, each notebook run through its server."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
import uuid
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
TOKEN = "for-this-test"
SECONDS = 180  # for a start of the server, or for one cell

pytestmark = pytest.mark.thorough


def run(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """The files of the project in another folder, as a service would clone them, and an environment beside them."""
    folder = tmp_path_factory.mktemp("binder") / "checkout"
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    for name in filter(None, os.fsdecode(listed).split("\0")):
        if (ROOT / name).is_file():
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, target)
    environment = folder.parent / "environment"
    run([sys.executable, "-m", "venv", str(environment)])
    # The last line of the file is a dot: the package itself, built from the checkout.
    pip = [environment / "bin" / "python", "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    run([*pip, "-r", "requirements.txt"], cwd=folder)
    return folder


@pytest.fixture(scope="module")
def server(checkout):
    """The address of a running JupyterLab of that environment."""
    binaries = checkout.parent / "environment" / "bin"
    own = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")}
    own |= {
        "PATH": f"{binaries}{os.pathsep}{own['PATH']}",
        "JUPYTER_PREFER_ENV_PATH": "1",
        "HOME": str(checkout.parent),
    }
    command = [binaries / "jupyter", "lab", "--no-browser", "--port=0", "--ip=127.0.0.1", "--allow-root"]
    with open(checkout.parent / "log", "w+", encoding="utf-8") as log:
        process = subprocess.Popen(
            [*command, f"--IdentityProvider.token={TOKEN}"], cwd=checkout, env=own, stdout=log, stderr=log
        )
        try:
            until = time.monotonic() + SECONDS
            address = None
            while address is None and time.monotonic() < until and process.poll() is None:
                time.sleep(0.5)
                text = (checkout.parent / "log").read_text(encoding="utf-8")
                address = re.search(r"http://127\.0\.0\.1:\d+/", text)
            assert address, (checkout.parent / "log").read_text(encoding="utf-8")[-3000:]
            yield address[0]
        finally:
            process.terminate()
            process.wait(30)


def ask(server, path, data=None, method=None):
    request = urllib.request.Request(
        f"{server}{path}",
        data=None if data is None else json.dumps(data).encode(),
        headers={"Authorization": f"token {TOKEN}", "Content-Type": "application/json"},
        method=method,
    )
    with urllib.request.urlopen(request, timeout=SECONDS) as answer:
        body = answer.read()
    return json.loads(body) if body else None


def printed(outputs):
    """What a cell wrote to its streams."""
    return "".join("".join(output["text"]) for output in outputs if output["output_type"] == "stream")


class Kernel:
    """A kernel of the server, spoken to as JupyterLab does: one WebSocket, messages as JSON."""

    def __init__(self, server, folder):
        import websocket

        session = {
            "path": f"{folder}/{uuid.uuid4()}.ipynb",
            "type": "notebook",
            "name": "",
            "kernel": {"name": "python3"},
        }
        self.server, self.session = server, ask(server, "api/sessions", session)
        channels = f"api/kernels/{self.session['kernel']['id']}/channels?token={TOKEN}"
        self.socket = websocket.create_connection(server.replace("http", "ws") + channels, timeout=SECONDS)

    def execute(self, code):
        """Run one cell; return what it printed, and its error as text or None."""
        header = {
            "msg_id": uuid.uuid4().hex,
            "msg_type": "execute_request",
            "username": "",
            "session": "",
            "version": "5.3",
        }
        content = {"code": code, "silent": False, "store_history": True, "user_expressions": {}, "allow_stdin": False}
        message = {"header": header, "parent_header": {}, "metadata": {}, "content": content, "channel": "shell"}
        self.socket.send(json.dumps(message))
        text, error = "", None
        while True:
            answer = json.loads(self.socket.recv())
            if answer["parent_header"].get("msg_id") != header["msg_id"]:
                continue
            kind, content = answer["header"]["msg_type"], answer["content"]
            if kind == "stream":
                text += content["text"]
            elif kind == "error":
                error = f"{content['ename']}: {content['evalue']}"
            elif kind == "status" and content["execution_state"] == "idle":
                return text, error

    def close(self):
        self.socket.close()
        ask(self.server, f"api/sessions/{self.session['id']}", method="DELETE")


def test_the_package_is_the_one_of_the_environment(server, checkout):
    kernel = Kernel(server, "notebooks")
    text, error = kernel.execute("import contextlab; print(contextlab.__file__)")
    kernel.close()
    assert error is None
    assert Path(text.strip()).is_relative_to(checkout.parent / "environment")


def test_the_server_shows_jupyterlab_and_the_notebook_of_the_launch_link(server):
    for path in (
        "lab/tree/notebooks/00_a_chat_forgets.ipynb",
        "api/contents/notebooks/00_a_chat_forgets.ipynb?content=0",
    ):
        request = urllib.request.Request(f"{server}{path}", headers={"Authorization": f"token {TOKEN}"})
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:
            assert answer.status == 200
    with pytest.raises(urllib.error.HTTPError):
        ask(server, "api/contents/notebooks/no_such.ipynb")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_through_the_server_and_prints_what_the_page_shows(server, path):
    notebook = ask(server, f"api/contents/notebooks/{path.name}")["content"]
    kernel = Kernel(server, "notebooks")
    try:
        for cell in notebook["cells"]:
            if cell["cell_type"] == "code":
                text, error = kernel.execute("".join(cell["source"]))
                assert error is None, f"cell {cell['id']}: {error}"
                assert text == printed(cell["outputs"]), f"cell {cell['id']}"
    finally:
        kernel.close()
