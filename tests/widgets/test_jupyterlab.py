"""The widgets in a real JupyterLab: traits seen from Python after a click, and a saved notebook that opens alive."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from urllib.request import urlopen

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from contextlab.widgets import library

pytestmark = pytest.mark.thorough

WRONG = library.find("05-1").data()["variants"][0]["wrong"][0]
CELLS = [
    "from contextlab.widgets import check, drop_explorer, exercise, outcome, progress",
    "number = exercise('05-1')\nnumber",
    "code = exercise('05-4')\ncode",
    "guess = exercise('05-p', elsewhere=True)\nguess",
    "outcome('05-p')",
    "dates = drop_explorer()\ndates",
    "progress('05')",
    "number",
]
ASK = "print(repr(number.answer), number.tries, number.slip, number.solved, number.hints, dates.settings)"
CHECK = "def drop_turn(costs, room):\n    return None\n\n\nif number.tries:\n    print(check('05-4', drop_turn))"


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lab")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = os.environ | {
        "JUPYTER_CONFIG_DIR": str(folder / "config"),
        "JUPYTER_DATA_DIR": str(folder / "data"),
        "JUPYTER_RUNTIME_DIR": str(folder / "runtime"),
        "JUPYTERLAB_SETTINGS_DIR": str(folder / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(folder / "workspaces"),
        "IPYTHONDIR": str(folder / "ipython"),
        "JUPYTER_PREFER_ENV_PATH": "1",
    }
    settings = folder / "settings" / "@jupyter-widgets" / "jupyterlab-manager"
    settings.mkdir(parents=True)
    (settings / "plugin.jupyterlab-settings").write_text('{"saveState": true}')
    work = folder / "work"
    work.mkdir()
    command = [
        sys.executable,
        "-m",
        "jupyterlab",
        "--no-browser",
        "--allow-root",
        "--LabApp.news_url=",
        f"--port={port}",
    ]
    command += ["--ServerApp.port_retries=0", "--IdentityProvider.token=", f"--ServerApp.root_dir={work}"]
    with (folder / "log").open("w") as log:
        running = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    try:
        for _ in range(240):
            try:
                urlopen(f"http://127.0.0.1:{port}/api", timeout=2).close()
                break
            except OSError:
                assert running.poll() is None, (folder / "log").read_text()
                time.sleep(0.25)
        yield work, f"http://127.0.0.1:{port}/lab/tree/"
    finally:
        running.terminate()
        running.wait(20)


def command(page, menu: str, item: str) -> None:
    page.get_by_role("menuitem", name=menu, exact=True).first.click()
    page.locator(".lm-Menu-item", has_text=item).first.click()


def run(page, code: str, wanted: str) -> None:
    """Run a cell of the notebook again and wait for what it has to print."""
    cell = page.locator(".jp-CodeCell").filter(has=page.locator(".jp-InputArea", has_text=code.splitlines()[0]))
    cell.locator(".cm-content").click()
    page.keyboard.press("Control+Enter")
    cell.locator(".jp-OutputArea-output", has_text=wanted).wait_for(timeout=20_000)


def hears(widget, text: str) -> None:
    """Wait until a text stands in the widget: with a kernel, a change may take a moment."""
    widget.filter(has_text=text).wait_for(timeout=10_000)


def open_notebook(browser, url):
    context = browser.new_context(viewport={"width": 1300, "height": 2600})
    page = context.new_page()
    complaints = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(url)
    page.wait_for_selector(".jp-Notebook", timeout=60_000)
    return context, page, complaints


def test_a_notebook_is_worked_saved_and_opened_again(browser, lab):
    work, address = lab
    path: Path = work / "demo.ipynb"
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}}
    nbformat.write(new_notebook(cells=[new_code_cell(cell) for cell in [*CELLS, ASK, CHECK]], metadata=kernel), path)

    context, page, complaints = open_notebook(browser, f"{address}demo.ipynb?reset")
    page.locator("#jp-bottom-panel", has_text="| Idle").wait_for(timeout=60_000)
    command(page, "Run", "Run All Cells")
    page.wait_for_function("document.querySelectorAll('.clw-live').length === 7 || document.querySelector('dialog')")
    if page.locator("dialog").count():  # a JupyterLab that is new to a folder may ask for the kernel
        page.locator("dialog button", has_text="Select").last.click()
        command(page, "Run", "Run All Cells")
    page.wait_for_function("document.querySelectorAll('.clw-live').length === 7", timeout=60_000)

    number = page.locator(".clw[data-kind=number]").first
    number.locator("input.clw-number").first.fill(WRONG["value"])
    number.locator("input.clw-number").first.press("Enter")
    hears(number, "Not yet:")
    number.get_by_role("button", name="Hint").click()
    second = page.locator(".clw[data-kind=number]").nth(1)
    hears(second, "Not yet:")  # another view of the same model
    page.locator(".clw[data-kind=drop] input[type=range]").nth(1).press("ArrowRight")
    hears(page.locator(".clw[data-kind=drop]"), "from request 18")

    # An arrow key in a widget stays in the widget, and does not move between cells.
    guess = page.locator(".clw[data-kind=predict]")
    guess.locator("input.clw-number").fill("12")
    guess.get_by_label("sure", exact=True).press("Space")
    guess.get_by_label("sure", exact=True).press("ArrowRight")
    assert guess.get_by_label("unsure").is_checked()
    guess.get_by_role("button", name="Keep my guess").click()
    after = page.locator(".clw[data-kind=outcome]")
    after.get_by_role("button", name="Compare with my guess").click()
    hears(after, "Right:")

    settings = "{'budget': 4000, 'reserve': 250, 'stretch': 100, 'request': 0}"
    run(page, ASK, f"'{WRONG['value']}' 1 {WRONG['slip']} False 1 {settings}")
    run(page, CHECK, "Not yet: `drop_turn(")
    hears(page.locator(".clw[data-kind=code]"), "Not yet:")

    page.keyboard.press("Control+s")
    page.wait_for_function("!document.querySelector('.jp-mod-dirty')", timeout=20_000)
    page.wait_for_timeout(1500)
    assert complaints == []
    context.close()

    saved = json.loads(path.read_text())
    state = saved["metadata"]["widgets"]["application/vnd.jupyter.widget-state+json"]["state"]
    kinds = [one["state"].get("kind") for one in state.values()]
    assert sorted(filter(None, kinds)) == ["code", "drop", "number", "outcome", "predict", "progress"]
    assert sum("source" in one["state"] for one in state.values()) == 1, "the module is saved once"
    assert not any("LayoutModel" in one["model_name"] for one in state.values())

    # Another reader, another browser: no cell is run.
    (work / "again.ipynb").write_text(json.dumps(saved))
    subprocess.run(
        [sys.executable, "-m", "jupyter", "trust", "again.ipynb"],
        cwd=work,
        env=os.environ | {"JUPYTER_DATA_DIR": str(work.parent / "data")},
        check=True,
        capture_output=True,
    )
    context, page, complaints = open_notebook(browser, f"{address}again.ipynb?reset")
    page.wait_for_function("document.querySelectorAll('.clw-live').length === 7", timeout=60_000)
    number = page.locator(".clw[data-kind=number]").first
    assert number.locator("input.clw-number").first.input_value() == WRONG["value"]
    hears(number, "Not yet:")
    number.locator("input.clw-number").first.fill(library.find("05-1").data()["variants"][0]["right"])
    number.locator("input.clw-number").first.press("Enter")
    hears(number, "Right:")
    assert complaints == []
    context.close()
