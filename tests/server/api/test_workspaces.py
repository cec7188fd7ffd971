"""Workspaces as the app asks for them (contract, section 4)."""

import json
from typing import Any

import httpx2
import pytest

from tests.contract.responses import check_error, check_response
from tests.contract.workspaces import WorkspaceEnvelope, WorkspaceList
from tests.support.installation import Installation
from tests.support.server import Server

from .conftest import state_of
from .with_key import ComputerWithKey

HERE = Server

PATH = "/api/workspaces"
ALL = {"mcps": "all", "skills": "all", "agents": "all", "plugins": "all"}
PRESENT = ["slug", "description", "default_trust_level", "capabilities.mcps"]


async def test_a_workspace_through_its_life(installation: Installation, owner: httpx2.AsyncClient) -> None:
    (installation.vault / "Projects").mkdir(exist_ok=True)
    before = check_response(WorkspaceList, await owner.get(PATH)).workspaces
    body = {"name": "Garden", "description": "", "default_trust_level": "sandboxed", "capabilities": ALL}
    created = check_response(WorkspaceEnvelope, await owner.post(PATH, json=body)).workspace
    assert (created.slug, created.default_trust_level, created.working_directory) == ("garden", "sandboxed", None)
    chosen = {**ALL, "mcps": ["brain", "daily"], "skills": "none"}
    edited = {
        "name": "Garden plan",
        "description": "Beds.",
        "default_trust_level": "direct",
        "working_directory": str(installation.vault / "Projects"),
        "model": "claude-haiku-4-5",
        "capabilities": chosen,
    }
    changed = check_response(WorkspaceEnvelope, await owner.put(f"{PATH}/garden", json=edited)).workspace
    assert changed.capabilities is not None
    assert changed.capabilities.model_dump() == chosen
    assert (changed.slug, changed.name, changed.working_directory) == ("garden", "Garden plan", "Projects")
    assert (changed.model, changed.default_trust_level) == ("claude-haiku-4-5", "direct")
    cleared = {**edited, "working_directory": None, "model": None}
    changed = check_response(WorkspaceEnvelope, await owner.put(f"{PATH}/garden", json=cleared)).workspace
    assert (changed.working_directory, changed.model) == (None, None)
    shown = await owner.get(f"{PATH}/garden")
    assert (
        check_response(WorkspaceEnvelope, shown, present=[f"workspace.{name}" for name in PRESENT]).workspace == changed
    )
    listed = check_response(WorkspaceList, await owner.get(PATH)).workspaces
    assert sorted(listed, key=lambda each: each.slug) == sorted([*before, changed], key=lambda each: each.slug)
    assert (await owner.delete(f"{PATH}/garden")).status_code == 200
    check_error(await owner.get(f"{PATH}/garden"), 404, "garden")
    check_error(await owner.delete(f"{PATH}/garden"), 404, "garden")
    check_error(await owner.put(f"{PATH}/garden", json=edited), 404, "garden")


BAD: list[tuple[Any, str]] = [
    ({}, "name"),
    ({"name": ""}, "name"),
    ({"name": 3}, "name"),
    ({"name": "\ud800"}, "name"),
    ({"name": "Shed", "slug": "mine"}, "slug"),
    ({"name": "Shed", "id": "mine"}, "id"),
    ({"name": "Shed", "description": "x" * 2001}, "description"),
    ({"name": "Shed", "default_trust_level": "root"}, "default_trust_level"),
    ({"name": "Shed", "default_trust_level": True}, "default_trust_level"),
    ({"name": "Shed", "working_directory": "/etc"}, "working_directory"),
    ({"name": "Shed", "working_directory": ".parachute"}, "working_directory"),
    ({"name": "Shed", "working_directory": "../.parachute"}, "working_directory"),
    ({"name": "Shed", "working_directory": "No such folder"}, "working_directory"),
    ({"name": "Shed", "working_directory": "x" * 5000}, "working_directory"),
    ({"name": "Shed", "model": "a b"}, "model"),
    ({"name": "Shed", "capabilities": []}, "capabilities"),
    ({"name": "Shed", "capabilities": {"mcps": "some"}}, "capabilities.mcps"),
    ({"name": "Shed", "capabilities": {"mcps": ["x"] * 201}}, "capabilities.mcps"),
    ({"name": "Shed", "capabilities": {"tools": "all"}}, "capabilities.tools"),
    ({"name": "Shed", "memory_megabytes": 1}, "memory_megabytes"),
    ({"name": "Shed", "cpus": "2"}, "cpus"),
    ({"name": "Shed", "processes": 0}, "processes"),
    ([], ""),
    (None, ""),
]


async def test_what_cannot_be_changes_nothing(installation: Installation, owner: httpx2.AsyncClient) -> None:
    slug = (await owner.post(PATH, json={"name": "House"})).json()["workspace"]["slug"]
    state, headers = state_of(installation), {"content-type": "application/json"}
    for body, mention in BAD:
        content = json.dumps(body)
        check_error(await owner.post(PATH, content=content, headers=headers), 422, mention)
        if body != {}:  # no change is one that can be made
            check_error(await owner.put(f"{PATH}/{slug}", content=content, headers=headers), 422, mention)
        assert state_of(installation) == state, body


@pytest.mark.parametrize("slug", ["nowhere", "%2e%2e", "a%2Fb", "x" * 500, "%00"])
async def test_slugs_that_lead_nowhere(installation: Installation, owner: httpx2.AsyncClient, slug: str) -> None:
    for method in ("GET", "DELETE"):
        response = await owner.request(method, f"{PATH}/{slug}")
        assert response.status_code in (400, 404, 405), response.text
        assert isinstance(response.json()["detail"], str)


async def test_who_needs_a_key_for_it(installation: Installation, owner: httpx2.AsyncClient) -> None:
    async with installation.client(headers={"authorization": "Bearer wrong"}) as stranger:
        check_error(await stranger.get(PATH), 401)
    page = {"origin": f"http://127.0.0.1:{installation.port}", "user-agent": "Mozilla/5.0"}
    async with Installation.client(installation, headers=page) as browser:
        body = {"name": "Page", "default_trust_level": "direct"}
        if isinstance(installation, ComputerWithKey):
            check_error(await browser.get(PATH), 401)
            check_error(await browser.post(PATH, json=body), 401)
        else:
            assert (await browser.get(PATH)).status_code == 200
            check_error(await browser.post(PATH, json=body), 403, "admin in workspaces")
