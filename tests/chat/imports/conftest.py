"""One computer for all tests of imports that do not disturb each other."""

import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx2
import pytest

from parachute.security.keys.cli_token import CliToken
from tests.support.installation import Installation
from tests.support.messages_api import MessagesAPI
from tests.support.official import install
from tests.support.server import Server


@pytest.fixture(scope="package")
def api() -> Iterator[MessagesAPI]:
    """The scripted model of the computer."""
    with MessagesAPI() as service:
        yield service


@pytest.fixture(scope="package")
def server(api: MessagesAPI) -> Iterator[Server]:
    """A server whose model is `api`."""
    with Server(environment=api.credentials) as running:
        install(running, "imports")
        yield running


@pytest.fixture
async def owner(server: Server) -> AsyncIterator[httpx2.AsyncClient]:
    """The owner of the computer."""
    async with server.client(headers=signed(server)) as client:
        yield client


def signed(installation: Installation) -> dict[str, str]:
    """The headers of the owner."""
    return {"authorization": f"Bearer {CliToken(installation.home.root).obtain()}"}


async def upload(client: httpx2.AsyncClient, data: bytes, **query: Any) -> dict[str, Any]:
    """Import an export, and return the import when it is over."""
    answer = await client.post("/api/imports", params=query, content=data)
    assert answer.status_code == 200, answer.text
    return await over(client, answer.json()["id"])


async def undone(client: httpx2.AsyncClient, import_id: str) -> dict[str, Any]:
    """Undo an import, and return it when that is over."""
    answer = await client.post(f"/api/imports/{import_id}/undo")
    assert answer.status_code == 200, answer.text
    return await over(client, import_id)


async def over(client: httpx2.AsyncClient, import_id: str) -> dict[str, Any]:
    """Follow an import to its end."""
    async with client.stream("GET", f"/api/imports/{import_id}/events") as stream:
        lines = [line async for line in stream.aiter_lines() if line.startswith("data: ")]
    last = json.loads(lines[-1].removeprefix("data: "))
    found: dict[str, Any] = (await client.get(f"/api/imports/{import_id}")).json()
    assert {name: last[name] for name in found} == found
    return found
