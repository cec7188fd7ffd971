"""Files that programs of the user run later cannot be written from a sandbox in any way; other work on the project can."""

import shlex
import subprocess
import uuid
from pathlib import Path

import pytest

from parachute.base.errors import InvalidInput, Unavailable
from parachute.sandbox.engines.models import Specification
from parachute.sandbox.engines.protected import protected
from tests.sandbox.engines.conftest import SandboxFactory, needs_bubblewrap
from tests.sandbox.engines.escapes.protected import ATTACKS, GIT, repository, watched
from tests.supervisor.launching import Launcher

pytestmark = [needs_bubblewrap, pytest.mark.process]

IDENTITY = "git -c user.name=a -c user.email=a@b"


async def test_nothing_that_runs_later_can_be_written(sandboxes: SandboxFactory) -> None:
    project = repository(sandboxes.vault.root / "Projects/one")
    before = watched(project)
    assert len(before) > 5
    sandbox = await sandboxes.make(project)
    # Each in a shell of its own, and all in one agent.
    attempts = 'while read -r attack; do sh -c "$attack" </dev/null >/dev/null 2>&1; echo tried; done'
    with sandbox.start("sh", "-c", attempts) as agent:
        assert agent.stdin is not None
        assert agent.stdout is not None
        for attack in ATTACKS:
            agent.stdin.write(f"{attack}\n".encode())
            agent.stdin.flush()
            assert agent.stdout.readline() == b"tried\n", attack
            assert watched(project) == before, attack
        agent.communicate()
    # The control: from outside each of these is possible.
    (project / ".git/hooks/pre-commit").write_text("x")
    assert watched(project) != before


@pytest.mark.long
async def test_git_outside_obeys_nothing_that_came_out_of_a_sandbox(sandboxes: SandboxFactory, tmp_path: Path) -> None:
    project = repository(sandboxes.vault.root / "Projects/one")
    done = tmp_path / "done"
    obeyed = f"[core]\nrepositoryformatversion = 0\nfsmonitor = touch {done}; false\n"
    (project / "evil").mkdir()
    (project / "evil/config").write_text(obeyed)
    attack = "cp -r .git/objects .git/refs .git/HEAD evil && echo ../evil > .git/commondir"
    sandbox = await sandboxes.make(project)
    assert sandbox.run("sh", "-c", attack).returncode != 0
    subprocess.run(["git", "status"], cwd=project, env=GIT, check=True, capture_output=True)
    assert not done.exists()
    await sandboxes.service.opened.close(sandbox.unit.removeprefix("sandbox@"))
    assert not (project / ".git/commondir").exists()
    # The control: from outside it is possible, and then no agent is given the project.
    subprocess.run(["sh", "-c", attack], cwd=project, check=True)
    subprocess.run(["git", "status"], cwd=project, env=GIT, check=False, capture_output=True)
    assert done.exists()
    assert (await sandboxes.make(project)).run("true").returncode == 70


CONFIGURATION = r"""
[core] hooksPath = plain
[Core]
	hooksPath = "made \"here\"/hooks" ; a comment
[core]
hooksPath = con\
tinued
hooksPath = .husky/_
hooksPath = .git/own
hooksPath = {project}/tools/../absolute
hooksPath = {link}/linked
[include] path = ../own
[includeIf "onbranch:a]b/"]
path = ../a/own
"""
PLACES = (
    "plain",
    'made "here"/hooks',
    "continued",
    ".husky/_",
    ".git/own",
    "absolute",
    "linked",
    "own/evil",
    "a/own/evil",
)


async def test_what_the_configuration_of_git_names_cannot_be_made(sandboxes: SandboxFactory, tmp_path: Path) -> None:
    project = sandboxes.vault.root / "Projects/one"
    subprocess.run(["git", "init", "-q"], cwd=project, env=GIT, check=True)
    (tmp_path / "link").symlink_to(project)
    (project / ".git/config").write_text(CONFIGURATION.format(project=project, link=tmp_path / "link"))
    sandbox = await sandboxes.make(project)
    for place in PLACES:
        top, path = shlex.quote(place.partition("/")[0]), shlex.quote(place)
        assert sandbox.run("sh", "-c", f"rm -rf {top}; mkdir -p {path} && echo x > {path}/x").returncode, place
        assert not (project / place / "x").exists(), place
    await sandboxes.service.opened.close(sandbox.unit.removeprefix("sandbox@"))
    assert [path.name for path in project.iterdir()] == [".git"]
    assert not (project / ".git/own").exists()


async def test_a_project_that_is_its_own_folder_of_hooks_is_refused(sandboxes: SandboxFactory) -> None:
    project = repository(sandboxes.vault.root / "Projects/one")
    subprocess.run(["git", "config", "core.hooksPath", "."], cwd=project, env=GIT, check=True)
    assert (await sandboxes.make(project)).run("true").returncode == 70


async def test_a_repository_under_another_name_can_only_be_read(sandboxes: SandboxFactory) -> None:
    project = sandboxes.vault.root / "Projects/one"
    subprocess.run(["git", "init", "-q", "--bare", str(project / ".bare")], env=GIT, check=True)
    (project / ".git").write_text("gitdir: ./.bare\n")
    sandbox = await sandboxes.make(project)
    for attack in (
        "echo x >> .bare/config",
        "echo x > .bare/hooks/pre-commit",
        "echo x > .bare/commondir",
        "mv .bare old",
    ):
        assert sandbox.run("sh", "-c", attack).returncode != 0, attack
    assert sandbox.shell("git rev-parse --git-dir").strip().endswith("/.bare")


async def test_the_hooks_of_a_repository_around_the_project_are_its_own(sandboxes: SandboxFactory) -> None:
    repository(sandboxes.vault.root / "Projects/one")
    sandbox = await sandboxes.make(sandboxes.vault.root / "Projects/one/tools")
    assert sandbox.run("sh", "-c", "echo x > hooks/post-commit").returncode != 0
    assert sandbox.run("sh", "-c", "mv hooks old").returncode != 0
    assert sandbox.shell("echo x > own && cat own") == "x\n"


async def test_a_linked_work_tree_has_the_hooks_of_its_repository(sandboxes: SandboxFactory) -> None:
    repository(sandboxes.vault.root / "Projects/two")
    project = sandboxes.vault.root / "Projects/one"
    for command in (["commit", "-qm", "x"], ["worktree", "add", "-q", str(project), "-b", "b"]):
        subprocess.run([*IDENTITY.split(), *command], cwd=sandboxes.vault.root / "Projects/two", env=GIT, check=True)
    sandbox = await sandboxes.make(project)
    assert sandbox.run("sh", "-c", "mkdir -p tools/hooks && echo x > tools/hooks/pre-commit").returncode != 0
    assert sandbox.run("sh", "-c", "mv tools old").returncode != 0


@pytest.mark.parametrize("place", [".git/config", ".mcp.json", ".envrc", "tools/gitconfig"])
async def test_a_sandbox_ends_when_what_it_must_not_write_is_replaced_outside(
    sandboxes: SandboxFactory, place: str
) -> None:
    project = repository(sandboxes.vault.root / "Projects/one")
    session = str(uuid.uuid4())
    sandbox = await sandboxes.make(project, session)
    with sandbox.start("sh", "-c", "echo begun; read line; echo went on") as agent:
        assert agent.stdout is not None
        assert agent.stdout.readline() == b"begun\n"
        new = project / "new"
        new.write_bytes((project / place).read_bytes())
        new.rename(project / place)
        # It is ended before anybody speaks to it: until the kernel has told the runner, the file is open to it.
        assert agent.wait(60) == 70
        assert agent.stdout.read() == b""
    before = watched(project)
    assert "was replaced while it ran" in (await sandboxes.service.opened.why_ended(session) or "")
    assert sandbox.run("sh", "-c", f"echo x >> {place}").returncode == 2, "the next one is protected again"
    assert watched(project) == before


async def test_work_goes_on_inside_and_while_other_files_are_replaced_outside(sandboxes: SandboxFactory) -> None:
    project = repository(sandboxes.vault.root / "Projects/one")
    sandbox = await sandboxes.make(project)
    with sandbox.start("sh", "-c", "echo begun; read line; echo $line") as agent:
        assert agent.stdout is not None
        assert agent.stdout.readline() == b"begun\n"
        (project / "new").write_text("another note")
        (project / "new").rename(project / "notes.md")
        subprocess.run(["git", "add", "-A", "."], cwd=project, env=GIT, check=True)
        subprocess.run([*IDENTITY.split(), "commit", "-qm", "x"], cwd=project, env=GIT, check=True)
        assert agent.communicate(b"alive\n", timeout=60)[0] == b"alive\n"
    sandbox.shell(
        f"echo more > notes.md && git add -A notes.md && {IDENTITY} commit -qm done && mkdir new && echo x > new/a.md"
    )
    said = subprocess.run(["git", "log", "--oneline"], cwd=project, env=GIT, check=True, capture_output=True).stdout
    assert b"done" in said
    assert (project / "new/a.md").read_text() == "x\n"


async def test_where_nothing_is_yet_an_agent_cannot_make_it(sandboxes: SandboxFactory) -> None:
    project = sandboxes.vault.root / "Projects/one"
    (project / "notes.md").write_text("a note")
    sandbox = await sandboxes.make(project)
    for attack in (
        "git init -q",
        "mkdir -p .git/hooks",
        "mv .git old",
        "echo x > .mcp.json",
        "echo x > .claude/settings.json",
    ):
        assert sandbox.run("sh", "-c", attack).returncode != 0, attack
    await sandboxes.service.opened.close(sandbox.unit.removeprefix("sandbox@"))
    assert [path.name for path in project.iterdir()] == ["notes.md"]


async def test_what_held_a_place_stays_while_another_sandbox_needs_it(sandboxes: SandboxFactory) -> None:
    project = sandboxes.vault.root / "Projects/one"
    first, second = await sandboxes.make(project), await sandboxes.make(project)
    for sandbox in (first, second):
        sandbox.shell("true")
    await sandboxes.service.opened.close(first.unit.removeprefix("sandbox@"))
    assert second.run("sh", "-c", "echo x > .mcp.json || mkdir .git/hooks").returncode != 0
    await sandboxes.service.opened.close(second.unit.removeprefix("sandbox@"))
    assert list(project.iterdir()) == []


async def test_after_a_crash_of_core_the_next_one_tidies_up(sandboxes: SandboxFactory) -> None:
    project = sandboxes.vault.root / "Projects/one"
    (await sandboxes.make(project)).shell("true")
    assert (project / ".mcp.json").exists()
    await sandboxes.make_service().opened.start()
    assert list(project.iterdir()) == []
    assert list(sandboxes.launcher.home.sandboxes.glob("*.json")) == []


async def test_a_sandbox_whose_end_nobody_confirms_is_tidied_up_by_the_next_start(sandboxes: SandboxFactory) -> None:
    project, session = sandboxes.vault.root / "Projects/one", str(uuid.uuid4())
    (await sandboxes.make(project, session)).shell("true")
    with sandboxes.launcher.process as supervisor:
        supervisor.kill()
    with pytest.raises(Unavailable):
        await sandboxes.service.opened.close(session)
    assert (project / ".mcp.json").exists(), "an agent may still be there"
    sandboxes.launcher.process = Launcher(sandboxes.launcher.folder).process
    await sandboxes.make_service().opened.start()
    assert list(project.iterdir()) == []


async def test_what_the_user_put_into_a_place_meanwhile_is_kept(sandboxes: SandboxFactory) -> None:
    project = sandboxes.vault.root / "Projects/one"
    sandbox = await sandboxes.make(project)
    sandbox.shell("true")
    (project / ".claude/settings.json").write_text("{}")
    (project / ".mcp.json").write_text('{"mcpServers": {"a": {}}}')
    subprocess.run(["git", "init", "-q"], cwd=project, env=GIT, check=True)
    await sandboxes.service.opened.close(sandbox.unit.removeprefix("sandbox@"))
    assert sorted(path.name for path in project.iterdir()) == [".claude", ".git", ".mcp.json"]
    assert (project / ".git/HEAD").exists()


async def test_a_link_in_such_a_place_is_refused(sandboxes: SandboxFactory, tmp_path: Path) -> None:
    project = repository(sandboxes.vault.root / "Projects/one")
    sandbox = await sandboxes.make(project)
    session = sandbox.unit.removeprefix("sandbox@")
    wanted = Specification.load(sandboxes.launcher.home.sandboxes, session)
    for place in (".git", ".git/hooks", ".git/config", ".mcp.json", ".claude", ".vscode", ".envrc"):
        path = project / place
        moved = path.exists() and path.rename(tmp_path / "moved")
        path.symlink_to(tmp_path / "moved")
        with pytest.raises(InvalidInput):
            protected(wanted)
        if place == ".envrc":
            assert sandbox.run("true").returncode == 70
        path.unlink()
        if moved:
            moved.rename(path)


async def test_a_linked_work_tree_keeps_its_pointer(sandboxes: SandboxFactory) -> None:
    project = sandboxes.vault.root / "Projects/two"
    (project / ".git").write_text("gitdir: /nowhere\n")
    sandbox = await sandboxes.make(project)
    for attack in ("echo 'gitdir: /project/evil' > .git", "rm .git", "mv .git old"):
        assert sandbox.run("sh", "-c", attack).returncode != 0
    assert (project / ".git").read_text() == "gitdir: /nowhere\n"
