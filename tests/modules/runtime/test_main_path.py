"""From `parachute modules new` to a module that answers."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.modules.registry.building import Repository
from tests.modules.runtime.module_computer import ModuleServer

# Commands one after the other, which take minutes on a machine that does something else, too.
pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]

THINGS = """
@route("POST", "/things")
async def add(self, title: str):
    name = self.new_para_id()
    await self.core.storage.set(name, {"title": title})
    return {"id": name}

async def resolve_para_id(self, para_id):
    return await self.core.storage.get(para_id)

@route("GET", "/order")
async def order(self):
    return {"order": await self.core.settings.get("order"), "password": await self.core.settings.get("password")}
"""
SETTINGS = {
    "order": {"type": "choice", "choices": ["name", "city"], "default": "name"},
    "password": {"type": "secret"},
}


@pytest.fixture(scope="module")
def things(server: ModuleServer) -> ModuleServer:
    """A server with the modules `things` and `others`."""
    server.install_quietly("things", THINGS, settings=SETTINGS)
    server.install("others", "")
    return server


@pytest.mark.parametrize("from_repository", [False, True])
def test_a_new_module_is_tested_installed_and_used(server: ModuleServer, from_repository: bool) -> None:
    name = "from-git" if from_repository else "from-path"
    made = server.command("modules", "new", name)
    assert made.returncode == 0, made.stderr
    folder = server.folder / name
    source = str(folder)
    if from_repository:
        repository = Repository(folder)
        repository.commit()
        source = repository.url
    else:
        environment = {"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
        tested = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
        assert tested.returncode == 0, tested.stdout
    installed = server.command("modules", "install", source, "--yes")
    assert installed.returncode == 0, installed.stderr
    assert server.value(f"/api/{name}/notes") == {"notes": []}
    path = server.post(f"/api/{name}/notes", json={"text": "Hello"}).json()["path"]
    assert (server.vault / path).read_text() == "Hello"
    # Its own event comes back to it.
    server.eventually(f"/api/{name}/latest", lambda latest: latest["path"] == path, "the event arrived")
    listed = server.command("modules", "list")
    assert name in listed.stdout
    removed = server.command("modules", "remove", name, "--yes")
    assert removed.returncode == 0, removed.stderr
    assert server.get(f"/api/{name}/notes").status_code == 404
    assert (server.vault / path).read_text() == "Hello"


def test_a_module_in_development_runs_in_place(server: ModuleServer) -> None:
    folder: Path = server.write("draft", '@route("GET", "/")\nasync def get(self):\n    return "one"\n')
    installed = server.command("modules", "install", str(folder), "--dev", "--yes")
    assert installed.returncode == 0, installed.stderr
    assert server.get("/api/draft/").text == "one"
    source = folder / "module.py"
    source.write_text(source.read_text().replace("one", "two"))
    server.put_to_sleep("draft")
    assert server.get("/api/draft/").text == "two"


def test_what_a_para_id_stands_for(things: ModuleServer) -> None:
    name = things.post("/api/things/things", json={"title": "A stone"}).json()["id"]
    assert things.value(f"/api/para/{name}") == {"id": name, "module": "things", "item": {"title": "A stone"}}


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("para:things:aaaaaaaaaaaa", 404),
        ("para:others:aaaaaaaaaaaa", 404),
        ("para:absent:aaaaaaaaaaaa", 404),
        ("para:things:AAAAAAAAAAAA", 422),
        ("para:things:short", 422),
        ("things:aaaaaaaaaaaa", 422),
        ("para:..:aaaaaaaaaaaa", 422),
    ],
)
def test_ids_that_stand_for_nothing(things: ModuleServer, name: str, status: int) -> None:
    answer = things.get(f"/api/para/{name}")
    assert answer.status_code == status
    assert answer.json()["detail"]


def test_settings_reach_the_module(things: ModuleServer) -> None:
    assert things.value("/api/things/order") == {"order": "name", "password": None}
    things.ask("PUT", "/api/modules/things/settings/order", json={"value": "city"})
    answer = things.ask("PUT", "/api/modules/things/settings/password", json={"value": "secret-word"})
    assert "secret-word" not in answer.text
    seen = things.eventually("/api/things/order", lambda value: value["password"], "the settings arrived")
    assert seen == {"order": "city", "password": "secret-word"}
    refused = things.ask("PUT", "/api/modules/things/settings/order", json={"value": "colour"})
    assert refused.status_code == 422
    assert things.value("/api/things/order")["order"] == "city"
    things.ask("DELETE", "/api/modules/things/settings/order")
    things.eventually("/api/things/order", lambda value: value["order"] == "name", "the default is back")


def test_routes_of_a_module_are_in_the_description_of_the_api(things: ModuleServer) -> None:
    things.post("/api/things/things", json={"title": "Tea"})
    added = things.eventually(
        "/openapi.json", lambda document: document["paths"].get("/api/things/things"), "its routes are described"
    )["paths"]["/api/things/things"]["post"]
    assert added["x-scope"] == "things:write"
    body = added["requestBody"]["content"]["application/json"]["schema"]
    assert body == {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]}


def test_a_module_in_development_is_restarted_with_its_new_files(server: ModuleServer) -> None:
    folder: Path = server.write("sketch", '@route("GET", "/")\nasync def get(self):\n    return "one"\n')
    assert server.command("modules", "install", str(folder), "--dev", "--yes").returncode == 0
    assert server.get("/api/sketch/").text == "one"
    code = folder / "module.py"
    code.write_text(code.read_text().replace('"one"', '"two"'))
    restarted = server.command("modules", "restart", "sketch")
    assert restarted.returncode == 0, restarted.stderr
    assert server.get("/api/sketch/").text == "two"
    assert "The module nothing is not installed." in server.command("modules", "restart", "nothing").stderr
