"""A module that gives every route of modules something to answer with, and a call of each."""

import asyncio
import hashlib
import textwrap
from typing import Any

import httpx2

from tests.modules.runtime.module_computer import ModuleComputer

BODY = """
async def resolve_para_id(self, para_id):
    return await self.core.storage.get(para_id)

async def apply_suggestion(self, action, target_id, payload, expected_version):
    return {"planted": payload}

@route("POST", "/propose")
async def propose(self, what: str):
    return {"id": await self.core.suggest("create", "garden", {"what": what})}

@route("POST", "/beds")
async def add(self):
    new = self.new_para_id()
    await self.core.storage.set(new, {"name": "Bed"})
    return {"id": new}
"""
AGENT = """
    ---
    schedule: {enabled: true, time: "21:30"}
    ---
    Look back.
"""


def furnish(installation: ModuleComputer) -> None:
    """Install the module `garden`, and put an agent of the user's own into its folder."""
    agents = installation.folder / "sources" / "garden" / "agents"
    agents.mkdir(parents=True)
    (agents / "page.md").write_text(textwrap.dedent(AGENT).lstrip())
    installation.install(
        "garden",
        BODY,
        permissions={"write": ["Garden/**"]},
        agents={"gardener": {"capabilities": ["read"], "can_suggest": ["garden"]}},
        settings={"depth": {"type": "integer", "default": 3}},
    )
    own = installation.vault / "Garden" / ".agents" / "weeds.md"
    own.parent.mkdir(parents=True)
    own.write_text(textwrap.dedent(AGENT).lstrip())


async def call_modules(installation: ModuleComputer, call: Any) -> None:
    """Use every route that leads to a module; the last one removes it."""
    module = {"name": "garden"}
    await call("GET /api/modules")
    await call("GET /api/modules/{name}", **module)
    await call("GET /api/modules/{name}/settings", **module)
    setting = {**module, "setting": "depth"}
    changed = await call("PUT /api/modules/{name}/settings/{setting}", {"value": 5}, **setting)
    assert changed["settings"][0]["value"] == 5
    await call("DELETE /api/modules/{name}/settings/{setting}", **setting)
    await call("PUT /api/modules/{name}/prompt", {"content": "Be kind."}, **module)
    assert (await call("GET /api/modules/{name}/prompt", **module))["content"] == "Be kind."
    await _agents(call)
    await _suggestions(installation, call)
    run = await call("POST /api/agent-runs", {"module": "garden", "agent": "gardener", "prompt": "Dig."})
    await call("GET /api/agent-runs")
    await call("GET /api/agent-runs/{identifier}", identifier=run["id"])
    bed = installation.post("/api/garden/beds").json()["id"]
    assert (await call("GET /api/para/{identifier}", identifier=bed))["item"] == {"name": "Bed"}
    for path in ("disable", "enable", "restart"):
        await call(f"POST /api/modules/{{name}}/{path}", **module)
    installation.edit("garden", "planted", "sown")
    asked = await call("GET /api/modules/{name}/approval", **module)
    approved = await call("POST /api/modules/{name}/approve", {"hash": asked["hash"]}, **module)
    assert approved["state"] == "ready"
    await call("POST /api/modules/reload")
    (brain, *_) = (await call("GET /api/modules/official"))["modules"]
    await call("POST /api/modules/install", {"source": brain["source"], "hash": brain["hash"]})
    await _staged(installation, call)
    limit = {**module, "agent": "gardener"}
    await call("PUT /api/modules/{name}/limits/{agent}", {"network": "none"}, **limit)
    (shown,) = (await call("GET /api/modules/{name}/limits", **module))["agents"]
    assert shown["limit"]["network"] == "none"
    await call("DELETE /api/modules/{name}/limits/{agent}", **limit)
    await call("DELETE /api/modules/{name}", **module)


async def _staged(installation: ModuleComputer, call: Any) -> None:
    source = {"source": str(installation.write("orchard"))}
    place = "/api/modules/staged"
    for end in ("approve", "delete"):
        staged = {"identifier": (await call(f"POST {place}", source))["id"]}
        await call(f"GET {place}")
        found = await call(f"GET {place}/{{identifier}}", **staged)
        while found["status"] == "fetching":
            await asyncio.sleep(0.05)
            found = await call(f"GET {place}/{{identifier}}", **staged)
        await call(f"GET {place}/{{identifier}}/events", **staged)
        if end == "approve":
            await call(f"POST {place}/{{identifier}}/approve", {"hash": found["hash"]}, **staged)
        else:
            await call(f"DELETE {place}/{{identifier}}", **staged)


async def _agents(call: Any) -> None:
    place = "/api/modules/{module}/agents"
    page, weeds = {"module": "garden", "name": "page"}, {"module": "garden", "name": "weeds"}
    listed = await call(f"GET {place}", module="garden")
    assert [(agent["name"], agent["status"]) for agent in listed["agents"]] == [
        ("page", "ready"),
        ("weeds", "waits_for_approval"),
    ]
    await call("GET /api/scheduler")
    await call("POST /api/scheduler/reload")
    made = await call("POST /api/reminders", {"when": "tomorrow at 9", "text": "Bread"})
    assert await call("GET /api/reminders") == {"reminders": [made]}
    await call("DELETE /api/reminders/{identifier}", identifier=made["id"])
    await call(f"GET {place}/status", module="garden")
    shown = await call(f"GET {place}/{{name}}", **weeds)
    approved = await call(f"POST {place}/{{name}}/approve", {"hash": shown["hash"]}, **weeds)
    assert approved["status"] == "ready"
    run = await call(f"POST {place}/{{name}}/run", {}, **page)
    assert run["status"] == "completed", run
    for path in ("transcript", "runs"):
        await call(f"GET {place}/{{name}}/{path}", **page)
    await call(f"POST {place}/{{name}}/undo", {}, **page)
    await call(f"POST {place}/{{name}}/reset", **page)


async def _suggestions(installation: ModuleComputer, call: Any) -> None:
    def propose(what: str) -> str:
        return str(installation.post("/api/garden/propose", json={"what": what}).json()["id"])

    peas, leek, kale, dill, mint, sage = (propose(what) for what in ("peas", "leek", "kale", "dill", "mint", "sage"))
    await call("GET /api/suggestions")
    await call("GET /api/suggestions/{identifier}", identifier=peas)
    shown = await call("GET /api/suggestions/{identifier}/preview", identifier=peas)
    assert shown["diff"].endswith("+what: peas")
    await call("POST /api/suggestions/{identifier}/approve", identifier=peas)
    modified = {"payload": {"what": "chard"}}
    await call("POST /api/suggestions/{identifier}/modify", modified, identifier=leek)
    await call("POST /api/suggestions/{identifier}/reject", {"reason": "Too cold."}, identifier=kale)
    assert (await call("POST /api/suggestions/{identifier}/undo", identifier=kale))["status"] == "pending"
    await call("POST /api/suggestions/batch", {"title": "Herbs", "ids": [dill, mint]})
    thyme = propose("thyme")
    items = (await call("GET /api/inbox"))["items"]
    (item,) = [each for each in items if each["details"].get("id") == thyme]
    await call("POST /api/inbox/answer", {"id": item["id"], "hash": item["hash"], "answer": "reject"})
    done = await call("POST /api/suggestions/approve-all", {"ids": [sage]})
    assert done["results"][0]["status"] == "approved"


async def call_files(call: Any, client: httpx2.AsyncClient) -> list[str]:
    """Use every route of files; those that `call` cannot."""
    await call("PUT /api/write", {"path": "Shed/rake.md", "content": "A rake."})
    await call("GET /api/ls", query="?path=Shed")
    await call("GET /api/read", query="?path=Shed/rake.md")
    await call("GET /api/files/search", query="?q=rake")
    await call("GET /api/files/download", query="?path=Shed/rake.md")
    await call("PUT /api/write", {"path": "Shed/list.md", "content": "- [ ] Oil the rake"})
    (task,) = (await call("GET /api/tasks", query="?path=Shed"))["tasks"]
    assert (await call("POST /api/tasks/answer", {"id": task["id"], "done": True}))["done"]
    await call("POST /api/files/folders", {"path": "Shed/old"})
    await call("POST /api/files/move", {"path": "Shed/rake.md", "to": "Shed/old/rake.md"})
    await call("DELETE /api/files", query="?path=Shed")
    await call("GET /api/files/changes")
    assert (await call("POST /api/files/undo", {}))["conflicts"] == []
    assert (await client.put("/api/files/upload?path=Shed/photo.jpg", content=b"x")).status_code == 200
    whole = f"?path=Shed/sound.webm&size=1&sha256={hashlib.sha256(b'x').hexdigest()}"
    await call("GET /api/files/pieces/{key}", query=whole, key="0" * 16)
    pieces = await client.put(f"/api/files/pieces/{'0' * 16}{whole}&offset=0", content=b"x")
    assert pieces.json()["path"] == "Shed/sound.webm"
    await call("GET /api/files/sync")
    await call("POST /api/files/sync/merge", {"path": "Shed/spade.md", "base": None, "text": "Oil it."})
    digest = hashlib.sha256(b"Oil it.").hexdigest()
    await call("DELETE /api/files/sync", query=f"?path=Shed/spade.md&base={digest}")
    sent = f"path=Shed/spade.md&sha256={digest}"
    assert (await client.put(f"/api/files/sync?{sent}", content=b"Oil it.")).status_code == 200
    await call("GET /api/files/sync/pieces/{key}", query=f"?size=7&sha256={digest}", key=digest)
    piece = await client.put(f"/api/files/sync/pieces/{digest}?{sent}&size=7&offset=0", content=b"Oil it.")
    assert piece.json()["done"]["outcome"] == "taken"
    return [
        "PUT /api/files/upload",
        "PUT /api/files/pieces/{key}",
        "PUT /api/files/sync",
        "PUT /api/files/sync/pieces/{key}",
    ]
