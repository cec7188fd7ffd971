"""What programs of the user run later cannot be written from a box, by no way; the work of the project itself can."""

import shlex
import subprocess
import uuid
from pathlib import Path

import pytest

from parachute.errors import Unavailable
from tests.sandbox.conftest import Boxes, needs_bubblewrap
from tests.sandbox.escapes.protected import ATTACKS, GIT, repository, watched
from tests.supervisor.launching import Launcher

pytestmark = needs_bubblewrap

IDENTITY = "git -c user.name=a -c user.email=a@b"


async def test_nothing_that_runs_later_can_be_written(boxes: Boxes) -> None:
    project = repository(boxes.vault.root / "Projects/one")
    before = watched(project)
    assert len(before) > 5
    box = await boxes.make(project)
    for attack in ATTACKS:
        box.run("sh", "-c", attack)
        assert watched(project) == before, attack
    # The control: from outside each of these is possible.
    (project / ".git/hooks/pre-commit").write_text("x")
    assert watched(project) != before


async def test_git_outside_obeys_nothing_that_came_out_of_a_box(boxes: Boxes, tmp_path: Path) -> None:
    project = repository(boxes.vault.root / "Projects/one")
    done = tmp_path / "done"
    obeyed = f"[core]\nrepositoryformatversion = 0\nfsmonitor = touch {done}; false\n"
    (project / "evil").mkdir()
    (project / "evil/config").write_text(obeyed)
    attack = "cp -r .git/objects .git/refs .git/HEAD evil && echo ../evil > .git/commondir"
    box = await boxes.make(project)
    assert box.run("sh", "-c", attack).returncode != 0
    subprocess.run(["git", "status"], cwd=project, env=GIT, check=True, capture_output=True)
    assert not done.exists()
    await boxes.sandboxes.close(box.unit.removeprefix("sandbox@"))
    assert not (project / ".git/commondir").exists()
    # The control: from outside it is possible, and then no agent is given the project.
    subprocess.run(["sh", "-c", attack], cwd=project, check=True)
    subprocess.run(["git", "status"], cwd=project, env=GIT, check=False, capture_output=True)
    assert done.exists()
    assert (await boxes.make(project)).run("true").returncode == 70


@pytest.mark.parametrize(
    ("configuration", "place"),
    [
        ("[core] hooksPath = made", "made"),
        ('[Core]\n\thooksPath = "made \\"here\\"/hooks" ; a comment', 'made "here"/hooks'),
        ("[core]\nhooksPath = ma\\\nde", "made"),
        ("[core]\nhooksPath = .husky/_", ".husky/_"),
        ("[core]\nhooksPath = .git/own", ".git/own"),
        ("[core]\nhooksPath = {project}/tools/../made", "made"),
        ("[core]\nhooksPath = {link}/made", "made"),
        ("[include] path = ../own", "own/evil"),
        ('[includeIf "onbranch:a]b/"]\npath = ../a/own', "a/own/evil"),
    ],
)
async def test_what_the_configuration_of_git_names_cannot_be_made(
    boxes: Boxes, tmp_path: Path, configuration: str, place: str
) -> None:
    project = boxes.vault.root / "Projects/one"
    subprocess.run(["git", "init", "-q"], cwd=project, env=GIT, check=True)
    (tmp_path / "link").symlink_to(project)
    (project / ".git/config").write_text(configuration.format(project=project, link=tmp_path / "link"))
    box = await boxes.make(project)
    top = shlex.quote(place.partition("/")[0])
    assert box.run(
        "sh", "-c", f"rm -rf {top}; mkdir -p {shlex.quote(place)} && echo x > {shlex.quote(place)}/x"
    ).returncode
    assert not (project / place / "x").exists()
    await boxes.sandboxes.close(box.unit.removeprefix("sandbox@"))
    assert [path.name for path in project.iterdir()] == [".git"]
    assert not (project / ".git/own").exists()


async def test_a_project_that_is_its_own_folder_of_hooks_is_refused(boxes: Boxes) -> None:
    project = repository(boxes.vault.root / "Projects/one")
    subprocess.run(["git", "config", "core.hooksPath", "."], cwd=project, env=GIT, check=True)
    assert (await boxes.make(project)).run("true").returncode == 70


async def test_a_repository_under_another_name_can_only_be_read(boxes: Boxes) -> None:
    project = boxes.vault.root / "Projects/one"
    subprocess.run(["git", "init", "-q", "--bare", str(project / ".bare")], env=GIT, check=True)
    (project / ".git").write_text("gitdir: ./.bare\n")
    box = await boxes.make(project)
    for attack in (
        "echo x >> .bare/config",
        "echo x > .bare/hooks/pre-commit",
        "echo x > .bare/commondir",
        "mv .bare old",
    ):
        assert box.run("sh", "-c", attack).returncode != 0, attack
    assert box.shell("git rev-parse --git-dir").strip().endswith("/.bare")


async def test_the_hooks_of_a_repository_around_the_project_are_its_own(boxes: Boxes) -> None:
    repository(boxes.vault.root / "Projects/one")
    box = await boxes.make(boxes.vault.root / "Projects/one/tools")
    assert box.run("sh", "-c", "echo x > hooks/post-commit").returncode != 0
    assert box.run("sh", "-c", "mv hooks old").returncode != 0
    assert box.shell("echo x > own && cat own") == "x\n"


async def test_a_linked_work_tree_has_the_hooks_of_its_repository(boxes: Boxes) -> None:
    repository(boxes.vault.root / "Projects/two")
    project = boxes.vault.root / "Projects/one"
    for command in (["commit", "-qm", "x"], ["worktree", "add", "-q", str(project), "-b", "b"]):
        subprocess.run([*IDENTITY.split(), *command], cwd=boxes.vault.root / "Projects/two", env=GIT, check=True)
    box = await boxes.make(project)
    assert box.run("sh", "-c", "mkdir -p tools/hooks && echo x > tools/hooks/pre-commit").returncode != 0
    assert box.run("sh", "-c", "mv tools old").returncode != 0


@pytest.mark.parametrize("place", [".git/config", ".mcp.json", ".envrc", "tools/gitconfig"])
async def test_a_box_ends_when_what_it_must_not_write_is_replaced_outside(boxes: Boxes, place: str) -> None:
    project = repository(boxes.vault.root / "Projects/one")
    session = str(uuid.uuid4())
    box = await boxes.make(project, session)
    with box.start("sh", "-c", f"echo begun; read line; echo x >> {place}; echo $line") as agent:
        assert agent.stdout is not None
        assert agent.stdout.readline() == b"begun\n"
        new = project / "new"
        new.write_bytes((project / place).read_bytes())
        new.rename(project / place)
        assert agent.communicate(b"written\n", timeout=20)[0] == b""
    assert agent.returncode == 70
    before = watched(project)
    assert "was replaced while it ran" in (await boxes.sandboxes.why_ended(session) or "")
    assert box.run("sh", "-c", f"echo x >> {place}").returncode == 2, "the next one is protected again"
    assert watched(project) == before


async def test_a_box_stays_while_other_files_are_replaced_outside(boxes: Boxes) -> None:
    project = repository(boxes.vault.root / "Projects/one")
    box = await boxes.make(project)
    with box.start("sh", "-c", "echo begun; read line; echo $line") as agent:
        assert agent.stdout is not None
        assert agent.stdout.readline() == b"begun\n"
        (project / "new").write_text("another note")
        (project / "new").rename(project / "notes.md")
        subprocess.run(["git", "add", "-A", "."], cwd=project, env=GIT, check=True)
        subprocess.run([*IDENTITY.split(), "commit", "-qm", "x"], cwd=project, env=GIT, check=True)
        assert agent.communicate(b"alive\n", timeout=20)[0] == b"alive\n"


async def test_the_work_itself_goes_on(boxes: Boxes) -> None:
    project = repository(boxes.vault.root / "Projects/one")
    box = await boxes.make(project)
    box.shell(
        f"echo more > notes.md && git add -A notes.md && {IDENTITY} commit -qm done && mkdir new && echo x > new/a.md"
    )
    said = subprocess.run(["git", "log", "--oneline"], cwd=project, env=GIT, check=True, capture_output=True).stdout
    assert b"done" in said
    assert (project / "new/a.md").read_text() == "x\n"


async def test_where_nothing_is_yet_an_agent_cannot_make_it(boxes: Boxes) -> None:
    project = boxes.vault.root / "Projects/one"
    (project / "notes.md").write_text("a note")
    box = await boxes.make(project)
    for attack in (
        "git init -q",
        "mkdir -p .git/hooks",
        "mv .git old",
        "echo x > .mcp.json",
        "echo x > .claude/settings.json",
    ):
        assert box.run("sh", "-c", attack).returncode != 0, attack
    await boxes.sandboxes.close(box.unit.removeprefix("sandbox@"))
    assert [path.name for path in project.iterdir()] == ["notes.md"]


async def test_what_held_a_place_stays_while_another_box_needs_it(boxes: Boxes) -> None:
    project = boxes.vault.root / "Projects/one"
    first, second = await boxes.make(project), await boxes.make(project)
    for box in (first, second):
        box.shell("true")
    await boxes.sandboxes.close(first.unit.removeprefix("sandbox@"))
    assert second.run("sh", "-c", "echo x > .mcp.json || mkdir .git/hooks").returncode != 0
    await boxes.sandboxes.close(second.unit.removeprefix("sandbox@"))
    assert list(project.iterdir()) == []


async def test_after_a_crash_of_core_the_next_one_tidies_up(boxes: Boxes) -> None:
    project = boxes.vault.root / "Projects/one"
    (await boxes.make(project)).shell("true")
    assert (project / ".mcp.json").exists()
    await boxes.service().start()
    assert list(project.iterdir()) == []
    assert list(boxes.launcher.home.sandboxes.glob("*.json")) == []


async def test_a_box_whose_end_nobody_confirms_is_tidied_up_by_the_next_start(boxes: Boxes) -> None:
    project, session = boxes.vault.root / "Projects/one", str(uuid.uuid4())
    (await boxes.make(project, session)).shell("true")
    with boxes.launcher.process as supervisor:
        supervisor.kill()
    with pytest.raises(Unavailable):
        await boxes.sandboxes.close(session)
    assert (project / ".mcp.json").exists(), "an agent may still be there"
    boxes.launcher.process = Launcher(boxes.launcher.folder).process
    await boxes.service().start()
    assert list(project.iterdir()) == []


async def test_what_the_user_put_into_a_place_meanwhile_is_kept(boxes: Boxes) -> None:
    project = boxes.vault.root / "Projects/one"
    box = await boxes.make(project)
    box.shell("true")
    (project / ".claude/settings.json").write_text("{}")
    (project / ".mcp.json").write_text('{"mcpServers": {"a": {}}}')
    subprocess.run(["git", "init", "-q"], cwd=project, env=GIT, check=True)
    await boxes.sandboxes.close(box.unit.removeprefix("sandbox@"))
    assert sorted(path.name for path in project.iterdir()) == [".claude", ".git", ".mcp.json"]
    assert (project / ".git/HEAD").exists()


@pytest.mark.parametrize("place", [".git", ".git/hooks", ".git/config", ".mcp.json", ".claude", ".vscode", ".envrc"])
async def test_a_link_in_such_a_place_is_refused(boxes: Boxes, place: str) -> None:
    project = repository(boxes.vault.root / "Projects/one")
    path = project / place
    if path.exists():
        path.rename(project / "moved")
    path.symlink_to(project / "moved")
    assert (await boxes.make(project)).run("true").returncode == 70


async def test_a_linked_work_tree_keeps_its_pointer(boxes: Boxes) -> None:
    project = boxes.vault.root / "Projects/two"
    (project / ".git").write_text("gitdir: /nowhere\n")
    box = await boxes.make(project)
    for attack in ("echo 'gitdir: /project/evil' > .git", "rm .git", "mv .git old"):
        assert box.run("sh", "-c", attack).returncode != 0
    assert (project / ".git").read_text() == "gitdir: /nowhere\n"
