"""An agent in a real sandbox clones, is refused, is allowed by the inbox, and pushes; the token is nowhere inside."""

from collections.abc import Iterator
from typing import Any

import pytest

from parachute.chat.workspaces.request import NewWorkspace
from parachute.events.inbox.models import Answer
from parachute.sandbox.git.models import Repository
from parachute.security.keys.models import FULL_ACCESS, Caller
from tests.chat.agent_processes.core import core
from tests.chat.agent_processes.module_tools import Reading
from tests.conftest import needs_bubblewrap
from tests.sandbox.egress.internet import Internet
from tests.sandbox.git.git_host import HOST, TOKEN, GitHost
from tests.supervisor.launching import Launcher, launcher
from tests.support.messages_api import MessagesAPI, Reply, text, tool_use

pytestmark = pytest.mark.long

REPOSITORY = f"{HOST}/owner/boat"
CLONE = f"cd /tmp && git clone https://{REPOSITORY}.git boat 2>&1; cat boat/hello.txt"
COMMIT = (
    "cd /tmp/boat && git -c user.name=a -c user.email=a@example.org commit -q --allow-empty -m Sail && "
    "git push origin HEAD:main 2>&1; git remote get-url origin"
)
# Everything that a program inside can read of others: variables, arguments, configuration and files of the sandbox.
SEARCH = (
    f"grep -r --text --files-with-matches '{TOKEN[:12]}' /proc/[0-9]*/environ /proc/[0-9]*/cmdline /tmp /home /run /scratch "
    "2>/dev/null; git config --list --show-origin; env | grep -i -E 'git|proxy'; ls /run/parachute"
).replace(TOKEN[:12], f"{TOKEN[:6]}[{TOKEN[6]}]{TOKEN[7:12]}")  # so that it does not find itself


@pytest.fixture
def supervisor() -> Iterator[Launcher]:
    with launcher() as running:
        yield running


def bash(command: str) -> tuple[Reply, Reply]:
    return tool_use("Bash", {"command": command}), text("Done.")


@needs_bubblewrap
async def test_clone_and_push_with_a_token_that_never_comes_in(supervisor: Launcher, api: MessagesAPI) -> None:
    internet, host = Internet(), GitHost(supervisor.folder / "host" / "repositories")
    host.make("owner/boat.git")
    await host.join(internet)
    api.script(*bash(CLONE), *bash(CLONE), *bash(COMMIT), *bash(COMMIT), *bash(SEARCH))
    settings: dict[str, Any] = {"git": {"ca_file": host.authority.file}}
    async with core(supervisor, api.url, Reading(), internet=internet, **settings) as made:
        made.repositories.tokens.set(HOST, TOKEN)
        workspace = await made.workspaces.create(NewWorkspace(name="Boat"), "owner")
        first = await made.answered("Clone it.", workspace_id=workspace.slug)
        assert f"remote: This conversation may not fetch from {REPOSITORY} yet." in first.result[1]
        owner = Caller("key", "phone", FULL_ACCESS)
        (item,) = (await made.inbox.page()).items
        assert (item.kind, item.title, item.session) == ("repository", f"Fetch from {REPOSITORY}", first.session)
        await made.inbox.answer(item.id, item.hash, Answer("always", "phone"), owner, is_owner=True)
        second = await made.answered("Try again.", first.session)
        assert "hello" in second.result[1]
        third = await made.answered("Push.", first.session)
        assert f"may not push to {REPOSITORY} yet" in third.result[1]
        await made.repositories.decide(workspace.slug, Repository.parse(REPOSITORY), "push", "always", "owner")
        fourth = await made.answered("Push again.", first.session)
        assert "main" in fourth.result[1]
        assert host.log("owner/boat.git").startswith("Sail\n")
        inside = (await made.answered("Look around.", first.session)).result[1]
        assert "insteadof=https://" in inside
        assert "egress.sock" in inside
        assert TOKEN[:12] not in inside
        assert "environ" not in inside
        system = str(api.conversation[0].body["system"])
        assert "git fetches from and pushes to repositories that the owner allows" in system
        audited = await made.audited()
    await internet.close()
    assert f"push {REPOSITORY}: " in audited
    assert TOKEN not in audited
