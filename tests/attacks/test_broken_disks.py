"""D6, D7, D8: a disk that is full, or that can only be read, and what is said and done then."""

import asyncio
import json
import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest

from parachute.base.errors import Unavailable
from parachute.security.keys.cli_token import CliToken
from tests.chat.runs.answers import answered, ended
from tests.chat.runs.processes import agents
from tests.conftest import needs_bubblewrap
from tests.modules.runtime.module_computer import ModuleComputer
from tests.support.messages_api import Gate, MessagesAPI, hold, several, text
from tests.support.small_disk import SmallDisk, small_disk
from tests.support.sse import chat

pytestmark = [needs_bubblewrap, pytest.mark.long, pytest.mark.computer]

NOTES = """
@route("POST", "/notes")
async def add(self, text: str):
    await self.core.files.write("Notes/today.md", text)
    return {"text": await self.core.files.read("Notes/today.md")}

@route("POST", "/plain")
async def plain(self):
    (self.core.data / "plain.txt").write_text("x" * 100_000)
"""


@pytest.fixture
def model() -> Iterator[MessagesAPI]:
    """A scripted model service."""
    with MessagesAPI() as service:
        service.default(text("Yes."))
        yield service


class ComputerOnADisk(ModuleComputer):
    """A computer that lies on `disk` as a whole."""

    disk: SmallDisk


@pytest.fixture
def on_a_disk(model: MessagesAPI) -> Iterator[ModuleComputer]:
    """A computer on a disk that can be filled and can fail."""
    made = ComputerOnADisk(environment=model.credentials)
    made.home.root.rmdir()
    with small_disk(made.folder) as disk:
        made.home.root.mkdir(mode=0o700)
        made.disk = disk
        with made:
            made.install("notes", NOTES, permissions={"write": ["Notes/**"]})
            assert made.post("/api/notes/notes", json={"text": "Sun."}).status_code == 200
            yield made


def disk_of(computer: ModuleComputer) -> SmallDisk:
    """The disk that the computer lies on."""
    assert isinstance(computer, ComputerOnADisk)
    return computer.disk


def break_disk(computer: ModuleComputer, how: str) -> str:
    """Fill it, or let it fail; the key that is said of it."""
    if how == "full":
        disk_of(computer).fill()
        return "disk_full"
    disk_of(computer).fail()
    return "disk_read_only"


@pytest.mark.parametrize("how", ["full", "read-only"])
async def test_panic_stops_agents_and_says_what_is_not_saved(
    on_a_disk: ModuleComputer, model: MessagesAPI, how: str
) -> None:
    gate = Gate()
    model.script(several(text("Half "), hold(gate)))
    async with on_a_disk.client() as client, chat(client, "In a sandbox.") as stream:
        await stream.until("text")
        assert len(agents(on_a_disk)) == 1
        break_disk(on_a_disk, how)
        answer = await client.post("/api/panic")
        assert answer.status_code == 200, answer.text
        await stream.collect()
        assert ended(stream)["type"] == "aborted"
    assert agents(on_a_disk) == []
    said = answer.json()
    is_saved = (on_a_disk.home.root / "panic.json").exists()
    assert said["panic"]["saved"] is is_saved
    assert (said["warning"] is None) is is_saved
    assert is_saved or how == "read-only" or "holds until" in said["warning"]
    refused = on_a_disk.post("/api/chat", json={"message": "Hello?"})
    assert (refused.status_code, refused.json()["key"]) == (503, "panic"), refused.text
    assert on_a_disk.value("/api/status")["panic"]["by"] == "this computer"


async def test_panic_outlives_a_kill_of_the_server_on_a_read_only_disk(
    on_a_disk: ModuleComputer, model: MessagesAPI
) -> None:
    break_disk(on_a_disk, "read-only")
    done = on_a_disk.command("panic", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    said = json.loads(done.stdout)
    assert (said["running"], said["panic"]["saved"]) == (True, False)
    assert "until the computer is restarted" in said["problem"]
    core = on_a_disk.find_process("parachute.server")
    os.kill(core.pid, signal.SIGSTOP)
    try:
        again = on_a_disk.command("panic")
        assert again.returncode == 0, again.stdout + again.stderr
        assert "until the computer is restarted" in again.stderr
    finally:
        os.kill(core.pid, signal.SIGCONT)
    refused = on_a_disk.post("/api/chat", json={"message": "Hello?"})
    assert (refused.status_code, refused.json()["key"]) == (503, "panic"), refused.text
    assert agents(on_a_disk) == []


async def test_what_no_disk_took_is_saved_as_soon_as_it_can_be(on_a_disk: ModuleComputer) -> None:
    blocked = on_a_disk.home.root / "panic.json"
    disk = disk_of(on_a_disk)
    disk.fill()
    answer = on_a_disk.post("/api/panic").json()
    disk.make_room()
    on_a_disk.wait_until(lambda: blocked.exists() and blocked.stat().st_size, "it is saved in full")
    assert on_a_disk.command("resume").returncode == 0
    assert not blocked.exists()
    assert answer["panic"]["by"] == "this computer"
    async with on_a_disk.client() as client:
        assert (await answered(client, "Hello?")).text == "Yes."


async def test_resume_on_a_read_only_disk_changes_nothing_and_says_what_to_do(on_a_disk: ModuleComputer) -> None:
    """Of a panic that is on the disk, and of one that only processes remember."""
    disk, file = disk_of(on_a_disk), on_a_disk.home.root / "panic.json"
    CliToken(on_a_disk.home.root).obtain()
    for is_saved in (True, False):
        if is_saved:
            assert on_a_disk.post("/api/panic").json()["panic"]["saved"] is True
        with disk.read_only():
            said = on_a_disk.post("/api/panic").json()
            assert said["panic"]["saved"] is is_saved
            await asyncio.to_thread(check_that_all_agents_stay_stopped, on_a_disk, said["panic"]["since"])
        on_a_disk.wait_until(file.exists, "it is saved")
        done = on_a_disk.command("resume", "--json")
        assert done.returncode == 0, done.stdout + done.stderr
        assert json.loads(done.stdout)["was"]["since"] == said["panic"]["since"]
        async with on_a_disk.client() as client:
            assert (await answered(client, "Hello?")).text == "Yes."


def check_that_all_agents_stay_stopped(computer: ModuleComputer, since: str) -> None:
    """See that resuming fails with the reason, whoever is asked, and that each process still knows of the panic."""
    done = computer.command("resume")
    assert done.returncode == 1
    assert done.stderr.startswith("Error: All agents stay stopped. The disk is read-only: ")
    assert "Make it writable again" in done.stderr
    owner = {"authorization": f"Bearer {CliToken(computer.home.root).obtain()}"}
    asked = [computer.post("/api/resume", headers=owner), computer.post("/api/chat", json={"message": "Hello?"})]
    assert [(each.status_code, each.json()["key"]) for each in asked] == [(503, "disk_read_only"), (503, "panic")]
    assert computer.value("/api/panic")["panic"]["since"] == since
    assert computer.ask_supervisor("status")["panic"] is not None
    with pytest.raises(Unavailable) as refused:
        computer.ask_supervisor("resume")
    assert refused.value.key == "disk_read_only"


def test_status_and_doctor_answer_on_a_read_only_disk(on_a_disk: ModuleComputer) -> None:
    break_disk(on_a_disk, "read-only")
    assert not (on_a_disk.home.root / "cli.token").exists(), "there is none to send along, and none can be made"
    assert on_a_disk.command("panic").returncode == 0
    shown = on_a_disk.command("status", "--json")
    assert shown.returncode == 0, shown.stdout + shown.stderr
    said = json.loads(shown.stdout)
    assert (said["running"], said["problem"], said["panic"]["saved"]) == (True, None, False)
    assert "all agents, since" in on_a_disk.command("status").stdout
    examined = on_a_disk.command("doctor", "disk-writable", "panic")
    assert examined.returncode == 1, examined.stdout + examined.stderr
    assert "The disk is read-only" in examined.stdout
    assert "All agents are stopped since" in examined.stdout
    assert "until the computer is restarted" in examined.stdout
    assert "Traceback" not in examined.stdout + examined.stderr


def test_reading_writes_nothing(on_a_disk: ModuleComputer) -> None:
    routes = on_a_disk.value("/openapi.json")["paths"]
    paths = [path for path, methods in routes.items() if "get" in methods and "{" not in path]
    assert len(paths) > 80
    owner = {"authorization": f"Bearer {CliToken(on_a_disk.home.root).obtain()}"}
    break_disk(on_a_disk, "read-only")
    answers = {path: on_a_disk.ask("GET", path, headers=owner) for path in paths if not path.endswith("/events")}
    read = {path for path, each in answers.items() if each.is_success}
    unread = {path for path, each in answers.items() if each.status_code == 422}
    assert len(read) > 60
    assert unread == NEEDS_A_QUERY, "these answer before they read"
    failed = {path: each.json()["key"] for path, each in answers.items() if each.status_code >= 500}
    # These make what they need when it is first asked for.
    assert failed.keys() <= MADE_WHEN_READ
    assert set(failed.values()) == {"disk_read_only"}


def test_panic_without_a_server_says_that_nothing_holds(on_a_disk: ModuleComputer) -> None:
    on_a_disk.stop()
    break_disk(on_a_disk, "read-only")
    done = on_a_disk.command("panic")
    assert done.returncode == 1
    assert "could not be written" in done.stderr


NEEDS_A_QUERY = {
    "/api/backups/list",
    "/api/claude-code/sessions",
    "/api/files/download",
    "/api/files/search",
    "/api/read",
}
MADE_WHEN_READ = {
    "/api/files/sync",
    "/api/modules/official",
    "/api/prompt/preview",
    "/api/push",
    "/api/setup",
    "/api/updates",
}
WRITES: dict[str, dict[str, Any]] = {
    "/api/auth/keys": {"label": "phone", "scopes": ["*:read"]},
    "/api/mcps": {"name": "clock", "command": "clock"},
    "/api/modules/notes/disable": {},
    "/api/workspaces": {"name": "Boat"},
    "/api/notes/notes": {"text": "Rain. " * 50_000},
    "/api/notes/plain": {},
    "/api/chat": {"message": "Hello? " * 5_000},
}


@pytest.mark.parametrize("how", ["full", "read-only"])
def test_what_is_not_written_is_said_with_a_key(on_a_disk: ModuleComputer, how: str) -> None:
    expected = break_disk(on_a_disk, how)
    refused = set()
    for path, body in WRITES.items():
        answer = on_a_disk.post(path, json=body)
        if answer.status_code == 200:
            continue  # there was room for it, or it answers with events
        refused.add(path)
        said = answer.json()
        assert said["key"] == expected, (path, answer.status_code, said)
        assert answer.status_code in (503, 507)
        assert said["detail"].endswith(".")
        assert said["hint"]
        assert "Nothing was lost" not in answer.text
        assert "Something went wrong" not in answer.text
    put = on_a_disk.ask("PUT", "/api/provider", json={"provider": "offline"})
    assert refused == WRITES.keys() or (how == "full" and refused)
    put = on_a_disk.ask("PUT", "/api/settings/model", json={"value": "opus"})
    assert put.status_code < 500 or put.json()["key"] == expected, put.text
    assert on_a_disk.value("/api/health")["status"] == "ok"
