"""S3: an agent gets one project that the owner chose, and none with repositories of the owner further down."""

# ruff: noqa: F811 - fixtures of another file have the names of parameters here

import subprocess
from pathlib import Path

import pytest

from parachute.base.errors import InvalidInput
from parachute.config.settings.models import Settings
from parachute.sandbox.engines.service import Sandboxes
from tests.attacks.conftest import key_for_chats
from tests.chat.runs.answers import answered
from tests.sandbox.engines.conftest import SandboxFactory, needs_bubblewrap, sandboxes, shared_launcher, units_process  # noqa: F401 - fixtures
from tests.sandbox.engines.escapes.protected import GIT
from tests.support.computer import Computer
from tests.support.messages_api import MessagesAPI, text

pytestmark = pytest.mark.long

REPOSITORIES = {
    "a repository": "git init -q lib",
    "a repository far below": "git init -q a/b/c/lib",
    "one whose data lie elsewhere": "mkdir lib && echo 'gitdir: ../../two' > lib/.git",
    "one behind a link": "mkdir lib && ln -s /tmp lib/.git",
    "one without a work tree": "git init -q --bare lib",
    "what only looks like one": "mkdir -p lib/objects lib/refs && touch lib/HEAD",
    "the folder itself": "mkdir objects refs && touch HEAD",
}


def made(sandboxes: SandboxFactory, script: str) -> Path:
    """A project in which a script was run."""
    project = sandboxes.vault.root / "Projects/one"
    subprocess.run(["sh", "-c", script], cwd=project, env=GIT, check=True)
    return project


@needs_bubblewrap
@pytest.mark.parametrize("script", REPOSITORIES.values(), ids=REPOSITORIES)
async def test_a_folder_with_other_repositories_is_no_project(sandboxes: SandboxFactory, script: str) -> None:
    project = made(sandboxes, script)
    with pytest.raises(InvalidInput) as refusal:
        sandboxes.service.check_project(project)
    assert refusal.value.key == "project_holds_repository"
    # Nor does its sandbox begin where one was chosen before.
    assert (await sandboxes.make(project)).run("touch", "here").returncode == 70


@needs_bubblewrap
@pytest.mark.parametrize("script", REPOSITORIES.values(), ids=REPOSITORIES)
async def test_a_view_of_one_can_be_worked_on(sandboxes: SandboxFactory, script: str) -> None:
    project = made(sandboxes, script)
    before = sorted(path.relative_to(project) for path in project.rglob("*"))
    sandbox = await sandboxes.make(project, view=sandboxes.launcher.home.views / "one")
    assert sandbox.run("sh", "-c", "touch here; rm -rf lib").returncode == 0
    assert sorted(path.relative_to(project) for path in project.rglob("*")) == before


@needs_bubblewrap
async def test_a_repository_is_a_project(sandboxes: SandboxFactory) -> None:
    project = made(sandboxes, "git init -q . && mkdir -p sub/.git .git/modules")
    assert sandboxes.service.check_project(project) == project
    sandbox = await sandboxes.make(project)
    assert sandbox.shell("touch sub/file && git status --short && echo done").endswith("done\n")


@needs_bubblewrap
async def test_all_projects_together_are_none(sandboxes: SandboxFactory, tmp_path: Path) -> None:
    settings = Settings(vault=sandboxes.vault.root, project_folders=[tmp_path])
    service = Sandboxes(sandboxes.launcher.home, settings, sandboxes.vault, sandboxes.program)
    (tmp_path / "one").mkdir()
    assert service.check_project(tmp_path / "one") == tmp_path / "one"
    with pytest.raises(InvalidInput) as refusal:
        service.check_project(tmp_path)
    assert refusal.value.key == "not_a_project"


@needs_bubblewrap
@pytest.mark.parametrize("kind", ["Chat", "agents", "parachute", "parachute/below"])
async def test_what_steers_others_is_no_project(sandboxes: SandboxFactory, kind: str) -> None:
    folder = sandboxes.vault.root / kind
    folder.mkdir(parents=True)
    with pytest.raises(InvalidInput) as refusal:
        sandboxes.service.check_project(folder)
    assert refusal.value.key == "not_a_project"
    with pytest.raises(InvalidInput):
        await sandboxes.make(folder)


@needs_bubblewrap
async def test_too_much_to_look_through_is_refused(sandboxes: SandboxFactory) -> None:
    project = made(sandboxes, "for i in $(seq 250); do mkdir -p p$i/.vscode && touch p$i/.vscode/x; done")
    with pytest.raises(InvalidInput) as refusal:
        sandboxes.service.check_project(project)
    assert refusal.value.key == "project_too_large"
    assert (await sandboxes.make(project)).run("true").returncode == 70


async def test_only_the_owner_chooses_a_folder(computer: Computer, api: MessagesAPI) -> None:
    api.default(text("Hello."))
    for name in ("chosen", "other"):
        (computer.vault / "Projects" / name).mkdir(parents=True, exist_ok=True)
    async with computer.client() as owner, computer.client(headers={"X-API-Key": key_for_chats(computer)}) as phone:
        refused = await phone.post("/api/chat", json={"message": "hi", "workingDirectory": "Projects/other"})
        assert (refused.status_code, refused.json()["key"]) == (403, "not_owner")
        wanted = {"name": "Other", "working_directory": "Projects/other"}
        assert (await phone.post("/api/workspaces", json=wanted)).status_code == 403
        made = await owner.post("/api/workspaces", json={"name": "Chosen", "working_directory": "Projects/chosen"})
        slug = made.json()["workspace"]["slug"]
        changed = await phone.put(f"/api/workspaces/{slug}", json={"working_directory": "Projects/other"})
        assert changed.status_code == 403
        # What the owner chose can be used, also by its name, and a conversation goes on in its folder.
        for fields in ({"workspaceId": slug}, {"workingDirectory": "Projects/chosen"}):
            assert (await answered(phone, "hi", **fields)).terminal["type"] == "done"
        own = await answered(owner, "hi", workingDirectory="Projects/other")
        assert (await answered(phone, "hi", own.terminal["sessionId"])).terminal["type"] == "done"
