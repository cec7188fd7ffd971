"""A server with embeddings as OpenAI's API or Ollama's has them, which knows a few words and says what the test tells it to."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import Message
from typing import Any

from tests.support.http_server import answering

OPENAI, OLLAMA = "/v1/embeddings", "/api/embed"
SUBJECTS = (("boats", "ships", "sloop"), ("bread", "oven", "sourdough"), ("church", "organs"))


@dataclass
class Asked:
    """One request."""

    path: str
    headers: Message
    body: dict[str, Any]


@dataclass
class EmbeddingServer:
    """`paths` are those it knows; `answers` are given in turn before its own, each a status with a document or bytes.

    `models` are those it has, with the size of their embeddings; more than `most` texts are refused.
    """

    url: str = ""
    paths: tuple[str, ...] = (OPENAI, OLLAMA)
    models: dict[str, int] = field(default_factory=lambda: {"nomic-embed-text": 4})
    answers: list[tuple[int, Any]] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)
    most: int = 1000
    free: threading.Event = field(default_factory=threading.Event)

    def answer(self, asked: Asked) -> tuple[int, Any]:
        """Return the answer to a request."""
        if asked.path not in self.paths:
            return 404, b"404 page not found"
        if self.answers:
            return self.answers.pop(0)
        model, texts = asked.body["model"], asked.body["input"]
        if model not in self.models:
            return 404, {"error": f'model "{model}" not found, try pulling it first'}
        if len(texts) > self.most:
            return 413, {"error": {"message": "too many texts"}}
        rows = [embedding(text, self.models[model]) for text in texts]
        if asked.path == OLLAMA:
            return 200, {"model": model, "embeddings": rows, "prompt_eval_count": 7}
        data = [{"object": "embedding", "index": number, "embedding": row} for number, row in enumerate(rows)]
        return 200, {"object": "list", "data": data[::-1], "model": model, "usage": {"prompt_tokens": 7}}

    @property
    def sent(self) -> list[str]:
        """All texts that it was sent."""
        return [text for asked in self.asked for text in asked.body["input"]]


def embedding(text: str, size: int) -> list[float]:
    """Return how often each subject is mentioned, and a little of everything."""
    words = text.lower().replace(".", " ").split()
    counts = [float(sum(word in subject for word in words)) for subject in SUBJECTS]
    return [*counts, 0.1, *(0.0 for _ in range(size))][:size]


@contextmanager
def embedding_server(port: int = 0) -> Iterator[EmbeddingServer]:
    """A server on the loopback interface."""
    script = EmbeddingServer()
    script.free.set()

    def answer(path: str, headers: Message, body: bytes) -> tuple[int, Any]:
        asked = Asked(path, headers, json.loads(body))
        script.asked.append(asked)
        script.free.wait(60)
        return script.answer(asked)

    with answering(answer, port) as script.url:
        try:
            yield script
        finally:
            script.free.set()
