"""A fake of the server's side of imports, for the tests of modules."""

import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs

from parachute.base.errors import NotFound
from parachute.core.sessions import HEAD, digest


@dataclass(slots=True)
class FakeSessions:
    """Keeps what a module brings: `records` by the id of the import, texts by the id of the chat, contents of files by their path.

    `asked` are the chats of which the module asked what was brought.
    """

    records: dict[str, dict[str, Any]] = field(default_factory=dict)
    chats: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    brought: dict[str, dict[str, Any]] = field(default_factory=dict)
    fingerprints: dict[str, str] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)
    entries: dict[str, dict[str, Any]] = field(default_factory=dict)
    suggestions: list[Any] = field(default_factory=list)

    def answer(self, what: str, document: Mapping[str, Any]) -> Any:
        """Answer a question as the server does, without looking at rights."""
        match what:
            case "list":
                return {"imports": list(self.records.values())}
            case "ids":
                return {"ids": list(self.chats)}
            case "fingerprints":
                return {"fingerprints": self.fingerprints}
            case "brought":
                self.asked.append(document["session"])
                return {"brought": self.brought.get(document["session"])}
            case "begin" | "keep" | "end":
                record = document["record"]
                self.records[record["id"]] = record
                return {"name": record.get("name", "")}
            case "forget":
                self.records.pop(document["import"], None)
                return {}
            case "undo":
                removed = len(self.chats)
                self.chats.clear()
                self.brought.clear()
                self.fingerprints.clear()
                entries = len(self.entries)
                self.entries.clear()
                return {"removed": removed, "shrunk": 0, "entries": entries, "kept": []}
            case "entries":
                return {"outcomes": [self._entry(each, document["only_looking"]) for each in document["entries"]]}
            case "suggestion":
                self.suggestions.append(document["suggestion"])
                return {"outcome": "new"}
        raise NotFound(f"There is nothing to ask of sessions called {what!r}.", key="unknown_question")

    def _entry(self, entry: dict[str, Any], only_looking: bool) -> str:
        there = self.entries.get(entry["id"])
        if there is None and not only_looking:
            self.entries[entry["id"]] = entry
        return "new" if there is None else "same" if there["content"] == entry["content"] else "changed_entries"

    async def take(self, path: str, chunks: AsyncIterator[bytes]) -> Any:
        """Keep what is sent."""
        data = b"".join([chunk async for chunk in chunks])
        what, _, query = path.partition("?")
        if what == "/sessions/file":
            asked = parse_qs(query)
            place = "/".join(asked["part"])
            place = f"Daily/assets/{asked['date'][0]}/{place}" if "date" in asked else place
            outcome = "new" if place not in self.files else "same" if self.files[place] == data else "different_files"
            self.files.setdefault(place, data)
            return {"outcome": outcome, "path": place}
        added: list[str] = []
        texts: list[tuple[str, str]] = []
        messages: list[dict[str, Any]] = []
        for line in data.splitlines():
            value = json.loads(line)
            if not line.startswith(HEAD):
                text = value["message"]["content"][0]["text"]
                texts.append((value["type"], text))
                message = {"id": value.get("original"), "role": value["type"], "time": value.get("timestamp")}
                messages.append({**message, "digest": digest(text)})
                continue
            texts, messages = [], []
            if value["session"] not in self.chats or value.get("grows"):
                added.append(value["session"])
                self.chats[value["session"]] = texts
                self.fingerprints[value["session"]] = value.get("fingerprint", "")
                about = {"is_untouched": True, "updated": value.get("updated")}
                self.brought[value["session"]] = {**about, "messages": messages}
        return {"added": added}
