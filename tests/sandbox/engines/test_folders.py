"""Folders in a sandbox: what of the vault is there, what may be written, and where no name or link leads."""

import uuid
from pathlib import Path

import pytest

from parachute.base.errors import InvalidInput
from tests.sandbox.engines.conftest import SandboxFactory, needs_bubblewrap

pytestmark = [needs_bubblewrap, pytest.mark.process]


async def test_only_the_visible_folders_of_the_vault_are_there_and_read_only(sandboxes: SandboxFactory) -> None:
    (sandboxes.vault.root / "Link").symlink_to(sandboxes.vault.root / ".hidden")
    (sandboxes.vault.root / "file.txt").write_text("a file")
    for name in ("with space", "new\nline", "grün \U0001f600", "-dash", "a,b=c"):
        (sandboxes.vault.root / name).mkdir()
        (sandboxes.vault.root / name / "note").write_text("here")
    sandbox = await sandboxes.make()
    listing = "import json, os; print(json.dumps(sorted(os.listdir('/vault'))))"
    expected = ["Daily", "Projects", "with space", "new\nline", "grün \U0001f600", "-dash", "a,b=c"]
    assert sandbox.python(listing) == sorted(expected)
    read = "import json; print(json.dumps([open(f'/vault/{name}/note').read() for name in __import__('sys').argv[1:]]))"
    assert sandbox.python(read, *expected[2:]) == ["here"] * 5
    assert sandbox.shell("cat /vault/Daily/note.md") == "a note"
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
        assert sandbox.run("sh", "-c", attempt).returncode != 0, attempt
    assert sorted(path.name for path in (sandboxes.vault.root / "Daily").iterdir()) == ["note.md"]
    assert (sandboxes.vault.root / "Daily/note.md").read_text() == "a note"


async def test_links_in_the_vault_lead_nowhere(sandboxes: SandboxFactory) -> None:
    secret = sandboxes.launcher.folder / "secret"
    secret.write_text("outside")
    for name, target in (("absolute", secret), ("upward", Path("../../secret")), ("hidden", Path("../.hidden/secret"))):
        (sandboxes.vault.root / "Daily" / name).symlink_to(target)
        assert (sandboxes.vault.root / "Daily" / name).read_text()
    sandbox = await sandboxes.make()
    for name in ("absolute", "upward", "hidden"):
        assert sandbox.run("cat", f"/vault/Daily/{name}").returncode != 0


async def test_a_working_directory_is_writable_and_nothing_beside_it(sandboxes: SandboxFactory) -> None:
    project = sandboxes.vault.root / "Projects/one"
    sandbox = await sandboxes.make(project)
    assert sandbox.shell("pwd; echo text > file; mkdir folder; mv file folder; cat folder/file") == (
        "/vault/Projects/one\ntext\n"
    )
    assert (project / "folder/file").read_text() == "text\n"
    for attempt in ("echo x > ../two/file", "echo x > ../file", "mv ../one ../three", "mkdir ../../New"):
        assert sandbox.run("sh", "-c", attempt).returncode != 0, attempt
    assert sandbox.run("ln", "/vault/Daily/note.md", "linked").returncode != 0
    assert sorted(path.name for path in (sandboxes.vault.root / "Projects").iterdir()) == ["one", "two"]
    casual = await sandboxes.make()
    assert casual.run("touch", "/vault/Projects/one/file").returncode != 0


@pytest.mark.long
@pytest.mark.parametrize("name", ["a,b = c", "new\nline", "grün \U0001f600", "cafe\u0301", "-rf", "x" * 200])
async def test_a_working_directory_of_any_name(sandboxes: SandboxFactory, name: str) -> None:
    for parent in (sandboxes.vault.root / "Projects", sandboxes.launcher.folder):
        (parent / name).mkdir()
        sandbox = await sandboxes.make(parent / name)
        sandbox.shell("echo written > file")
        assert (parent / name / "file").read_text() == "written\n"


async def test_a_working_directory_that_another_agent_replaced_by_a_link_is_not_entered(
    sandboxes: SandboxFactory,
) -> None:
    nested = sandboxes.vault.root / "Projects/one/nested"
    nested.mkdir()
    sandbox = await sandboxes.make(nested)
    other = await sandboxes.make(sandboxes.vault.root / "Projects/one")
    other.shell(f"rmdir nested; ln -s {sandboxes.launcher.home.root} nested")
    assert (nested / "run").is_dir()  # the link works
    with sandbox.start("sh", "-c", "ls -a; ls -a ..") as process:
        output, _ = process.communicate(timeout=90)
    assert process.returncode == 70
    assert output == b""


async def test_a_working_directory_that_has_gone_and_come_back(sandboxes: SandboxFactory) -> None:
    session, project = str(uuid.uuid4()), sandboxes.vault.root / "Projects/one"
    sandbox = await sandboxes.make(project, session)
    project.rename(project.with_name("away"))
    assert sandbox.run("true").returncode == 70
    project.with_name("away").rename(project)
    sandbox = await sandboxes.make(project, session)
    assert sandbox.shell("pwd") == "/vault/Projects/one\n"


async def test_which_folders_may_be_worked_in(
    sandboxes: SandboxFactory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = sandboxes.launcher.folder
    monkeypatch.setenv("HOME", str(home))
    (home / ".ssh").mkdir()
    (home / "hidden link").symlink_to(home / ".ssh")
    (home / "vault link").symlink_to(sandboxes.vault.root)
    private = [
        sandboxes.launcher.home.root,
        sandboxes.launcher.home.logs,
        sandboxes.vault.state,
        sandboxes.vault.transcripts,
        home,
    ]
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
            sandboxes.service.check_directory(folder)
    assert sandboxes.service.check_directory(tmp_path) == tmp_path
    assert sandboxes.service.check_directory(home / "vault link") == sandboxes.vault.root
    inside = sandboxes.vault.root / "Projects/one"
    assert sandboxes.service.check_directory(home / "vault link/Projects/one") == inside


async def test_a_vault_behind_a_link_is_guarded_the_same(sandboxes: SandboxFactory) -> None:
    real = sandboxes.vault.root.with_name("Moved")
    sandboxes.vault.root.rename(real)
    sandboxes.vault.root.symlink_to(real)
    for folder in (real / ".parachute", sandboxes.vault.root / ".parachute"):
        with pytest.raises(InvalidInput):
            sandboxes.service.check_directory(folder)
    sandbox = await sandboxes.make(sandboxes.vault.root / "Projects/one")
    assert sandbox.shell("pwd; cat /vault/Daily/note.md") == "/vault/Projects/one\na note"


@pytest.mark.long
async def test_trusted_folders_and_other_sessions_are_invisible(sandboxes: SandboxFactory) -> None:
    session = str(uuid.uuid4())
    first, second = await sandboxes.make(session=session), await sandboxes.make()
    first.shell(f"echo private > /scratch/{session}/file; cd ~/.claude/projects/*; echo x > t")
    assert (sandboxes.vault.transcripts / f"projects/-scratch-{session}/t").read_text() == "x\n"
    for path in (
        f"/scratch/{session}",
        str(sandboxes.launcher.home.root),
        str(sandboxes.launcher.home.sandboxes),
        str(sandboxes.launcher.folder),
        str(sandboxes.vault.root),
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
