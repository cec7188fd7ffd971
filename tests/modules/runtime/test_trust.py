"""Modules that differ from what was approved do not run."""

from pathlib import Path

import pytest

from tests.conftest import needs_bubblewrap
from tests.modules.registry.building import write_wheel
from tests.modules.runtime.module_computer import ModuleServer

pytestmark = pytest.mark.long

WORD = '@route("GET", "/")\nasync def get(self):\n    return {"word": "first"}\n'


def copy(server: ModuleServer, name: str) -> Path:
    """The verified copy that runs."""
    found: Path = server.modules.approved(name).code
    return found


def test_an_edit_in_the_vault_waits_for_an_approval(server: ModuleServer) -> None:
    server.install("edited", WORD)
    assert server.value("/api/edited/") == {"word": "first"}
    running = server.host_process("edited")
    server.edit("edited", "first", "second")
    # What runs goes on.
    assert server.value("/api/edited/") == {"word": "first"}
    assert server.host_process("edited") == running
    assert server.module("edited")["state"] == "pending_approval"
    server.put_to_sleep("edited")
    answer = server.get("/api/edited/")
    assert (answer.status_code, answer.json()["key"]) == (409, "approval_pending")
    assert "parachute modules diff edited" in answer.json()["hint"]
    server.programs.wait(lambda: server.host_process("edited") is None, "its process has ended")
    assert (server.get("/api/edited/").status_code, server.host_process("edited")) == (409, None)
    found = server.module("edited")
    assert found["pending_hash"] != found["hash"]
    # Putting it back needs no command.
    server.edit("edited", "second", "first")
    assert server.value("/api/edited/") == {"word": "first"}
    server.edit("edited", "first", "third")
    assert server.approve("edited").status_code == 200
    assert server.value("/api/edited/") == {"word": "third"}


def test_events_that_came_while_it_waited_are_delivered_after_the_approval(server: ModuleServer) -> None:
    body = """
    @route("POST", "/tell")
    async def tell(self):
        await self.core.publish("waiting.said", {"word": "now"})

    @route("GET", "/heard")
    async def heard(self):
        return {"heard": await self.core.storage.keys()}

    @event("waiting.said")
    async def on_said(self, told: Event):
        await self.core.storage.set(told.id, told.data)
        # first
    """
    server.install("waiting", body, hooks=[{"event": "waiting.said"}])
    server.edit("waiting", "# first", "# second")
    assert server.post("/api/waiting/tell").status_code == 409
    server.edit("waiting", "# second", "# first")
    assert server.post("/api/waiting/tell").status_code == 204
    server.edit("waiting", "# first", "# second")
    server.approve("waiting")
    seen = server.eventually("/api/waiting/heard", lambda value: value["heard"], "the event arrived")
    assert len(seen["heard"]) == 1


def test_an_approval_of_something_else_than_what_was_seen_is_refused(server: ModuleServer) -> None:
    server.install("moving", WORD)
    server.edit("moving", "first", "second")
    seen = server.get("/api/modules/moving/approval").json()["hash"]
    server.edit("moving", "second", "third")
    answer = server.post("/api/modules/moving/approve", json={"hash": seen})
    assert (answer.status_code, answer.json()["key"]) == (409, "module_changed")
    server.put_to_sleep("moving")
    assert server.get("/api/moving/").status_code == 409


@pytest.mark.parametrize("how", ["changed", "added", "bytecode"])
def test_a_changed_verified_copy_does_not_start(server: ModuleServer, how: str) -> None:
    name = f"damaged-{how}"
    server.install(name, WORD)
    assert server.value(f"/api/{name}/") == {"word": "first"}
    code = copy(server, name)
    code.chmod(0o700)
    match how:
        case "changed":
            (code / "module.py").chmod(0o600)
            (code / "module.py").write_text((code / "module.py").read_text().replace("first", "other"))
        case "added":
            (code / "words.py").write_text("WORD = 1\n")
        case "bytecode":
            (code / "__pycache__").mkdir()
            (code / "__pycache__" / "module.cpython-311.pyc").write_bytes(b"evil")
    server.put_to_sleep(name)
    answer = server.get(f"/api/{name}/")
    assert answer.status_code in (409, 502)
    assert "word" not in answer.json()
    assert name in answer.json()["detail"]
    server.programs.wait(lambda: server.host_process(name) is None, "it has ended")


@needs_bubblewrap
def test_a_link_in_the_place_of_a_folder_opens_nothing(server: ModuleServer) -> None:
    (server.folder / "secret").write_text("the diary")
    place = server.vault / "Place"
    body = f"""
    @route("GET", "/")
    async def get(self):
        return {{"seen": sorted(os.listdir({str(place)!r}))}}
    """
    server.install("linked", body, top="import os\n", permissions={"write": ["Place/**"]})
    assert server.value("/api/linked/") == {"seen": []}
    server.put_to_sleep("linked")
    place.rmdir()
    place.symlink_to(server.folder)
    answer = server.get("/api/linked/")
    assert answer.status_code >= 400, answer.text
    assert "secret" not in answer.text
    assert "linked" in answer.json()["detail"]
    assert "it is a link" in (server.home.logs / "module-linked.log").read_text()
    server.programs.wait(lambda: server.host_process("linked") is None, "it has ended")
    # It runs again as soon as the folder is one, and somebody says so.
    place.unlink()
    place.mkdir()
    server.post("/api/modules/linked/enable")
    assert server.value("/api/linked/") == {"seen": []}


def test_a_changed_dependency_does_not_start(server: ModuleServer, tmp_path: Path) -> None:
    write_wheel(tmp_path, "wordlist", files={"wordlist/__init__.py": "WORD = 'first'\n"})
    body = '@route("GET", "/")\nasync def get(self):\n    import wordlist\n    return {"word": wordlist.WORD}\n'
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PIP_NO_INDEX", "1")
        patch.setenv("PIP_FIND_LINKS", str(tmp_path))
        server.install("needing", body, dependencies=["wordlist"])
    assert server.value("/api/needing/") == {"word": "first"}
    package = server.modules.approved("needing").packages / "wordlist" / "__init__.py"
    for path in (package.parent, package):
        path.chmod(0o700)
    package.write_text("WORD = 'other'\n")
    server.put_to_sleep("needing")
    answer = server.get("/api/needing/")
    assert answer.status_code in (409, 502), answer.text
    assert "needing" in answer.json()["detail"]
    server.programs.wait(lambda: server.host_process("needing") is None, "it has ended")
