"""A fake server for the tests of modules."""

import inspect
import json
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from parachute.base.errors import Conflict, NotFound
from parachute.core.errors import error_document, error_from_document
from parachute.core.fake_sessions import FakeSessions
from parachute.core.interfaces import KNOWN, methods_of
from parachute.core.para_id import ParaId
from parachute.core.values import encode

Answering = str | Callable[[str], str]


@dataclass(slots=True)
class FakeCore:
    """A fake server behind `self.core`: it records calls, and answers as the test says."""

    settings: dict[str, Any]
    agents: Mapping[str, Answering]
    query: Iterable[Mapping[str, Any]] | Callable[[Mapping[str, Any]], Iterable[Mapping[str, Any]]]
    interfaces: Mapping[str, Any]
    conversations: Mapping[str, Sequence[tuple[str, str]]] = field(default_factory=dict)
    published: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    suggestions: list[dict[str, Any]] = field(default_factory=list)
    queries: list[dict[str, Any]] = field(default_factory=list)
    prompts: list[tuple[str, str]] = field(default_factory=list)
    changed: dict[str, dict[str, Any]] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    """Texts that the module gave to the index of meanings."""
    near: dict[str, Sequence[str]] = field(default_factory=dict)
    """By query, the keys of the texts that the index is to find by meaning."""
    unread: int = 0
    """Number of texts that the index has not read yet."""
    index: str = "first"
    """The name of the index of meanings."""
    sessions: FakeSessions = field(default_factory=FakeSessions)
    """Chats and files that the module brought."""

    async def request(self, method: str, path: str, document: Any = None, *, seconds: float = 30.0) -> Any:
        """Answer as the server does."""
        # Through JSON, as on the real way: what cannot travel fails here as well.
        document = json.loads(encode(document))
        answer = json.loads(encode(await self._answer(method, path, document)))
        if isinstance(answer, dict) and "error" in answer:
            raise error_from_document(answer)
        return answer

    async def upload(self, path: str, chunks: AsyncIterator[bytes], *, seconds: float) -> Any:
        """Take what the module sends."""
        return await self.sessions.take(path, chunks)

    async def stream(self, path: str, document: object) -> AsyncIterator[Any]:
        """Give the events of `query`, one by one."""
        asked: dict[str, Any] = json.loads(encode(document))
        self.queries.append(asked)
        values = self.query(asked) if callable(self.query) else self.query
        for value in values:
            yield json.loads(encode(value))

    async def _answer(self, method: str, path: str, document: Any) -> Any:
        match method, path.split("/")[1:]:
            case "GET", ["settings"]:
                return {"settings": self.settings}
            case "PUT", ["settings", name]:
                self.settings[name] = document["value"]
                return {}
            case "DELETE", ["settings", name]:
                self.settings.pop(name, None)
                return {}
            case "POST", ["publish"]:
                self.published.append((document["name"], document["data"]))
                return {"id": f"event-{len(self.published)}"}
            case "POST", ["suggest"]:
                self.suggestions.append(document)
                return {"id": f"suggestion-{len(self.suggestions)}", "status": "pending"}
            case "POST", ["run-agent"]:
                return {"text": self._agent(document["agent"], document["prompt"])}
            case "GET", ["interfaces"]:
                return {"interfaces": {name: _methods(name, other) for name, other in self.interfaces.items()}}
            case "POST", ["interface"]:
                return await self._interface(document)
            case "POST", ["meaning", "put"]:
                self.texts.update(document["texts"])
                for key in document["gone"]:
                    self.texts.pop(key, None)
                return {"index": self.index}
            case "POST", ["meaning", "find"]:
                near = [key for key in self.near.get(document["query"], ()) if key in self.texts]
                return {"index": self.index, "results": [[key, 0.7] for key in near[: document["limit"]]]}
            case "GET", ["meaning", "progress"]:
                return {"waiting": self.unread, "total": max(self.unread, len(self.texts))}
            case "POST", ["sessions", what]:
                return self.sessions.answer(what, document)
            case "POST", ["conversations", what]:
                return self._conversation(what, document)
            case _:
                raise NotFound(f"Core does not know {method} {path}.", key="path_unknown")

    def _conversation(self, what: str, document: Mapping[str, Any]) -> Any:
        if what == "list":
            return {"conversations": [self._described(each) for each in self.conversations][: document["limit"]]}
        if what in ("get", "change"):
            return self._configured(what, document)
        said = self.conversations.get(document["session_id"])
        if said is None:
            raise NotFound(
                f"There is no conversation {document['session_id']!r}.",
                "Pass conversations={...} to run().",
                key="no_conversation",
            )
        if what == "messages":
            return {"messages": [{"role": role, "content": text} for role, text in said[-document["limit"] :]]}
        self.prompts.append((document["session_id"], document["content"]))
        return {"content": said[-1][1] if said else ""}

    def _described(self, session: str) -> dict[str, Any]:
        known = {"title": "", "archived": False, **self.changed.get(session, {})}
        count = len(self.conversations[session])
        para_id, version = str(ParaId.of("chat", session)), json.dumps(known)
        return {"id": session, "para_id": para_id, "message_count": count, **known, "version": version}

    def _configured(self, what: str, document: Mapping[str, Any]) -> Any:
        for session in self.conversations:
            found = self._described(session)
            if found["para_id"] != document["para_id"]:
                continue
            if what == "change":
                if document["version"] not in (None, found["version"]):
                    raise Conflict("The conversation has changed since.", key="conversation_changed")
                said = {name: document[name] for name in ("title", "archived") if document[name] is not None}
                self.changed[session] = {**self.changed.get(session, {}), **said}
            return self._described(session)
        raise NotFound(f"There is no conversation {document['para_id']!r}.", key="no_conversation")

    def _agent(self, agent: str, prompt: str) -> str:
        if agent not in self.agents:
            raise NotFound(
                f"The test gives no answer for the agent {agent!r}.",
                "Pass agents={...} to run().",
                key="no_answer_given",
            )
        self.prompts.append((agent, prompt))
        answer = self.agents[agent]
        return answer(prompt) if callable(answer) else answer

    async def _interface(self, document: Mapping[str, Any]) -> Any:
        provider = self.interfaces.get(document["interface"])
        if provider is None:
            raise NotFound(f"No module provides {document['interface']}.", key="no_provider")
        try:
            return {"result": await getattr(provider, document["method"])(**document["arguments"])}
        except Exception as error:
            return error_document(error)


def _methods(name: str, provider: Any) -> dict[str, list[str]]:
    """The methods that a provider offers: those of a known interface that it has, or all public ones."""
    names = (
        methods_of(KNOWN[name]) if name in KNOWN else [entry for entry in dir(provider) if not entry.startswith("_")]
    )
    return {
        method: list(inspect.signature(getattr(provider, method)).parameters)
        for method in names
        if callable(getattr(provider, method, None))
    }
