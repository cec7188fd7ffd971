"""A whole computer that follows its declaration: after it is ready, whatever is in the way, and against every change."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from parachute.modules.trees.hashing import tree_hash

from .declaring import DeclaredComputer, module

pytestmark = [pytest.mark.long, pytest.mark.computer]

HELLO = '@route("GET", "/hello")\nasync def hello(self):\n    return await self.core.settings.all()\n'
SETTINGS = {"interval": {"type": "integer", "default": 15}}
ANY = "sha256:" + "0" * 64


@contextmanager
def silent_repository() -> Iterator[tuple[str, socket.socket]]:
    """The address of a repository that takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(60)
        yield f"http://127.0.0.1:{server.getsockname()[1]}/module.git", server


def test_from_an_empty_home_to_what_is_declared_and_back(declaring: DeclaredComputer) -> None:
    source = declaring.write("hello", HELLO, settings=SETTINGS)
    declaring.declare(
        settings={"session_idle_minutes": 7},
        modules={
            "daily": module("parachute://daily"),
            "hello": module(source, settings={"interval": 30}),
        },
        workspaces={"garden": {"name": "Garden", "working_directory": "Projects/garden", "cpus": 2}},
    )
    declaring.start()
    declaring.is_as_declared("daily", "hello")
    declaring.said_by_core("The module hello is as declared: installed.")
    assert declaring.value("/api/hello/hello") == {"interval": 30}
    assert declaring.module("daily")["trust_level"] == "verified"
    assert declaring.value("/api/status")["declared_modules"] == {"installing": None, "problems": {}}
    refused_changes(declaring)
    workspaces_are_held(declaring)
    # Nothing is declared any more.
    declaring.declare()
    declaring.restart()
    declaring.said_by_core("The module hello is as declared: removed.")
    declaring.wait_until(lambda: declaring.value("/api/modules")["modules"] == [], "the modules have gone")
    assert declaring.get("/api/hello/hello").status_code == 404
    assert declaring.value("/api/workspaces")["workspaces"] == []
    assert declaring.value("/api/status")["declared_modules"] is None
    assert (declaring.vault / "Projects" / "garden").is_dir()


def refused_changes(computer: DeclaredComputer) -> None:
    """Through the API and at the command line."""
    before = computer.module("hello")
    requests: list[tuple[str, str, Any]] = [
        ("POST", "/api/modules/hello/disable", {}),
        ("POST", "/api/modules/hello/approve", {"hash": ANY}),
        ("GET", "/api/modules/hello/approval", None),
        ("DELETE", "/api/modules/hello?purge=true", None),
        ("PUT", "/api/modules/hello/settings/interval", {"value": 60}),
        ("DELETE", "/api/modules/hello/settings/interval", None),
    ]
    for method, path, body in requests:
        answer = computer.ask(method, path, json=body)
        assert (answer.status_code, answer.json()["key"]) == (409, "declared"), (path, answer.text)
        assert "(modules.hello" in answer.json()["detail"]
        assert str(computer.declaration) in answer.json()["detail"]
    assert computer.post("/api/modules/hello/enable").status_code == 200
    for arguments in (
        ("modules", "disable", "hello"),
        ("modules", "remove", "hello", "--yes"),
        ("config", "unset", "session_idle_minutes"),
    ):
        result = computer.command(*arguments)
        assert result.returncode == 1
        assert "is declared by the system's configuration" in result.stderr
    after = computer.module("hello")
    assert {name: after[name] for name in before if name != "unit"} == {
        name: before[name] for name in before if name != "unit"
    }
    assert computer.value("/api/hello/hello") == {"interval": 30}


def workspaces_are_held(computer: DeclaredComputer) -> None:
    """A declared workspace is there, and nobody changes it."""
    (garden,) = computer.value("/api/workspaces")["workspaces"]
    assert (garden["slug"], garden["working_directory"], garden["cpus"]) == ("garden", "Projects/garden", 2.0)
    assert garden["declared"] is True
    for method, body in (("PUT", {"name": "Other"}), ("DELETE", None)):
        answer = computer.ask(method, "/api/workspaces/garden", json=body)
        assert (answer.status_code, answer.json()["key"]) == (409, "declared")
        assert "The workspace Garden is declared" in answer.json()["detail"]
    assert "workspaces.garden" in computer.command("workspaces", "edit", "garden", "--name", "Other").stderr
    assert "workspaces.garden" in computer.command("workspaces", "delete", "garden", "--yes").stderr
    assert "sandboxed, declared" in computer.command("workspaces", "list").stdout
    # Others are the user's.
    mine = computer.post("/api/workspaces", json={"name": "Mine"}).json()["workspace"]
    assert mine["declared"] is False
    assert computer.ask("DELETE", "/api/workspaces/mine").status_code == 200


def test_nobody_waits_for_an_installation(declaring: DeclaredComputer) -> None:
    with silent_repository() as (address, server):
        declaring.declare(
            modules={
                "after": module(declaring.write("after", HELLO)),
                "slow": {"source": address, "hash": ANY},
            }
        )
        declaring.start()  # which waits until it is healthy
        connection, _ = server.accept()
        declaring.is_as_declared("after")
        assert declaring.module("slow")["state"] == "installing"
        assert declaring.value("/api/status")["declared_modules"]["installing"] == "slow"
        refused = declaring.get("/api/slow/hello")
        assert (refused.status_code, "is being installed" in refused.json()["detail"]) == (503, True)
        assert "installing slow" in declaring.command("status").stdout
        assert "installing" in declaring.command("modules", "list").stdout
        declaring.said_by_core("Declared module slow: Cloning module...")
        # kill -9 in the middle, and the next one begins again.
        declaring.kill_core()
        with connection:
            while connection.recv(65536):
                pass  # until git has ended with core
        again, _ = server.accept()
        declaring.wait_until(lambda: declaring.module("slow")["state"] == "installing", "it is tried again")
        copies = declaring.home.root / "modules"
        assert len(list(copies.glob(".staging-*"))) == 1, "what the first one left is gone"
        again.close()
        server.close()
        declaring.wait_until(lambda: declaring.module("slow")["problem"], "the failure is told")
        assert declaring.module("slow")["state"] == "not_installed"
        assert "slow" in declaring.value("/api/status")["declared_modules"]["problems"]
        assert "slow differs from its declaration" in declaring.command("status").stdout
        assert "slow differs from its declaration" in declaring.command("modules", "list").stderr
    assert declaring.value("/api/after/hello") == {}


def test_it_ends_in_the_middle_of_an_installation(declaring: DeclaredComputer) -> None:
    with silent_repository() as (address, server):
        declaring.declare(modules={"slow": {"source": address, "hash": ANY}})
        declaring.start()
        connection, _ = server.accept()
        declaring.stop()  # which sees that no process is left
        with connection:
            while connection.recv(65536):
                pass


def test_what_is_not_as_declared_does_not_run_and_what_was_goes_on(declaring: DeclaredComputer) -> None:
    source = declaring.write("hello", HELLO)
    declared = module(source)
    declaring.declare(modules={"hello": declared})
    declaring.start()
    declaring.is_as_declared("hello")
    declaring.write("hello", HELLO, version="2.0.0")
    changed = tree_hash(source)
    declaring.declare(modules={"hello": {**declared, "hash": ANY}, "never": {"source": str(source), "hash": ANY}})
    declaring.restart()
    declaring.said_by_core("The module never differs from its declaration: ")
    declaring.said_by_core("The module hello differs from its declaration: ")
    row = declaring.module("hello")
    assert ANY in row["problem"]
    assert changed in row["problem"]
    assert (row["state"], row["version"]) == ("ready", "1.0.0")
    assert declaring.value("/api/hello/hello") == {}
    assert declaring.get("/api/never/hello").status_code == 404
    # It is mended while the computer runs.
    declaring.declare(modules={"hello": module(source)})
    result = declaring.command("modules", "apply")
    assert result.stdout.splitlines()[-1] == "The module hello is replaced.", result
    declaring.wait_until(lambda: declaring.module("hello")["version"] == "2.0.0", "core has taken it up")
    assert declaring.module("hello")["problem"] is None
    assert declaring.value("/api/hello/hello") == {}


def test_disabled_from_the_first_moment(declaring: DeclaredComputer) -> None:
    source = declaring.write("hello", HELLO)
    declaring.declare(modules={"hello": module(source)})
    declaring.start()
    declaring.is_as_declared("hello")
    declaring.declare(modules={"hello": module(source, enable=False)})
    declaring.restart()
    refused = declaring.get("/api/hello/hello")
    assert (refused.status_code, refused.json()["key"]) == (409, "module_disabled")
    declaring.said_by_core("The module hello is as declared: disabled.")
    answer = declaring.post("/api/modules/hello/enable")
    assert (answer.status_code, answer.json()["key"]) == (409, "declared")
    assert declaring.host_process("hello") is None


def test_two_starts_at_once(declaring: DeclaredComputer) -> None:
    names = ["one", "two", "three"]
    declaring.declare(modules={name: module(declaring.write(name, HELLO)) for name in names})
    first = declaring.begin("modules", "apply")
    declaring.start()
    second = declaring.begin("modules", "apply")
    for process in (first, second):
        out, err = process.communicate(timeout=100)
        assert process.returncode == 0, (out, err)
    declaring.is_as_declared(*names)
    for name in names:
        assert declaring.value(f"/api/{name}/hello") == {}
    copies = declaring.home.root / "modules"
    assert sorted(path.name for path in copies.iterdir()) == [".lock", *sorted(names)]
