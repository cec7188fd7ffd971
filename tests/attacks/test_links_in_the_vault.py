"""S1: a vault from somewhere else has links in the place of the computer's own folders; none of them is followed."""

# ruff: noqa: F811 - fixtures of another file have the names of parameters here

import base64
import uuid
from pathlib import Path

import pytest

from parachute.base.errors import Unavailable
from parachute.base.files import private_folder
from parachute.chat.runs import attachments
from parachute.chat.runs.request import Attachment
from parachute.chat.sessions.transcripts import Transcripts
from parachute.config.vault.service import Vault
from parachute.security.audit.service import Audit
from tests.chat.runs.answers import answered, session_of
from tests.sandbox.engines.conftest import SandboxFactory, needs_bubblewrap, sandboxes, shared_launcher, units_process  # noqa: F401 - fixtures
from tests.support.computer import Computer
from tests.support.messages_api import MessagesAPI, text

pytestmark = pytest.mark.process


def replaced_by_link(folder: Path, target: Path) -> None:
    """Put a link to `target` where a folder of the vault is."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    if folder.exists():
        folder.rename(folder.with_name("moved"))
    folder.symlink_to(target)


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """A folder with a secret, which others may enter."""
    folder = tmp_path / "elsewhere"
    folder.mkdir(mode=0o755)
    (folder / "secret").write_text("a secret")
    return folder


def untouched(folder: Path) -> bool:
    """Return whether nothing was put into it, and nothing in it was changed."""
    return [path.name for path in folder.iterdir()] == ["secret"] and folder.stat().st_mode & 0o777 == 0o755


@needs_bubblewrap
@pytest.mark.parametrize("place", ["projects/-scratch-{session}", "projects", ""])
async def test_the_folder_of_transcripts_is_not_reached_through_a_link(
    sandboxes: SandboxFactory, elsewhere: Path, place: str
) -> None:
    session = str(uuid.uuid4())
    sandbox = await sandboxes.make(session=session)
    assert sandbox.shell("cd ~/.claude/projects/*; touch own") == ""
    await sandboxes.service.opened.close(session)
    replaced_by_link(sandboxes.vault.transcripts / place.format(session=session), elsewhere)
    with pytest.raises(Unavailable) as refusal:
        await sandboxes.make(session=session)
    assert refusal.value.key == "not_a_folder"
    assert untouched(elsewhere)


@needs_bubblewrap
async def test_a_link_that_comes_just_before_the_sandbox_begins_is_not_followed_either(
    sandboxes: SandboxFactory, elsewhere: Path
) -> None:
    session = str(uuid.uuid4())
    sandbox = await sandboxes.make(session=session)
    replaced_by_link(sandboxes.vault.transcripts / f"projects/-scratch-{session}", elsewhere)
    done = sandbox.run("sh", "-c", "cd ~/.claude/projects/*; cat secret; touch new")
    assert done.returncode == 70
    assert b"a secret" not in done.stdout
    assert untouched(elsewhere)


@needs_bubblewrap
async def test_a_vault_behind_a_link_has_transcripts_all_the_same(sandboxes: SandboxFactory) -> None:
    real = sandboxes.vault.root.with_name("Moved")
    sandboxes.vault.root.rename(real)
    sandboxes.vault.root.symlink_to(real)
    session = str(uuid.uuid4())
    sandbox = await sandboxes.make(session=session)
    sandbox.shell("cd ~/.claude/projects/*; touch own")
    assert (real / f".claude/projects/-scratch-{session}/own").exists()


@pytest.mark.parametrize("place", ["attachments/{session}", "attachments"])
def test_what_is_attached_is_stored_in_the_vault_only(tmp_path: Path, elsewhere: Path, place: str) -> None:
    vault, session = Vault(tmp_path / "vault"), str(uuid.uuid4())
    vault.prepare()
    file = (Attachment(file_name="note.txt", base64_data=base64.b64encode(b"x").decode()), b"x")
    assert attachments.store(vault, session, [file, file]) == ["note.txt", "note-2.txt"]
    replaced_by_link(vault.state / place.format(session=session), elsewhere)
    with pytest.raises(Unavailable) as refusal:
        attachments.store(vault, session, [file])
    assert refusal.value.key == "not_a_folder"
    assert untouched(elsewhere)


def test_a_transcript_is_not_brought_to_somewhere_else(tmp_path: Path, elsewhere: Path) -> None:
    vault, session = Vault(tmp_path / "vault"), str(uuid.uuid4())
    vault.prepare()
    (vault.transcripts / "projects/other").mkdir()
    (vault.transcripts / f"projects/other/{session}.jsonl").write_text('{"type": "user"}\n')
    replaced_by_link(vault.transcripts / f"projects/-scratch-{session}", elsewhere)
    with pytest.raises(Unavailable):
        Transcripts(vault, tmp_path / "none").bring(session)
    assert untouched(elsewhere)


@pytest.mark.long
@needs_bubblewrap
async def test_a_conversation_behind_a_link_waits_and_goes_on_when_its_folder_is_back(
    computer: Computer, api: MessagesAPI
) -> None:
    api.default(text("Yes."))
    async with computer.client() as client:
        session = session_of(await answered(client, "My boat is called Seagull."))
        folder, moved = computer.vault / f".claude/projects/-scratch-{session}", computer.folder / "moved"
        computer.stop()  # with it goes the agent that knows the conversation without its transcript
        folder.rename(moved)
        folder.symlink_to(moved)
        computer.start()
        for _ in range(2):
            refused = (await answered(client, "Hello?", session)).terminal
            assert (refused["type"], refused["key"]) == ("typed_error", "not_a_folder")
            assert [path.name for path in moved.iterdir()] == [f"{session}.jsonl"]
        folder.unlink()
        moved.rename(folder)
        stream = await answered(client, "What is it called?", session)
        assert (stream.terminal["type"], stream.of_type("session_unavailable")) == ("done", [])
    sent = str(api.conversation[-1].body["messages"])
    assert sent.count("My boat is called Seagull.") == 1
    assert "prior_conversation" not in sent


def test_no_transcript_is_found_or_deleted_behind_a_link(tmp_path: Path, elsewhere: Path) -> None:
    vault, session = Vault(tmp_path / "vault"), str(uuid.uuid4())
    vault.prepare()
    transcripts = Transcripts(vault, tmp_path / "none")
    folder = vault.transcripts / f"projects/-scratch-{session}"
    folder.mkdir()
    (folder / f"{session}.jsonl").write_text('{"type": "user"}\n')
    assert (transcripts.find(session), [*transcripts.ids()]) == (folder / f"{session}.jsonl", [session])
    folder.rename(elsewhere / "moved")
    folder.symlink_to(elsewhere / "moved")
    assert (transcripts.find(session), [*transcripts.ids()]) == (None, [])
    transcripts.delete(session)
    assert (elsewhere / "moved" / f"{session}.jsonl").exists()


@pytest.mark.parametrize(
    "place", [".parachute", ".parachute/audit", ".parachute/sessions.db", ".claude", ".claude/projects"]
)
def test_the_computer_does_not_start_with_a_link_among_its_own_folders(
    tmp_path: Path, elsewhere: Path, place: str
) -> None:
    vault = Vault(tmp_path / "vault")
    vault.prepare()
    replaced_by_link(vault.root / place, elsewhere)
    with pytest.raises(Unavailable) as refusal:
        vault.prepare()
    assert refusal.value.key == "not_a_folder"
    assert untouched(elsewhere)


async def test_the_audit_is_not_written_behind_a_link(tmp_path: Path, elsewhere: Path) -> None:
    (tmp_path / "link").symlink_to(elsewhere)
    for name in ("folder", "link"):
        audit = Audit(tmp_path / name)
        audit.append(event_type="x", source_type="x", source_id="x", target_module="x", target_endpoint="x")
        await audit.close()
    assert [*(tmp_path / "folder").iterdir()], "the control: it is written"
    assert untouched(elsewhere)


def test_a_private_folder_is_never_a_link(tmp_path: Path, elsewhere: Path) -> None:
    (tmp_path / "link").symlink_to(elsewhere)
    assert private_folder(tmp_path / "a/b").is_dir()
    for path, below in ((tmp_path / "link", None), (tmp_path / "link/new", tmp_path)):
        with pytest.raises(Unavailable):
            private_folder(path, below)
    assert untouched(elsewhere)
