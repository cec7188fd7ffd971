"""Requests of an agent on its model's socket besides answers, as JSON by name: `model.py MODEL OTHER_MODEL [OTHER_TOKEN]`.

An answer is an HTTP status, or the name of an error. The agent's own token is in the environment of its program.
"""

import contextlib
import http.client
import json
import os
import socket
import sys

_SOCKET = "/run/parachute/model.sock"


class Connection(http.client.HTTPConnection):
    """HTTP on the socket."""

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(60)
        self.sock.connect(_SOCKET)


def status(method: str, path: str, model: str, token: str | None, **headers: str) -> int | str:
    """Return the status of the answer to a request with a question in it."""
    body = {"model": model, "max_tokens": 9, "messages": [{"role": "user", "content": "Hello"}]}
    given = {"content-type": "application/json", "anthropic-version": "2023-06-01", **headers}
    if token is not None:
        given["x-api-key"] = token
    connection = Connection("model.local")
    try:
        with contextlib.suppress(ConnectionError):  # it may answer, and close, before it has the body
            connection.request(method, path, json.dumps(body), given)
        return connection.getresponse().status
    except OSError as error:
        return type(error).__name__
    finally:
        connection.close()


def programs_token() -> str:
    """The agent's program takes it out of the environment of what it starts; it can be read all the same."""
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{process}/environ", "rb") as file:
                found = [text for text in file.read().split(b"\0") if text.startswith(b"ANTHROPIC_API_KEY=")]
        except OSError:
            continue
        if found:
            return found[0].partition(b"=")[2].decode()
    raise LookupError("No process has a token.")


def main() -> None:
    """Print one JSON object."""
    model, other, *tokens = sys.argv[1:]
    own = os.environ.get("ANTHROPIC_API_KEY") or programs_token()
    asked = {"a question": status("POST", "/v1/messages", model, own)}
    asked["another model"] = status("POST", "/v1/messages", other, own)
    asked["without a token"] = status("POST", "/v1/messages", model, None)
    for token in tokens:
        asked["the token of another session"] = status("POST", "/v1/messages", model, token)
    for method, path in (
        ("GET", "/v1/models"),
        ("POST", "/v1/files"),
        ("POST", "/v1/messages/batches"),
        ("POST", "/v1/messages/../files"),
        ("GET", "/api/oauth/usage"),
        ("GET", "/api/health"),
        ("GET", "/api/chat"),
        ("POST", "/api/modules/install"),
        ("GET", "http://127.0.0.1:3333/api/health"),
        ("CONNECT", "127.0.0.1:3333"),
    ):
        asked[f"{method} {path}"] = status(method, path, model, own)
    json.dump(asked, sys.stdout)


if __name__ == "__main__":
    main()
