"""A conversation works on a view of its project: its work gets there at once, what others obey waits, and all can be taken back."""

import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from parachute.chat.runs.closing import close_session
from tests.chat.agent_processes.core import Answer, Core, core
from tests.chat.agent_processes.module_tools import Reading
from tests.conftest import needs_bubblewrap
from tests.sandbox.engines.escapes.protected import ATTACKS, GIT, repository, watched
from tests.supervisor.launching import Launcher, launcher
from tests.support.messages_api import MessagesAPI, text, tool_use
from tests.support.waiting import until

pytestmark = [needs_bubblewrap, pytest.mark.long]


@pytest.fixture
def supervisor() -> Iterator[Launcher]:
    with launcher() as running:
        yield running


@pytest.fixture
async def made(supervisor: Launcher, api: MessagesAPI) -> AsyncIterator[Core]:
    async with core(supervisor, api.url, Reading()) as running:
        yield running


@pytest.fixture
def project(made: Core) -> Path:
    """A repository with a file and a folder."""
    folder = made.vault / "Projects/boat"
    (folder / "src").mkdir(parents=True)
    (folder / "src/main.c").write_text("int main;")
    (folder / "plan").write_text("before")
    for command in ("init -q", "add -A", "-c user.name=o -c user.email=o@o commit -qm first"):
        subprocess.run(["git", *command.split()], cwd=folder, check=True)
    return folder


async def does(made: Core, api: MessagesAPI, project: Path, script: str, session: str = "new") -> Answer:
    """A turn in which the agent runs a shell script."""
    api.script(tool_use("Bash", {"command": script}), text("Done."))
    answer = await made.answered("Work.", session, working_directory=str(project))
    assert answer.end["type"] == "done", answer.events
    assert not answer.result[0], answer.events
    return answer


async def test_work_is_in_the_project_at_the_end_of_a_turn(made: Core, api: MessagesAPI, project: Path) -> None:
    answer = await does(
        made, api, project, "echo after > plan; rm -r src; mkdir docs; echo x > docs/new; chmod 755 docs/new"
    )
    assert answer.of_type("warning") == []
    assert (project / "plan").read_text() == "after\n"
    assert not (project / "src").exists()
    assert (project / "docs/new").stat().st_mode & 0o777 == 0o755


async def test_work_is_in_the_project_while_the_turn_goes_on(made: Core, api: MessagesAPI, project: Path) -> None:
    api.script(
        tool_use("Bash", {"command": "echo x > made"}),
        tool_use("Bash", {"command": "sleep 20"}),
        text("Done."),
    )
    run = await made.begin("Work.", working_directory=str(project))
    await until((project / "made").exists, "the first command's file is there")
    await made.runs.abort(run.session.id)
    assert (await made.finished(run)).end["type"] == "aborted"


async def test_commits_are_the_owner_s_too_and_settings_wait(made: Core, api: MessagesAPI, project: Path) -> None:
    script = (
        "echo more >> plan && git -c user.name=a -c user.email=a@a commit -qam second && git config user.name agent "
        "&& git init -q nested && mkdir .vscode && echo {} > .vscode/settings.json"
    )
    answer = await does(made, api, project, script)
    log = subprocess.run(["git", "log", "--format=%s"], cwd=project, check=True, capture_output=True, text=True)
    assert log.stdout == "second\nfirst\n"
    status = subprocess.run(["git", "status", "--short"], cwd=project, check=True, capture_output=True, text=True)
    assert status.stdout == ""
    assert "agent" not in (project / ".git/config").read_text()
    assert not (project / "nested/.git").exists()
    assert not (project / ".vscode").exists()
    (warning,) = answer.of_type("warning")
    assert "wait for your decision" in warning["message"]


async def test_a_closed_sandbox_leaves_only_what_waits(made: Core, api: MessagesAPI, project: Path) -> None:
    script = "echo after > plan; mkdir many; touch many/1 many/2; mkdir .vscode; echo {} > .vscode/settings.json"
    session = (await does(made, api, project, script)).session
    await made.pool.discard(session)
    await close_session(made.services, made.preparation, session)
    (upper,) = made.services.home.views.glob("*/*/upper")
    assert sorted(str(path.relative_to(upper)) for path in upper.rglob("*")) == [".vscode", ".vscode/settings.json"]
    again = await does(made, api, project, "cat plan .vscode/settings.json; ls many", session)
    assert again.result[1] == "after\n{}\n1\n2"
    await made.runs.delete(session)
    assert list(made.services.home.views.glob("*/*")) == []


async def test_the_owner_s_changes_between_turns_are_seen_and_kept(made: Core, api: MessagesAPI, project: Path) -> None:
    (project / "gone").write_text("here")
    look = "cat plan src/main.c gone; test -e other || echo no other"
    first = await does(made, api, project, f"echo by the agent > plan; {look}")
    assert first.result[1] == "by the agent\nint main;hereno other"
    # As an editor saves, which the kernel would not show in a view that has the file already.
    (project / "src/new").write_text("int saved;")
    (project / "src/new").rename(project / "src/main.c")
    (project / "gone").unlink()
    (project / "other").write_text("new")
    second = await does(made, api, project, f"{look} 2>&1; rm src/main.c", first.session)
    assert second.result[1] == "by the agent\nint saved;cat: gone: No such file or directory"
    (project / "plan").write_text("by the owner\n")
    third = await does(made, api, project, "cat plan; echo again >> plan", first.session)
    assert third.result[1] == "by the owner"
    assert (project / "plan").read_text() == "by the owner\nagain\n"


async def test_a_file_that_both_change_is_kept_twice(made: Core, api: MessagesAPI, project: Path) -> None:
    api.script(
        tool_use(
            "Bash", {"command": "echo by the agent > plan; touch begun; until ls | grep -q go; do sleep 0.05; done"}
        ),
        text("Done."),
    )
    run = await made.begin("Work.", working_directory=str(project))
    view = made.services.home.views
    await until(lambda: any(view.glob("*/*/upper/begun")), "the agent has begun")
    (project / "plan").write_text("by the owner")
    (project / "go").touch()
    answer = await made.finished(run)
    assert answer.end["type"] == "done", answer.events
    assert (project / "plan").read_text() == "by the owner"
    (held,) = await made.services.changes.history.held(answer.session)
    assert (held.path, held.reason) == ("plan", "conflict")


async def test_undo_brings_the_project_back(made: Core, api: MessagesAPI, project: Path) -> None:
    before = listing(project)
    answer = await does(made, api, project, "echo after > plan; rm -r src; mkdir docs; ln -s plan link; chmod 600 plan")
    assert listing(project) != before
    undone = await made.services.changes.undo(answer.session)
    assert undone.conflicts == ()
    assert listing(project) == before
    second = await does(made, api, project, "cat plan; ls", answer.session)
    assert second.result[1] == "beforeplan\nsrc"


async def test_a_direct_run_is_undone_by_a_snapshot(made: Core, api: MessagesAPI, project: Path) -> None:
    before = listing(project)
    api.script(tool_use("Bash", {"command": "echo after > plan; rm -r src"}), text("Done."))
    answer = await made.answered("Work.", working_directory=str(project), trust_level="direct")
    assert answer.end["type"] == "done", answer.events
    assert (project / "plan").read_text() == "after\n"
    await made.services.changes.undo(answer.session)
    assert listing(project) == before


def listing(project: Path) -> dict[str, tuple[int, bytes]]:
    """Every file, folder and link of a project with its mode and content."""
    found = {}
    for path in sorted(project.rglob("*")):
        status = path.lstat()
        content = b"" if path.is_dir() else bytes(path.readlink()) if path.is_symlink() else path.read_bytes()
        found[str(path.relative_to(project))] = (status.st_mode, content)
    return found


async def test_nothing_that_runs_later_gets_out_of_a_sandbox(made: Core, api: MessagesAPI) -> None:
    project = repository(made.vault / "Projects/guarded")
    before = watched(project)
    script = made.vault / "Attacks/all.sh"
    script.parent.mkdir()
    script.write_text("".join(f"( {attack} ) < /dev/null > /dev/null 2>&1\n" for attack in ATTACKS))
    await does(made, api, project, "sh /vault/Attacks/all.sh; echo x > own")
    assert (project / "own").read_text() == "x\n"
    assert watched(project) == before
    done = subprocess.run(["git", "status", "--short"], cwd=project, env=GIT, check=True, capture_output=True)
    assert b"own" in done.stdout
