"""One computer for these tests, with a module that keeps people and one that proposes changes of them."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.modules.runtime.module_computer import WithModules
from tests.support.computer import Computer
from tests.support.server import Server

PEOPLE_TOP = "import asyncio, os, signal, time\nfrom pathlib import Path\nfrom parachute.core import Preview\n"
PEOPLE = """
async def resolve_para_id(self, para_id):
    return await self.core.storage.get(para_id)

@route("POST", "/people")
async def add(self, name: str):
    new = self.new_para_id()
    await self.core.storage.set(new, {"name": name, "version": 1, "notes": []})
    return {"id": new}

@route("PUT", "/people/{person}")
async def touch(self, person: str):
    found = await self.core.storage.get(person)
    await self.core.storage.set(person, {**found, "version": found["version"] + 1})

@route("GET", "/made")
async def made(self):
    return {"made": await self.core.storage.get("made", [])}

@route("GET", "/heard")
async def heard(self):
    return {"heard": await self.core.storage.get("heard", [])}

@event("suggestion.created")
async def on_created(self, event: Event):
    await self.hear(event)

@event("suggestion.resolved")
async def on_resolved(self, event: Event):
    await self.hear(event)

async def hear(self, event):
    heard = await self.core.storage.get("heard", [])
    await self.core.storage.set("heard", [*heard, [event.name, event.data["id"], event.data["status"]]])

async def apply_suggestion(self, action, target_id, payload, expected_version):
    if payload.get("refuse"):
        raise InvalidInput("notes: this is not wanted here.")
    if target_id is not None:
        found = await self.core.storage.get(target_id)
        if found is None:
            raise NotFound("The person is gone.")
        if found["version"] != expected_version:
            raise Conflict(f"{found['name']} has changed since.", "Check it again.")
        found = {**found, "version": found["version"] + 1, "notes": [*found["notes"], payload.get("note")]}
        await self.core.storage.set(target_id, found)
    made = await self.core.storage.get("made", [])
    await self.core.storage.set("made", [*made, payload])
    if payload.get("die"):
        os.kill(os.getpid(), signal.SIGKILL)
    if payload.get("wait"):
        while not (self.core.data / "go").exists():
            await asyncio.sleep(0.01)
    return {"done": action}

async def preview_suggestion(self, action, target_id, payload):
    if action != "update":
        return None
    found = await self.core.storage.get(target_id)
    if found is None:
        raise NotFound("The person is gone.")
    notes = [*found["notes"], str(payload.get("note"))]
    before = "\\n".join(["Notes", *map(str, found["notes"])])
    return Preview(found["name"], before, "\\n".join(["Notes", *notes]), {"person": found})

async def undo_suggestion(self, action, target_id, payload, keep, result):
    found = await self.core.storage.get(target_id)
    if found["version"] != keep["person"]["version"] + 1:
        raise Conflict(f"{found['name']} has changed since.", "Check it again.")
    await self.core.storage.set(target_id, {**keep["person"], "version": found["version"] + 1})
"""
JOURNAL = """
@route("POST", "/propose")
async def propose(self, proposal: dict):
    return {"id": await self.core.suggest(**proposal)}
"""
AGENTS = {
    "reflection": {"capabilities": ["read"], "can_suggest": ["people"]},
    "reader": {"capabilities": ["read"], "can_suggest": ["silent"]},
}


class Suggesting(WithModules):
    """An installation with `people`, `journal` and `silent`."""

    def person(self, name: str = "Kevin") -> str:
        """A person that `people` keeps from now on."""
        return str(self.post("/api/people/people", json={"name": name}).json()["id"])

    def propose(self, status: int = 200, **changes: Any) -> Any:
        """Let `journal` propose something; the suggestion's id, or the refusal."""
        proposal = {"action": "create", "target_module": "people", "payload": {"name": "Ann"}, **changes}
        # As ASCII: halves of characters travel only in this way.
        headers = {"content-type": "application/json"}
        answer = self.post("/api/journal/propose", content=json.dumps({"proposal": proposal}), headers=headers)
        assert answer.status_code == status, answer.text
        return answer.json()["id"] if status == 200 else answer.json()["detail"]

    def suggestion(self, identifier: str) -> dict[str, Any]:
        """One suggestion."""
        found: dict[str, Any] = self.value(f"/api/suggestions/{identifier}")
        return found

    def decide(self, identifier: str, what: str, status: int = 200, **body: Any) -> dict[str, Any]:
        """Approve, reject or modify."""
        answer = self.post(f"/api/suggestions/{identifier}/{what}", json=body or None)
        assert answer.status_code == status, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def made(self, **payload: Any) -> int:
        """Count how often this change was made."""
        return int(self.value("/api/people/made")["made"].count(payload))


class SuggestionsServer(Suggesting, Server):
    """A server, for what is decided."""


class SuggestionsComputer(Suggesting, Computer):
    """A computer, for crashes."""


def furnish_people(installation: Suggesting) -> None:
    """Install the module `people`, of which core hears with the next one."""
    hooks = [{"event": "suggestion.created"}, {"event": "suggestion.resolved"}]
    installation.install_quietly("people", PEOPLE, top=PEOPLE_TOP, hooks=hooks)


def furnish(installation: Suggesting) -> None:
    """Install the modules."""
    furnish_people(installation)
    installation.install_quietly("silent", "")
    installation.install("journal", JOURNAL, agents=AGENTS)


@pytest.fixture(scope="package")
def server() -> Iterator[SuggestionsServer]:
    """One for all tests: each makes suggestions of its own, and leaves modules running."""
    with SuggestionsServer() as running:
        furnish(running)
        yield running
