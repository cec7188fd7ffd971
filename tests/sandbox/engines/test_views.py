"""Copy-on-write views: an agent sees its own work, and the folder stays as it is."""

import os
import socket
import stat
import subprocess
import uuid
from pathlib import Path

import pytest

from parachute.base.errors import InvalidInput
from parachute.sandbox.engines.limits import Limits
from parachute.sandbox.engines.models import Mount
from parachute.sandbox.engines.views import View, unavailable
from tests.sandbox.engines.conftest import SandboxFactory, needs_bubblewrap
from tests.sandbox.engines.sandboxes import Sandbox
from tests.support.errors import raises

pytestmark = [needs_bubblewrap, pytest.mark.usefixtures("views_work"), pytest.mark.process]


@pytest.fixture
def project(sandboxes: SandboxFactory) -> Path:
    """A project with a file and a folder."""
    folder = sandboxes.vault.root / "Projects/one"
    (folder / "src").mkdir()
    (folder / "src/main.c").write_text("int main;")
    (folder / "note").write_text("before")
    return folder


def view(sandboxes: SandboxFactory) -> View:
    """The view of one session."""
    return View(sandboxes.launcher.home.views / "one")


async def test_what_an_agent_writes_is_in_the_view_and_not_in_the_folder(
    sandboxes: SandboxFactory, project: Path
) -> None:
    found = view(sandboxes)
    session = str(uuid.uuid4())
    sandbox = await sandboxes.make(project, session, view=found.folder)
    script = "echo after > note; rm -r src; echo x > new; ln -s note link; chmod +x new; cat note; ls"
    assert sandbox.shell(script) == "after\nlink\nnew\nnote\n"
    assert {path.name for path in project.iterdir()} == {"note", "src"}
    assert (project / "note").read_text() == "before"
    assert (found.upper / "note").read_text() == "after\n"
    assert (found.upper / "new").stat().st_uid == os.getuid()
    whiteout = (found.upper / "src").lstat()
    assert stat.S_ISCHR(whiteout.st_mode)
    assert whiteout.st_rdev == 0
    # Nothing holds the place of missing files any more, neither in the folder nor in the view.
    assert not (project / ".git").exists()
    assert not (found.upper / ".git").exists()
    assert not (await sandboxes.service.opened.explain(session)).differs


async def test_git_works_in_a_view_with_a_configuration_of_its_own(sandboxes: SandboxFactory, project: Path) -> None:
    git = ("git", "-c", "user.name=o", "-c", "user.email=o@o")
    subprocess.run([*git, "init", "-q"], cwd=project, check=True)
    configuration = (project / ".git/config").read_bytes()
    sandbox = await sandboxes.make(project, view=view(sandboxes).folder)
    commit = "git add -A && git -c user.name=a -c user.email=a@a commit -qm first"
    assert sandbox.shell(f"git config user.name agent && {commit} && git log --format=%s") == "first\n"
    assert (project / ".git/config").read_bytes() == configuration
    # The owner's git goes on meanwhile, and the sandbox with it.
    subprocess.run(["git", "config", "user.name", "owner"], cwd=project, check=True)
    assert sandbox.shell("git status --short; echo still here") == "still here\n"


async def test_the_owner_s_changes_are_seen_and_their_sockets_refuse(sandboxes: SandboxFactory, project: Path) -> None:
    sandbox = await sandboxes.make(project, view=view(sandboxes).folder)
    sandbox.shell("echo mine > mine")
    (project / "note").write_text("by the owner")
    (project / "src/other.c").write_text("int other;")
    assert sandbox.shell("cat note src/other.c") == "by the ownerint other;"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(project / "s"))
        listener.listen()
        connect = "import socket,json; print(json.dumps(socket.socket(socket.AF_UNIX).connect_ex('s')))"
        assert sandbox.python(connect) != 0


async def test_a_view_outlives_its_sandbox(sandboxes: SandboxFactory, project: Path) -> None:
    session = str(uuid.uuid4())
    sandbox = await sandboxes.make(project, session, view=view(sandboxes).folder)
    sandbox.shell("echo kept > kept")
    await sandboxes.service.opened.close(session)
    again = await sandboxes.make(project, session, view=view(sandboxes).folder)
    assert again.shell("cat kept") == "kept\n"
    await sandboxes.service.opened.close(session)
    view(sandboxes).remove()
    assert not view(sandboxes).folder.exists()


async def test_a_path_with_signs_of_options_can_have_a_view(sandboxes: SandboxFactory) -> None:
    project = sandboxes.vault.root / "Projects/a,b:c\\d e"
    project.mkdir()
    (project / "note").write_text("here")
    sandbox = await sandboxes.make(project, view=view(sandboxes).folder)
    assert sandbox.shell("cat note; echo x > y") == "here"
    assert (view(sandboxes).upper / "y").exists()
    assert not (project / "y").exists()


async def test_a_link_in_the_place_of_a_project_gets_no_view(sandboxes: SandboxFactory, project: Path) -> None:
    execution = await sandboxes.prepare(project, view=view(sandboxes).folder)
    assert execution.view == view(sandboxes).folder
    project.rename(project.with_name("moved"))
    project.symlink_to(sandboxes.launcher.home.root)
    with pytest.raises(InvalidInput):
        await sandboxes.make(project, view=view(sandboxes).folder)


def test_a_place_for_files_that_cannot_be_written_has_no_views(tmp_path: Path) -> None:
    assert unavailable(tmp_path) is None
    assert "cannot be mounted" in (unavailable(Path("/proc/views")) or "")


async def test_agents_that_had_views_do_not_go_without(sandboxes: SandboxFactory, project: Path) -> None:
    assert (await sandboxes.prepare(project, view=view(sandboxes).folder)).view
    (sandboxes.launcher.home.views / ".tried").touch()
    sandboxes.service = sandboxes.make_service()
    with raises("no_views"):
        await sandboxes.prepare(project, view=view(sandboxes).folder)


async def test_parts_of_one_view_are_mounted_apart_and_written_together(sandboxes: SandboxFactory) -> None:
    vault, found = sandboxes.vault.root, view(sandboxes)
    (vault / "Projects/one").chmod(0o750)
    parts = ("Daily", "Projects/one")
    for part in parts:
        View(found.folder, part).make(vault)
    mounts = [Mount(str(vault / part), f"/vault/{part}", True, view=str(found.folder), part=part) for part in parts]
    session = str(uuid.uuid4())
    endpoint = sandboxes.endpoint(session)
    execution = await sandboxes.service.confine(session, endpoint, mounts, egress=False, limits=Limits(processes=200))
    sandbox = Sandbox(execution.agent_socket, execution.directory, sandboxes.launcher, f"sandbox@{session}")
    assert sandbox.shell("cd /vault; rm Daily/note.md; echo x > Projects/one/new; ls") == "Daily\nProjects\n"
    assert stat.S_ISCHR((found.upper / "Daily/note.md").lstat().st_mode)
    assert (found.upper / "Projects/one/new").read_text() == "x\n"
    assert stat.S_IMODE((found.upper / "Projects/one").stat().st_mode) == 0o750
    assert [path.name for path in (vault / "Projects/one").iterdir()] == []
    assert not (await sandboxes.service.opened.explain(session)).differs
    await sandboxes.service.opened.close(session)
    found.remove()
    assert not found.folder.exists()
