"""A Bot API for the guest, and the people who write to its bot: `scripted_telegram.py`.

It prints the address of the API and another one, and serves until its standard input ends. At the other one somebody writes with
a POST, and a GET tells what is seen.
"""

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.support.telegram_api import TelegramApi


def handler(api: TelegramApi) -> type[BaseHTTPRequestHandler]:
    """Return the handler of requests at the other address."""

    class People(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            said = json.loads(self.rfile.read(int(self.headers["content-length"])))
            self._answer(api.write(said["text"], chat=said["chat"], user=said.get("user")))

        def do_GET(self) -> None:
            chat = int(self.path.removeprefix("/"))
            drafts = [text for each, _, text in api.drafts if each == chat]
            self._answer({"texts": api.texts(chat), "drafts": drafts, "waiting": api.waiting})

        def _answer(self, document: Any) -> None:
            body = json.dumps(document).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing is written."""

    return People


def main() -> None:
    """Serve."""
    with TelegramApi() as api, ThreadingHTTPServer(("127.0.0.1", 0), handler(api)) as people:
        threading.Thread(target=people.serve_forever, daemon=True).start()
        sys.stdout.write(f"{api.url} http://127.0.0.1:{people.server_port}\n")
        sys.stdout.flush()
        sys.stdin.read()
        people.shutdown()


if __name__ == "__main__":
    main()
