"""Counts tokens through the engine's own listener, the only place where it offers its tokeniser."""

import http.client
import json
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from parachute.llm.offline.conversation import SYSTEM_PROMPT, Turn
from parachute.llm.offline.model_file import ModelUnavailable

_TIMEOUT_SECONDS = 60.0


def chat_messages(turns: Sequence[Turn]) -> list[dict[str, str]]:
    """The turns behind our own system prompt, as the engine takes them."""
    return [
        {"role": "system", "content": SYSTEM_PROMPT},
        *({"role": turn.role, "content": turn.text} for turn in turns),
    ]


class Tokenizer:
    """Blocking: run it in a thread; any number of threads may use it at once, also during a generation."""

    def __init__(self, path: Path, key: str) -> None:
        self._path = path
        self._key = key

    def count_text(self, text: str) -> int:
        """Tokens of a text alone."""
        return len(self._ask("/tokenize", {"content": text, "add_special": False, "parse_special": True})["tokens"])

    def count_prompt(self, turns: Sequence[Turn]) -> int:
        """Tokens of the whole prompt: the model's chat template around the system prompt and the turns."""
        prompt = self._ask("/apply-template", {"messages": chat_messages(turns)})["prompt"]
        return len(self._ask("/tokenize", {"content": prompt, "add_special": True, "parse_special": True})["tokens"])

    def _ask(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        connection = _UnixConnection(self._path)
        try:
            headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self._key}"}
            connection.request("POST", path, json.dumps(body).encode(), headers)
            response = connection.getresponse()
            answer = json.loads(response.read())
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise ModelUnavailable(
                f"The engine's tokeniser does not answer: {error}.", key="tokenizer_silent"
            ) from error
        finally:
            connection.close()
        if response.status != 200 or not isinstance(answer, dict):
            raise ModelUnavailable(
                f"The engine's tokeniser refused a text with status {response.status}: {answer}.",
                key="tokenizer_refuses",
            )
        return answer


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=_TIMEOUT_SECONDS)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self._path))
