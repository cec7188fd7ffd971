"""The routes of modules."""

import threading
from pathlib import Path

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from parachute.base.errors import ParachuteError, Unavailable
from parachute.base.services import ServiceRegistry
from parachute.modules.registry.api import router
from parachute.modules.registry.models import RunningModules
from parachute.modules.registry.service import Modules
from parachute.modules.runtime.proxy import OWN
from parachute.web.access.routing import RULES
from parachute.web.http.errors import install_error_handlers
from tests.support.auditing import audited

from .building import write_module


class Core:
    """Core's listener to changes, which notes the present modules."""

    def __init__(self, modules: Modules) -> None:
        self._modules = modules
        self.seen: list[list[str]] = []

    async def __call__(self, enabled: str | None = None) -> None:
        """Note what is installed and whether its copy is still there."""
        self.seen.append([module.name for module in self._modules.installed() if module.enabled])


class Hosts(RunningModules):
    """Hosts as core knows them; `failure` is the reason why it does not."""

    def __init__(self) -> None:
        self.units: dict[str, dict[str, object]] = {}
        self.failure: ParachuteError | None = None

    async def unit_states(self) -> dict[str, dict[str, object]]:
        """As the hosts of core tell it."""
        if self.failure:
            raise self.failure
        return self.units

    async def restart(self, name: str) -> None:
        """Nothing of this module runs."""


@pytest.fixture
def core(modules: Modules) -> Core:
    """Add a listener to changes."""
    listener = Core(modules)
    modules.listeners.append(listener)
    return listener


@pytest.fixture
def client(modules: Modules, core: Core, tmp_path: Path) -> TestClient:
    """The routes, with the module `hello` installed."""
    with modules.installing(str(write_module(tmp_path / "source"))) as installation:
        installation.finish()
    app = FastAPI()
    app.state.services = ServiceRegistry(modules)
    app.include_router(router)
    install_error_handlers(app)
    return TestClient(app)


def test_the_app_reads_names_and_trust(client: TestClient) -> None:
    (module,) = client.get("/api/modules").json()["modules"]
    assert (module["name"], module["trust_level"], module["state"]) == ("hello", "trusted", "ready")
    assert client.get("/api/modules/hello").json() == module
    assert client.get("/api/modules/nothing").status_code == 404


def test_a_change_is_looked_at_and_approved_as_it_was_seen(client: TestClient, modules: Modules, core: Core) -> None:
    source = modules.places.source("hello")
    (source / "new.py").write_text("x = 1\n")
    write_module(source, more="permissions:\n  write:\n    - Brain/**\n")
    seen = client.get("/api/modules/hello/approval").json()
    assert [change["path"] for change in seen["files"]] == ["manifest.yaml", "new.py"]
    assert any("Brain/**" in line for line in seen["changes"]["added"])
    assert client.get("/api/modules/hello").json()["pending_hash"] == seen["hash"]
    (source / "later.py").write_text("x = 1\n")
    refused = client.post("/api/modules/hello/approve", json={"hash": seen["hash"]})
    assert (refused.status_code, refused.json()["key"]) == (409, "module_changed")
    assert core.seen == []
    (source / "later.py").unlink()
    approved = client.post("/api/modules/hello/approve", json={"hash": seen["hash"]})
    assert (approved.status_code, approved.json()["state"]) == (200, "ready")
    assert modules.runnable("hello").module.hash == seen["hash"]
    assert core.seen == [["hello"]]
    again = client.post("/api/modules/hello/approve", json={"hash": seen["hash"]})
    assert (again.status_code, again.json()["state"]) == (200, "ready")


def test_the_files_that_are_shown_are_those_of_the_hash(client: TestClient, modules: Modules) -> None:
    source = modules.places.source("hello")
    (source / "new.py").write_text("steal()\n")
    begun = threading.Event()

    def hidden(event: str, arguments: tuple[object, ...]) -> None:
        # Somebody who writes the vault puts it right as soon as the copy of it is made.
        if not begun.is_set() and event == "os.mkdir" and str(arguments[0]).endswith("/version/code"):
            begun.set()
            (source / "new.py").write_text("greet()\n")

    with audited(hidden, of_all_threads=True):
        seen = client.get("/api/modules/hello/approval").json()
    assert begun.is_set()
    assert "+steal()" in seen["files"][0]["diff"]


@pytest.mark.parametrize("body", [{}, {"hash": "x"}, {"hash": "sha256:" + "0" * 64, "more": 1}, {"hash": None}])
def test_an_approval_says_what_it_approves(client: TestClient, body: dict[str, object]) -> None:
    assert client.post("/api/modules/hello/approve", json=body).status_code == 422


def test_what_runs_is_told_with_the_module(client: TestClient) -> None:
    assert client.get("/api/modules/hello").json()["unit"] is None
    hosts = Hosts()
    client.app.state.services.add_as(RunningModules, hosts)  # type: ignore[attr-defined]
    (module,) = client.get("/api/modules").json()["modules"]
    assert (module["unit"], module["confinement"]) == (None, [])
    unit = {"state": "failed", "reason": "It broke.", "restarts": 5, "process": None, "backlog": 2}
    hosts.units = {"hello": {**unit, "name": "module@hello", "seconds": 1.5, "confinement": ["Nothing limits memory."]}}
    shown = client.get("/api/modules/hello").json()
    assert (shown["unit"], shown["confinement"]) == (unit, ["Nothing limits memory."])
    assert client.get("/api/modules").json()["modules"] == [shown]
    assert client.post("/api/modules/hello/enable").json() == shown
    assert client.post("/api/modules/reload").json()["modules"] == [shown]
    # Without a supervisor it is still known what is installed.
    hosts.failure = Unavailable("Nothing runs.")
    (module,) = client.get("/api/modules").json()["modules"]
    assert (module["name"], module["unit"]) == ("hello", None)


def test_switching_and_removing_is_told_to_core(client: TestClient, modules: Modules, core: Core) -> None:
    assert client.post("/api/modules/hello/disable").json()["state"] == "disabled"
    assert client.post("/api/modules/hello/enable").json()["state"] == "ready"
    assert client.post("/api/modules/reload").json()["modules"][0]["name"] == "hello"
    data = modules.places.data("hello")
    data.mkdir(parents=True)
    assert client.delete("/api/modules/hello").json() == {"success": True}
    assert core.seen == [[], ["hello"], ["hello"], []]
    assert data.is_dir()
    assert not modules.places.source("hello").exists()
    for answer in (client.delete("/api/modules/hello"), client.post("/api/modules/hello/enable")):
        assert answer.status_code == 404


def test_a_removal_is_finished_when_what_runs_could_not_be_ended(client: TestClient, modules: Modules) -> None:
    async def failing(enabled: str | None) -> None:
        raise OSError("it broke")

    modules.listeners.append(failing)
    with pytest.raises(OSError, match="it broke"):
        client.delete("/api/modules/hello")
    assert modules.list() == []
    # The next one does not find the lock held.
    modules.recover()


def test_while_somebody_installs_nothing_waits(client: TestClient, modules: Modules) -> None:
    with modules.approving("hello"):
        refused = client.delete("/api/modules/hello")
        assert (refused.status_code, refused.json()["key"]) == (409, "modules_busy")
        assert client.get("/api/modules").status_code == 200
    assert client.delete("/api/modules/hello").status_code == 200


def test_a_list_that_cannot_be_read_is_told(client: TestClient, modules: Modules) -> None:
    modules.places.registry.write_text("modules:\n  hello: 1\n...\n")
    answer = client.get("/api/modules")
    assert (answer.status_code, answer.json()["key"]) == (503, "registry_unreadable")
    assert "line 2" in answer.json()["detail"]


def test_no_module_can_take_a_route_of_core() -> None:
    taken = {rule.path.split("/")[2] for rule in RULES if rule.path.startswith("/api/")} - {"{module}"}
    assert len(taken) > 10
    # Those of the module of this name need more rights than other modules' do.
    assert taken <= OWN | {"imports"}
