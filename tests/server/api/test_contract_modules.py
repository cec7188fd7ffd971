"""Modules and what the official ones answer, as the app asks for it (contract, sections 9 to 12)."""

import hashlib
import json
from collections.abc import AsyncIterator, Iterator
from functools import partial
from typing import Any

import httpx2
import pytest

from parachute.security.keys.cli_token import CliToken
from tests.contract import agents, modules
from tests.contract.responses import check_error, check_response
from tests.modules.registry.building import write_module
from tests.support.computer import Computer
from tests.support.installation import PLAIN
from tests.support.messages_api import MessagesAPI
from tests.support.waiting import until

from .conftest import KEY
from .with_key import ComputerWithKey

pytestmark = pytest.mark.long

BODYLESS = {"content-type": "application/json"}
STAGED = "/api/modules/staged"


@pytest.fixture(scope="module")
def installation(request: pytest.FixtureRequest, model: MessagesAPI) -> Iterator[Computer]:
    """A computer with the official modules."""
    environment = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": model.url}
    with request.param(environment=environment) as running:
        headers = {"authorization": f"Bearer {CliToken(running.home.root).obtain()}"}
        options: dict[str, Any] = {"headers": headers, "timeout": 60, **PLAIN}
        offered = httpx2.get(f"{running.url}/api/modules/official", **options).json()["modules"]
        for each in offered:
            wanted = {"source": each["source"], "hash": each["hash"]}
            done = httpx2.post(f"{running.url}/api/modules/install", json=wanted, **options)
            assert done.status_code == 200, done.text
        yield running


async def test_modules_and_hooks(installation: Computer, owner: httpx2.AsyncClient) -> None:
    listed = check_response(modules.ModuleList, await owner.get("/api/modules"), present=["modules"])
    assert {module.name: module.trust_level for module in listed.modules} == dict.fromkeys(
        ("brain", "chat", "daily", "imports"), "verified"
    )
    hooks = check_response(modules.HookList, await owner.get("/api/hooks"), present=["health.recent_errors_count"])
    assert {"activity_summary"} <= {hook.name.rpartition(".")[2] for hook in hooks.hooks}
    check_response(modules.HookErrors, await owner.get("/api/hooks/errors"), present=["errors"])
    assert (await owner.post("/api/scheduler/reload", headers=BODYLESS)).status_code == 200


async def test_the_prompt_of_a_module(owner: httpx2.AsyncClient) -> None:
    path = "/api/modules/chat/prompt"
    before = check_response(modules.ModulePrompt, await owner.get(path), present=["exists", "defaultPrompt"])
    assert (before.content, before.exists, bool(before.default_prompt)) == (None, False, True)
    changed = check_response(modules.ModulePrompt, await owner.put(path, json={"content": "Be brief."}))
    assert (changed.content, changed.exists) == ("Be brief.", True)
    assert check_response(modules.ModulePrompt, await owner.get(path)) == changed
    assert "Be brief." in (await owner.get("/api/prompt/preview")).json()["prompt"]
    check_error(await owner.get("/api/modules/nothing/prompt"), 404)


async def test_agents_of_the_journal(owner: httpx2.AsyncClient) -> None:
    path = "/api/modules/daily/agents"
    listed = check_response(agents.AgentList, await owner.get(path))
    (name, *_) = [agent.name for agent in listed.agents]
    check_response(agents.Agent, await owner.get(f"{path}/{name}"))
    status = check_response(agents.AgentsStatus, await owner.get(f"{path}/status?date=2026-01-31"))
    assert (status.date, name in [agent.name for agent in status.agents]) == ("2026-01-31", True)
    run = await owner.post(f"{path}/{name}/run", json={"date": "2026-01-31", "force": True})
    check_response(agents.RunResult, run)
    transcript = await owner.get(f"{path}/{name}/transcript?limit=50")
    check_response(agents.AgentTranscript, transcript)
    assert (await owner.post(f"{path}/{name}/reset", headers=BODYLESS)).status_code == 200
    check_error(await owner.post(f"{path}/nobody/run", json={}), 404)


async def test_the_sync_of_the_journal(owner: httpx2.AsyncClient) -> None:
    path, text = "journals/2026-01-31.md", "---\ndate: 2026-01-31\nentries: {}\n---\n\r\nRain.\r\n"
    files = [{"path": path, "content": text, "is_binary": False}]
    pushed = await owner.post("/api/sync/push", json={"root": "Daily", "files": files})
    assert check_response(modules.Pushed, pushed).pushed == 1
    for query in ("pattern=*.md&include_binary=false", "pattern=*&include_binary=true", "pattern=*&date=2026-01-31"):
        manifest = await owner.get(f"/api/sync/manifest?root=Daily&quick=false&{query}")
        found = {file.path: file for file in check_response(modules.SyncManifest, manifest).files}
    changes = await owner.get("/api/sync/changes?root=Daily&since=0&pattern=*&include_binary=true")
    assert path in [file.path for file in check_response(modules.SyncChanges, changes).files]
    pulled = await owner.post("/api/sync/pull", json={"root": "Daily", "paths": [path]})
    (file,) = check_response(modules.Pulled, pulled).files
    assert hashlib.sha256(file.content.encode()).hexdigest() == found[path].hash
    removed = await owner.delete(f"/api/sync/files?root=Daily&paths={path}")
    assert check_response(modules.Deleted, removed).deleted == 1


async def test_brain(owner: httpx2.AsyncClient) -> None:
    brain = "/api/brain"
    kinds = check_response(modules.SchemaList, await owner.get(f"{brain}/schemas"), present=["schemas"])
    assert "person" in [schema.name for schema in kinds.schemas]
    fields = [{"name": "length", "type": "integer", "required": False}]
    body = {"name": "boat", "fields": fields, "key_strategy": "lexical", "description": "Boats"}
    assert (await owner.post(f"{brain}/types", json=body)).status_code == 200
    listed = (await owner.get(f"{brain}/types")).json()
    assert {"name": "boat", "entity_count": 0}.items() <= next(
        kind for kind in listed if kind["name"] == "boat"
    ).items()
    assert (await owner.put(f"{brain}/types/boat", json={"fields": fields, "description": "All"})).status_code == 200
    made = {"entity_type": "boat", "data": {"name": "Ottilie", "length": 7}, "commit_msg": "A boat"}
    created = check_response(modules.CreatedEntity, await owner.post(f"{brain}/entities", json=made), 201)
    entities = await owner.get(f"{brain}/entities/boat?limit=10&offset=0")
    assert [each.id for each in check_response(modules.EntityList, entities).results] == [created.entity_id]
    check_response(modules.Entity, await owner.get(f"{brain}/entities/by_id?id={created.entity_id}"))
    check_response(modules.Entity, await owner.get(f"{brain}/entities/{created.entity_id}"))
    assert (await owner.get(f"{brain}/resolve/Ottilie")).json()["para_id"] == created.entity_id
    found = check_response(modules.FoundList, await owner.get(f"{brain}/search?q=Ottilie"))
    assert (found.query, found.count, found.results[0].name) == ("Ottilie", 1, "Ottilie")
    # Its id goes into the path as it is, with a slash.
    changed = await owner.put(f"{brain}/entities/boat/Ottilie", json={"data": {"length": 8}, "commit_msg": "Longer"})
    assert changed.status_code == 200, changed.text
    filters = [{"field_name": "length", "operator": "eq", "value": "8"}]
    saved = await owner.post(f"{brain}/queries", json={"name": "Long", "entity_type": "boat", "filters": filters})
    queries = check_response(modules.QueryList, await owner.get(f"{brain}/queries")).queries
    assert [query.id for query in queries] == [saved.json()["id"]]
    assert (await owner.delete(f"{brain}/queries/{saved.json()['id']}")).status_code == 200
    assert (await owner.post(f"{brain}/reload", headers=BODYLESS)).status_code == 200
    assert (await owner.delete(f"{brain}/entities/{created.entity_id}?commit_msg=Sold")).status_code == 200
    check_error(await owner.get(f"{brain}/entities/by_id?id={created.entity_id}"), 404)
    assert (await owner.delete(f"{brain}/types/boat")).status_code == 200


async def test_a_module_of_anybody_is_staged_looked_at_and_approved(
    installation: Computer, owner: httpx2.AsyncClient
) -> None:
    source = str(write_module(installation.folder / "books", "books"))
    # Not without a key, though programs of this computer may change much else.
    async with Computer.client(installation) as local:
        refused = await local.post(STAGED, json={"source": source})
        assert refused.status_code == (401 if isinstance(installation, ComputerWithKey) else 403)
    staged = check_response(modules.StagedModule, await owner.post(STAGED, json={"source": source}))
    pages = [page async for page in _followed(owner, staged.id)]
    assert [page["status"] for page in pages][-1] == "waiting"
    assert "Copying books..." in pages[-1]["steps"]
    found = check_response(modules.StagedModule, await owner.get(f"{STAGED}/{staged.id}"))
    assert found.consent is not None
    assert found.consent["name"] == "books"
    wrong = await owner.post(f"{STAGED}/{staged.id}/approve", json={"hash": f"sha256:{'0' * 64}"})
    check_error(wrong, 409)
    installed = await owner.post(f"{STAGED}/{staged.id}/approve", json={"hash": found.hash})
    assert check_response(modules.Module, installed).trust_level == "trusted"
    assert (await owner.get("/api/books/hello")).json() == {"hello": "world"}
    assert (await owner.delete("/api/modules/books")).status_code == 200


async def test_a_staged_module_waits_in_the_inbox(installation: Computer, owner: httpx2.AsyncClient) -> None:
    source = str(write_module(installation.folder / "maps", "maps"))

    async def item(identifier: str) -> dict[str, Any] | None:
        items = (await owner.get("/api/inbox")).json()["items"]
        return next((each for each in items if each["details"].get("staged") == identifier), None)

    for answer, status in (("reject", 404), ("approve", 200)):
        staged = (await owner.post(STAGED, json={"source": source})).json()["id"]
        waiting = await until(partial(item, staged), "it waits in the inbox")
        assert waiting["title"] == "Install module maps"
        body = {"id": waiting["id"], "hash": waiting["hash"], "answer": answer}
        assert (await owner.post("/api/inbox/answer", json=body)).status_code == 200
        assert (await owner.get("/api/modules/maps")).status_code == status
    assert (await owner.delete("/api/modules/maps")).status_code == 200


@pytest.mark.parametrize(
    "body", [{}, {"source": ""}, {"source": 1}, {"source": "/", "more": 1}, {"source": "x" * 3000}]
)
async def test_what_cannot_be_staged(owner: httpx2.AsyncClient, body: dict[str, Any]) -> None:
    check_error(await owner.post(STAGED, json=body), 422)
    check_error(await owner.get(f"{STAGED}/0123456789ab/events"), 404)
    check_error(await owner.delete(f"{STAGED}/0123456789ab"), 404)


async def _followed(owner: httpx2.AsyncClient, identifier: str) -> AsyncIterator[dict[str, Any]]:
    async with owner.stream("GET", f"{STAGED}/{identifier}/events") as stream:
        async for line in stream.aiter_lines():
            if line.startswith("data: "):
                yield json.loads(line.removeprefix("data: "))
