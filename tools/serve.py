"""Show the built site on this machine: python tools/serve.py [--port N]."""

from __future__ import annotations

import argparse
import functools
import sys
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

SITE = Path(__file__).resolve().parents[1] / "_build" / "html"


class Handler(SimpleHTTPRequestHandler):
    # The table of the operating system may know none of these, or name them wrongly.
    extensions_map = SimpleHTTPRequestHandler.extensions_map | {
        ".html": "text/html; charset=utf-8",
        ".css": "text/css; charset=utf-8",
        ".js": "text/javascript; charset=utf-8",
        ".mjs": "text/javascript; charset=utf-8",
        ".json": "application/json",
        ".svg": "image/svg+xml",
        ".wasm": "application/wasm",
        ".woff2": "font/woff2",
    }

    def end_headers(self) -> None:
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def log_message(self, *args) -> None:
        pass


def server(site: Path = SITE, port: int = 0) -> ThreadingHTTPServer:
    """A server of `site` on 127.0.0.1; port 0 takes any free one."""
    ThreadingHTTPServer.daemon_threads = True
    return ThreadingHTTPServer(("127.0.0.1", port), functools.partial(Handler, directory=str(site)))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=8000, help="default: 8000, or a free one when it is taken")
    options = parser.parse_args()
    if not (SITE / "index.html").is_file():
        print("There is no site yet. Build it with: make book", file=sys.stderr)
        return 2
    try:
        running = server(port=options.port)
    except OSError:
        running = server()
    print(f"The book is at http://127.0.0.1:{running.server_port}/  (Ctrl+C ends)", flush=True)
    try:
        running.serve_forever()
    except KeyboardInterrupt:
        print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
