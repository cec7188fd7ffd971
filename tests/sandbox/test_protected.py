"""What programs of the user run later cannot be written from a box, by no way; the work of the project itself can."""

import subprocess

import pytest

from tests.sandbox.conftest import Boxes, needs_bubblewrap
from tests.sandbox.escapes.protected import ATTACKS, GIT, repository, watched

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
