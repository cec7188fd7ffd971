"""One conversation in bubblewrap that does it all: clone, install from an index, compile, commit, push; and all of it is undone."""

import shutil
from collections.abc import Iterator

import pytest

from parachute.chat.workspaces.request import NewWorkspace
from parachute.events.inbox.models import Answer
from parachute.security.keys.models import FULL_ACCESS, Caller
from tests.changes.listing import listed
from tests.chat.agent_processes.core import core
from tests.chat.agent_processes.module_tools import Reading
from tests.conftest import needs_bubblewrap
from tests.sandbox.egress.internet import PUBLIC, Internet
from tests.sandbox.git.git_host import HOST, TOKEN, GitHost
from tests.supervisor.launching import Launcher, launcher
from tests.support.messages_api import MessagesAPI, text, tool_use
from tests.support.package_index import PackageIndex

pytestmark = [
    needs_bubblewrap,
    pytest.mark.usefixtures("views_work"),
    pytest.mark.long,
    pytest.mark.skipif(not shutil.which("cc"), reason="needs a C compiler: `make test-deps` installs it"),
]

REPOSITORY, INDEX = f"{HOST}/owner/boat", "index.example.org"
CLONE = f"git clone --quiet https://{REPOSITORY}.git lib 2>&1 && echo cloned"
INSTALL = (
    f"python3 -m venv .venv && .venv/bin/pip install --quiet --retries 0 --trusted-host {INDEX} "
    f"--index-url http://{INDEX}/simple/ boat 2>&1 && .venv/bin/python -c 'import boat; print(boat.NAME)'"
)
COMPILE = "cc -o a a.c && ./a"
PUSH = (
    "cd lib && cp ../a.c . && git add a.c && git -c user.name=a -c user.email=a@example.org commit -qm Sail && "
    "git push --quiet origin HEAD:main 2>&1 && echo pushed"
)


@pytest.fixture
def supervisor() -> Iterator[Launcher]:
    with launcher() as running:
        yield running


async def test_an_agent_clones_installs_compiles_commits_and_pushes(supervisor: Launcher, api: MessagesAPI) -> None:
    internet, host, index = Internet(), GitHost(supervisor.folder / "host" / "repositories"), PackageIndex()
    host.make("owner/boat.git")
    await host.join(internet)
    index.at(INDEX)
    internet.names[INDEX] = [[PUBLIC]]
    await internet.serve(PUBLIC, 80, index)
    async with core(supervisor, api.url, Reading(), internet=internet, git={"ca_file": host.authority.file}) as made:
        project = made.vault / "Projects/boat"
        project.mkdir(parents=True)
        (project / "a.c").write_text('int puts(const char *);\nint main(void) { puts("compiled"); }\n')
        before = listed(project)
        made.repositories.tokens.set(HOST, TOKEN)
        workspace = await made.workspaces.create(NewWorkspace(name="Boat", working_directory=str(project)), "owner")

        talk = ""

        async def does(script: str, session: str = "new") -> str:
            """Return the output of the script of one turn."""
            api.script(tool_use("Bash", {"command": f"({script}) 2>&1; true"}), text("Done."))
            answer = await made.answered("Work.", session, workspace_id=workspace.slug)
            assert answer.end["type"] == "done", answer.events
            nonlocal talk
            talk = answer.session
            return answer.result[1]

        refused = await does(f"{CLONE}; {INSTALL}; rm -rf .venv")
        assert f"may not fetch from {REPOSITORY} yet" in refused
        assert "cloned" not in refused
        assert "Heron" not in refused
        owner = Caller("key", "phone", FULL_ACCESS)
        asked = {item.kind: item for item in (await made.inbox.page()).items}
        assert (asked["host"].title, asked["repository"].title) == (f"Reach {INDEX}", f"Fetch from {REPOSITORY}")
        for item in asked.values():
            await made.inbox.answer(item.id, item.hash, Answer("always", "phone"), owner, is_owner=True)
        assert "may not push" in await does(f"{CLONE}; ({PUSH}); rm -rf lib", talk)
        (item,) = (await made.inbox.page()).items
        await made.inbox.answer(item.id, item.hash, Answer("always", "phone"), owner, is_owner=True)
        said = await does(f"{CLONE} && {INSTALL} && {COMPILE} && ({PUSH})", talk)
        assert said.split() == ["cloned", "Heron", "compiled", "pushed"], said
        assert host.log("owner/boat.git").startswith("Sail\n")
        assert (project / "lib/a.c").exists()
        assert not (project / "lib/.git").exists()
        changes = made.services.changes
        assert {"lib/.git": "repository"}.items() <= {
            each.root: each.reason for each in await changes.history.held(talk)
        }.items()
        while [
            each
            for each in await changes.history.of_session(talk)
            if each.found.kind == "run" and any(entry.state == "applied" for entry in each.entries)
        ]:
            assert (await changes.undo(talk)).conflicts == ()
        assert listed(project) == before
    await internet.close()
