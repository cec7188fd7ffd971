"""Holds the socket of the index and starts it on demand, as a supervisor does; and a client for it."""

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.activation import DEADLINE, Activator, UnixConnection

TEXTS = {
    "kevin": "Keeps three ships in the harbour and recommends which one to buy.",
    "maria": "Bakes sourdough in a stone oven.",
    "ottilie": "Repairs church organs.",
}
QUESTION = "who advises us on boats"


@dataclass(kw_only=True)
class IndexProcess(Activator):
    """The process of the index."""

    @property
    def own(self) -> Path:
        """Its folder."""
        return Path(self.environment["PARACHUTE_HOME"]) / "meaning"

    def ask(self, method: str, path: str, document: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        """One request: status and answer."""
        connection = UnixConnection(self.path, DEADLINE)
        try:
            connection.request(method, path, json.dumps(document or {}) if method == "POST" else None)
            response = connection.getresponse()
            return response.status, json.loads(response.read())
        finally:
            connection.close()

    def put(self, texts: dict[str, str], *gone: str) -> dict[str, Any]:
        """Give texts, and forget others."""
        status, answer = self.ask("POST", "/put", {"collection": "c", "texts": texts, "gone": gone})
        assert status == 200, answer
        return answer

    def work(self, **more: Any) -> dict[str, Any]:
        """Let it read until nothing waits, and give its last answer."""
        while True:
            status, answer = self.ask("POST", "/work", {"seconds": 5, **more})
            assert status == 200, answer
            if not answer["waiting"]:
                return answer

    def find(self, query: str = QUESTION, collection: str = "c") -> list[str]:
        """The keys of what is near."""
        status, answer = self.ask("POST", "/find", {"collection": collection, "query": query, "limit": 5})
        assert status == 200, answer
        return [key for key, *_ in answer["results"]]


@contextmanager
def index(*, home: Path | None = None, program: str = "parachute.llm.meaning", **more: str) -> Iterator[IndexProcess]:
    """The index for the length of a block."""
    place = Path(tempfile.mkdtemp(prefix="meaning-", dir="/tmp"))
    own = home or place / "home"
    own.mkdir(mode=0o700, exist_ok=True)
    environment = {"PARACHUTE_HOME": str(own), **more}
    running = IndexProcess(folder=place, environment=environment)
    running.listen(place / "index.sock", program)
    try:
        yield running
    finally:
        ended = running.end()
        shutil.rmtree(place)
        assert ended, "the index does not end"
