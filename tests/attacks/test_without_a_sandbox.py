"""S2: where no sandbox works, a session that needs one does not run with the owner's rights because of it."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.attacks.conftest import key_for_chats
from tests.chat.runs.answers import answered
from tests.sandbox.engines.conftest import needs_bubblewrap
from tests.support.computer import Computer
from tests.support.messages_api import MessagesAPI, text, tool_use

pytestmark = pytest.mark.long

BROKEN = "#!/bin/sh\necho 'bwrap: setting up uid map: Permission denied' >&2\nexit 1\n"


@pytest.fixture
def api() -> Iterator[MessagesAPI]:
    """A model that has the agent write a file wherever it can."""
    with MessagesAPI() as service:
        yield service


class Machine:
    """Makes computers on which bubblewrap works until it is broken."""

    def __init__(self, folder: Path, api: MessagesAPI) -> None:
        self.programs, self._api = folder / "programs", api
        self.programs.mkdir()

    def break_bubblewrap(self) -> None:
        """Let it fail as it does where the system gives no namespaces."""
        (self.programs / "bwrap").write_text(BROKEN)
        (self.programs / "bwrap").chmod(0o755)

    def computer(self, **sandbox: Any) -> Computer:
        """A computer with these settings of sandboxes."""
        environment = {"PATH": f"{self.programs}:{os.environ['PATH']}", "ANTHROPIC_API_KEY": "sk-ant-api03-real"}
        environment["ANTHROPIC_BASE_URL"] = self._api.url
        return Computer(settings={"sandbox": {"engine": "bubblewrap", **sandbox}}, environment=environment)


@pytest.fixture
def machine(tmp_path: Path, api: MessagesAPI) -> Machine:
    """A machine without a sandbox."""
    made = Machine(tmp_path, api)
    made.break_bubblewrap()
    return made


@pytest.mark.computer
async def test_without_a_setting_nobody_goes_without(machine: Machine, api: MessagesAPI) -> None:
    with machine.computer() as computer:
        async with computer.client() as client:
            stream = await answered(client, "Hello")
            assert (stream.terminal["type"], stream.terminal["key"]) == ("typed_error", "no_sandbox")
            # Who asks for it in so many words is the owner, and gets it.
            api.script(text("Directly."))
            again = await answered(client, "Hello", session=stream.terminal["sessionId"], trustLevel="direct")
            assert again.terminal["type"] == "done"
    assert len(api.conversation) == 1


@pytest.mark.computer
async def test_only_the_owner_goes_without_and_is_told(machine: Machine, api: MessagesAPI) -> None:
    with machine.computer(required=False) as computer:
        async with computer.client(headers={"X-API-Key": key_for_chats(computer)}) as phone:
            api.script(tool_use("Bash", {"command": f"touch {computer.folder}/escaped"}), text("Done."))
            stream = await answered(phone, "Hello")
            assert (stream.terminal["type"], stream.terminal["key"]) == ("typed_error", "no_sandbox")
            assert not (computer.folder / "escaped").exists()
            async with computer.client() as owner:
                own = await answered(owner, "Hello")
                assert own.terminal["type"] == "done"
                assert [event["title"] for event in own.events if event["type"] == "warning"][:1] == ["No sandbox"]
                assert (computer.folder / "escaped").exists(), "the control: it ran with the owner's rights"
            # Nor does the conversation of the owner that runs so take what others say.
            api.script(text("Not for you."))
            theirs = await answered(phone, "Hello", session=own.terminal["sessionId"])
            assert theirs.terminal["key"] == "no_sandbox"
        async with computer.client() as owner:
            # Nor does a conversation to which less is left than only the rules would hold.
            path = f"/api/chat/{own.terminal['sessionId']}/config"
            assert (await owner.patch(path, json={"allowed_folders": []})).status_code == 200
            limited = await answered(owner, "Hello", session=own.terminal["sessionId"])
            assert (limited.terminal["type"], limited.terminal["key"]) == ("typed_error", "no_sandbox")


@pytest.mark.computer
@pytest.mark.long
@needs_bubblewrap
async def test_where_a_sandbox_has_worked_none_goes_without_one(tmp_path: Path, api: MessagesAPI) -> None:
    machine = Machine(tmp_path, api)
    api.default(text("Hello."))
    with machine.computer(required=False) as computer:
        async with computer.client() as client:
            assert (await answered(client, "Hello")).terminal["type"] == "done"
            computer.stop()
            machine.break_bubblewrap()
            computer.start()
            stream = await answered(client, "Hello")
            assert (stream.terminal["type"], stream.terminal["key"]) == ("typed_error", "no_sandbox")
    assert len(api.conversation) == 1
