"""What is not as it was approved does not run."""

from pathlib import Path

import pytest

from tests.conftest import needs_bubblewrap
from tests.modules.registry.building import write_wheel
from tests.modules.runtime.module_computer import ModuleComputer

pytestmark = pytest.mark.long

WORD = '@route("GET", "/")\nasync def get(self):\n    return {"word": "first"}\n'


def copy(computer: ModuleComputer, name: str) -> Path:
    """The verified copy that runs."""
    found: Path = computer.modules.approved(name).code
    return found


def test_an_edit_in_the_vault_waits_for_an_approval(computer: ModuleComputer) -> None:
    computer.install("edited", WORD)
    assert computer.value("/api/edited/") == {"word": "first"}
    running = computer.host_process("edited")
    computer.edit("edited", "first", "second")
    # What runs goes on.
    assert computer.value("/api/edited/") == {"word": "first"}
    assert computer.host_process("edited") == running
    assert computer.module("edited")["state"] == "pending_approval"
    computer.put_to_sleep("edited")
    answer = computer.get("/api/edited/")
    assert (answer.status_code, answer.json()["key"]) == (409, "approval_pending")
    assert "parachute modules diff edited" in answer.json()["hint"]
    computer.wait_until(lambda: computer.host_process("edited") is None, "its process has ended")
    assert (computer.get("/api/edited/").status_code, computer.host_process("edited")) == (409, None)
    found = computer.module("edited")
    assert found["pending_hash"] != found["hash"]
    # Putting it back needs no command.
    computer.edit("edited", "second", "first")
    assert computer.value("/api/edited/") == {"word": "first"}
    computer.edit("edited", "first", "third")
    assert computer.approve("edited").status_code == 200
    assert computer.value("/api/edited/") == {"word": "third"}


def test_events_that_came_while_it_waited_are_delivered_after_the_approval(computer: ModuleComputer) -> None:
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
    computer.install("waiting", body, hooks=[{"event": "waiting.said"}])
    computer.edit("waiting", "# first", "# second")
    assert computer.post("/api/waiting/tell").status_code == 409
    computer.edit("waiting", "# second", "# first")
    assert computer.post("/api/waiting/tell").status_code == 204
    computer.edit("waiting", "# first", "# second")
    computer.approve("waiting")
    seen = computer.eventually("/api/waiting/heard", lambda value: value["heard"], "the event arrived")
    assert len(seen["heard"]) == 1


def test_an_approval_of_something_else_than_what_was_seen_is_refused(computer: ModuleComputer) -> None:
    computer.install("moving", WORD)
    computer.edit("moving", "first", "second")
    seen = computer.get("/api/modules/moving/approval").json()["hash"]
    computer.edit("moving", "second", "third")
    answer = computer.post("/api/modules/moving/approve", json={"hash": seen})
    assert (answer.status_code, answer.json()["key"]) == (409, "module_changed")
    computer.put_to_sleep("moving")
    assert computer.get("/api/moving/").status_code == 409


@pytest.mark.parametrize("how", ["changed", "added", "bytecode"])
def test_a_changed_verified_copy_does_not_start(computer: ModuleComputer, how: str) -> None:
    name = f"damaged-{how}"
    computer.install(name, WORD)
    assert computer.value(f"/api/{name}/") == {"word": "first"}
    code = copy(computer, name)
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
    computer.put_to_sleep(name)
    answer = computer.get(f"/api/{name}/")
    assert answer.status_code in (409, 502)
    assert "word" not in answer.json()
    assert name in answer.json()["detail"]
    computer.wait_until(lambda: computer.host_process(name) is None, "it has ended")


@needs_bubblewrap
def test_a_link_in_the_place_of_a_folder_opens_nothing(computer: ModuleComputer) -> None:
    (computer.folder / "secret").write_text("the diary")
    place = computer.vault / "Place"
    body = f"""
    @route("GET", "/")
    async def get(self):
        return {{"seen": sorted(os.listdir({str(place)!r}))}}
    """
    computer.install("linked", body, top="import os\n", permissions={"write": ["Place/**"]})
    assert computer.value("/api/linked/") == {"seen": []}
    computer.put_to_sleep("linked")
    place.rmdir()
    place.symlink_to(computer.folder)
    answer = computer.get("/api/linked/")
    assert answer.status_code >= 400, answer.text
    assert "secret" not in answer.text
    assert "linked" in answer.json()["detail"]
    assert "it is a link" in (computer.home.logs / "module-linked.log").read_text()
    computer.wait_until(lambda: computer.host_process("linked") is None, "it has ended")
    # It runs again as soon as the folder is one, and somebody says so.
    place.unlink()
    place.mkdir()
    computer.post("/api/modules/linked/enable")
    assert computer.value("/api/linked/") == {"seen": []}


def test_a_changed_dependency_does_not_start(computer: ModuleComputer, tmp_path: Path) -> None:
    write_wheel(tmp_path, "wordlist", files={"wordlist/__init__.py": "WORD = 'first'\n"})
    body = '@route("GET", "/")\nasync def get(self):\n    import wordlist\n    return {"word": wordlist.WORD}\n'
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PIP_NO_INDEX", "1")
        patch.setenv("PIP_FIND_LINKS", str(tmp_path))
        computer.install("needing", body, dependencies=["wordlist"])
    assert computer.value("/api/needing/") == {"word": "first"}
    package = computer.modules.approved("needing").packages / "wordlist" / "__init__.py"
    for path in (package.parent, package):
        path.chmod(0o700)
    package.write_text("WORD = 'other'\n")
    computer.put_to_sleep("needing")
    answer = computer.get("/api/needing/")
    assert answer.status_code in (409, 502), answer.text
    assert "needing" in answer.json()["detail"]
    computer.wait_until(lambda: computer.host_process("needing") is None, "it has ended")
