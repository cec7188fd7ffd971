"""Folders in a box: what of the vault is there, what may be written, and where no name or link leads."""

import uuid
from pathlib import Path

import pytest

from parachute.errors import InvalidInput
from tests.sandbox.conftest import Boxes, needs_bubblewrap

pytestmark = needs_bubblewrap


async def test_only_the_visible_folders_of_the_vault_are_there_and_read_only(boxes: Boxes) -> None:
    (boxes.vault.root / "Link").symlink_to(boxes.vault.root / ".hidden")
    (boxes.vault.root / "file.txt").write_text("a file")
    for name in ("with space", "new\nline", "grün \U0001f600", "-dash", "a,b=c"):
        (boxes.vault.root / name).mkdir()
        (boxes.vault.root / name / "note").write_text("here")
    box = await boxes.make()
    listing = "import json, os; print(json.dumps(sorted(os.listdir('/vault'))))"
    expected = ["Daily", "Projects", "with space", "new\nline", "grün \U0001f600", "-dash", "a,b=c"]
    assert box.python(listing) == sorted(expected)
    read = "import json; print(json.dumps([open(f'/vault/{name}/note').read() for name in __import__('sys').argv[1:]]))"
    assert box.python(read, *expected[2:]) == ["here"] * 5
    assert box.shell("cat /vault/Daily/note.md") == "a note"
    for attempt in (
        "echo x > /vault/Daily/new",
        "echo x >> /vault/Daily/note.md",
        "rm -f /vault/Daily/note.md",
        "mv /vault/Daily /vault/Gone",
        "mkdir /vault/.hidden",
        "ln /vault/Daily/note.md /tmp/note",
        "chmod 777 /vault/Daily",
        "mount -o remount,rw /vault/Daily",
        "umount /vault/Daily",
        "cat /vault/.hidden/secret /vault/Daily/../.hidden/secret",
    ):
        assert box.run("sh", "-c", attempt).returncode != 0, attempt
    assert sorted(path.name for path in (boxes.vault.root / "Daily").iterdir()) == ["note.md"]
    assert (boxes.vault.root / "Daily/note.md").read_text() == "a note"


async def test_links_in_the_vault_lead_nowhere(boxes: Boxes) -> None:
    secret = boxes.launcher.folder / "secret"
    secret.write_text("outside")
    for name, target in (("absolute", secret), ("upward", Path("../../secret")), ("hidden", Path("../.hidden/secret"))):
        (boxes.vault.root / "Daily" / name).symlink_to(target)
        assert (boxes.vault.root / "Daily" / name).read_text()
    box = await boxes.make()
    for name in ("absolute", "upward", "hidden"):
        assert box.run("cat", f"/vault/Daily/{name}").returncode != 0


async def test_a_working_directory_is_writable_and_nothing_beside_it(boxes: Boxes) -> None:
    project = boxes.vault.root / "Projects/one"
    box = await boxes.make(project)
    assert box.shell("pwd; echo text > file; mkdir folder; mv file folder; cat folder/file") == (
        "/vault/Projects/one\ntext\n"
    )
    assert (project / "folder/file").read_text() == "text\n"
    for attempt in ("echo x > ../two/file", "echo x > ../file", "mv ../one ../three", "mkdir ../../New"):
        assert box.run("sh", "-c", attempt).returncode != 0, attempt
    assert box.run("ln", "/vault/Daily/note.md", "linked").returncode != 0
    assert sorted(path.name for path in (boxes.vault.root / "Projects").iterdir()) == ["one", "two"]
    casual = await boxes.make()
    assert casual.run("touch", "/vault/Projects/one/file").returncode != 0


@pytest.mark.parametrize("name", ["a,b = c", "new\nline", "grün \U0001f600", "cafe\u0301", "-rf", "x" * 200])
async def test_a_working_directory_of_any_name(boxes: Boxes, name: str) -> None:
    for parent in (boxes.vault.root / "Projects", boxes.launcher.folder):
        (parent / name).mkdir()
        box = await boxes.make(parent / name)
        box.shell("echo written > file")
        assert (parent / name / "file").read_text() == "written\n"


async def test_a_working_directory_that_another_agent_replaced_by_a_link_is_not_entered(boxes: Boxes) -> None:
    nested = boxes.vault.root / "Projects/one/nested"
    nested.mkdir()
    box = await boxes.make(nested)
    other = await boxes.make(boxes.vault.root / "Projects/one")
    other.shell(f"rmdir nested; ln -s {boxes.launcher.home.root} nested")
    assert (nested / "run").is_dir()  # the link works
    with box.start("sh", "-c", "ls -a; ls -a ..") as process:
        output, _ = process.communicate(timeout=30)
    assert process.returncode == 70
    assert output == b""


async def test_a_working_directory_that_has_gone_and_come_back(boxes: Boxes) -> None:
    session, project = str(uuid.uuid4()), boxes.vault.root / "Projects/one"
    box = await boxes.make(project, session)
    project.rename(project.with_name("away"))
    assert box.run("true").returncode == 70
    project.with_name("away").rename(project)
    box = await boxes.make(project, session)
    assert box.shell("pwd") == "/vault/Projects/one\n"


async def test_which_folders_may_be_worked_in(boxes: Boxes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = boxes.launcher.folder
    monkeypatch.setenv("HOME", str(home))
    (home / ".ssh").mkdir()
    (home / "hidden link").symlink_to(home / ".ssh")
    (home / "vault link").symlink_to(boxes.vault.root)
    private = [boxes.launcher.home.root, boxes.launcher.home.logs, boxes.vault.state, boxes.vault.transcripts, home]
    private += [
        home / ".ssh",
        home / "hidden link",
        home / "vault link/.parachute",
        home.parent,
        Path("/"),
        Path("/etc"),
    ]
    private += [Path("/proc/self"), Path("/dev/shm"), Path("/run"), Path("/usr/lib"), home / "x/../.parachute"]
    for folder in private:
        with pytest.raises(InvalidInput):
            boxes.sandboxes.check_directory(folder)
    assert boxes.sandboxes.check_directory(tmp_path) == tmp_path
    assert boxes.sandboxes.check_directory(home / "vault link") == boxes.vault.root
    inside = boxes.vault.root / "Projects/one"
    assert boxes.sandboxes.check_directory(home / "vault link/Projects/one") == inside


async def test_a_vault_behind_a_link_is_guarded_the_same(boxes: Boxes) -> None:
    real = boxes.vault.root.with_name("Moved")
    boxes.vault.root.rename(real)
    boxes.vault.root.symlink_to(real)
    for folder in (real / ".parachute", boxes.vault.root / ".parachute"):
        with pytest.raises(InvalidInput):
            boxes.sandboxes.check_directory(folder)
    box = await boxes.make(boxes.vault.root / "Projects/one")
    assert box.shell("pwd; cat /vault/Daily/note.md") == "/vault/Projects/one\na note"


async def test_trusted_folders_and_other_sessions_are_invisible(boxes: Boxes) -> None:
    session = str(uuid.uuid4())
    first, second = await boxes.make(session=session), await boxes.make()
    first.shell(f"echo private > /scratch/{session}/file; cd ~/.claude/projects/*; echo x > t")
    assert (boxes.vault.transcripts / f"projects/-scratch-{session}/t").read_text() == "x\n"
    for path in (
        f"/scratch/{session}",
        str(boxes.launcher.home.root),
        str(boxes.launcher.home.sandboxes),
        str(boxes.launcher.folder),
        str(boxes.vault.root),
        "/vault/.parachute",
        "/vault/.claude",
        "/run/parachute/../agent.sock",
        "/oldroot",
        "/sys",
        "/var/log",
    ):
        assert second.run("ls", path).returncode != 0, path
    assert session not in second.shell(
        "find / -xdev -name '*' 2>/dev/null | head -c 100000; ls -R /scratch /home /run /tmp"
    )
    projects = second.shell("ls ~/.claude/projects").split()
    assert len(projects) == 1
    assert session not in projects[0]
