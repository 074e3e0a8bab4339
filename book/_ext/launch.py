"""Links that open a notebook elsewhere: on Binder in JupyterLab, and in Colab. They lead away only when followed."""

from __future__ import annotations

from urllib.parse import quote

FOLDERS = ("notebooks/", "labs/release/")


def links(url: str, branch: str, notebook: str) -> list[tuple[str, str]]:
    """Return name and address of each service for the notebook at this path in the repository."""
    owner, repository = url.rstrip("/").split("/")[-2:]
    in_lab = quote(f"lab/tree/{notebook}", safe="")
    return [
        ("Binder", f"https://mybinder.org/v2/gh/{owner}/{repository}/{branch}?urlpath={in_lab}"),
        ("Colab", f"https://colab.research.google.com/github/{owner}/{repository}/blob/{branch}/{notebook}"),
    ]


def on_page(app, pagename, templatename, context, doctree) -> None:
    if pagename.startswith(FOLDERS) and app.env.doc2path(pagename).endswith(".ipynb"):
        options = app.config.html_theme_options
        context["launch"] = links(options["repository_url"], options["repository_branch"], f"{pagename}.ipynb")


def setup(app) -> dict:
    app.connect("html-page-context", on_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
