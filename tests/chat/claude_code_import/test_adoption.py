"""Conversations of Claude Code are continued here, by the real program, and the original stays as it is."""

import asyncio
import os
import sys
import uuid
from pathlib import Path

import pytest

from parachute.security.keys.models import Scope
from parachute.security.keys.service import Keys
from tests.contract import models
from tests.contract.models import check_error, check_response
from tests.support.computer import Computer
from tests.support.messages_api import MessagesAPI, text, tool_use
from tests.support.sse import chat

from .writing import claude_says, said, talk, write

pytestmark = pytest.mark.long

BODYLESS = {"content-type": "application/json"}


@pytest.fixture
def claude(computer: Computer) -> Path:
    """The folder of Claude Code of the computer's owner."""
    return computer.folder / ".claude"


def left(computer: Computer, session: str) -> list[str]:
    """All that the vault's folders know of a conversation."""
    found = (path for folder in (".claude", ".parachute") for path in (computer.vault / folder).rglob("*"))
    return [str(path) for path in found if session in path.name]


async def test_a_conversation_goes_on_here(computer: Computer, claude: Path, api: MessagesAPI) -> None:
    boat = computer.folder / "Projects" / "my-boat"
    api.script(text("Her name is Ottilie."), tool_use("Bash", {"command": "pwd"}), text("Ottilie."), text("Still her."))
    session = await claude_says(api, computer.folder, boat, "My boat has a name, guess it.")
    (original,) = claude.glob(f"projects/*/{session}.jsonl")
    before = original.read_bytes()
    async with computer.client() as app:
        listed = check_response(models.ClaudeCodeSessions, await app.get("/api/claude-code/recent?limit=100"))
        (row,) = listed.sessions
        assert (row.session_id, row.first_message) == (session, "My boat has a name, guess it.")
        assert (row.project_path, row.created_at is not None, row.model is not None) == (str(boat), True, True)
        (project,) = check_response(models.ClaudeCodeProjects, await app.get("/api/claude-code/projects")).projects
        assert (project.path, project.encoded_name, project.session_count) == (str(boat), original.parent.name, 1)
        inside = await app.get("/api/claude-code/sessions", params={"path": project.path})
        assert check_response(models.ClaudeCodeSessions, inside).sessions == listed.sessions
        answer = await app.get(f"/api/claude-code/sessions/{session}", params={"path": project.path})
        details = check_response(models.ClaudeCodeDetails, answer, present=["cwd", "model", "createdAt"])
        assert [(each.type, each.content) for each in details.messages] == [
            ("user", "My boat has a name, guess it."),
            ("assistant", "Her name is Ottilie."),
        ]
        path = {"path": project.path}
        answer = await app.post(f"/api/claude-code/adopt/{session}", params=path, headers=BODYLESS)
        adoption = check_response(models.ClaudeCodeAdoption, answer)
        assert (adoption.success, adoption.already_adopted) == (True, False)
        adopted = adoption.parachute_session_id
        found = check_response(models.SessionWithMessages, await app.get(f"/api/chat/{adopted}"))
        assert (found.source, found.original_id, found.trust_level) == ("claude-code", session, "sandboxed")
        assert (found.working_directory, found.title) == (str(boat), "My boat has a name, guess it.")
        assert len(found.messages) == 2
        check_response(models.Transcript, await app.get(f"/api/chat/{adopted}/transcript"))
        hits = (await app.get("/api/chat", params={"search": "ottilie"})).json()["sessions"]
        assert [hit["id"] for hit in hits] == [adopted]

        async with chat(app, "What is she called?", session_id=adopted) as stream:
            await stream.collect()
        assert stream.terminal["type"] == "done", stream.terminal
        assert stream.terminal["sessionResume"]["method"] == "sdk_resume"
        sent = str(api.conversation[-1].body["messages"])
        assert [part in sent for part in ("guess it", "Her name is Ottilie.", "What is she called?")] == [True] * 3
        # Also when it runs directly, where the program looks for transcripts by itself.
        await app.patch(f"/api/chat/{adopted}/config", json={"trustLevel": "direct"})
        async with chat(app, "And now?", session_id=adopted) as stream:
            await stream.collect()
        assert stream.terminal["type"] == "done", stream.terminal
        assert "Her name is Ottilie." in str(api.conversation[-1].body["messages"])

        again = check_response(models.ClaudeCodeAdoption, await app.post(f"/api/claude-code/adopt/{session}"))
        assert (again.already_adopted, again.parachute_session_id) == (True, adopted)
        assert (await app.delete(f"/api/chat/{adopted}")).status_code == 200
        assert original.read_bytes() == before
        assert left(computer, session) == []
        once_more = check_response(models.ClaudeCodeAdoption, await app.post(f"/api/claude-code/adopt/{session}"))
        assert once_more.already_adopted is False


async def test_many_adoptions_at_once_are_one(computer: Computer, claude: Path) -> None:
    session = write(claude, "/gone", *talk("/gone"))
    async with computer.client() as app:
        answers = await asyncio.gather(*(app.post(f"/api/claude-code/adopt/{session}") for _ in range(5)))
        adoptions = [check_response(models.ClaudeCodeAdoption, answer) for answer in answers]
        assert sorted(each.already_adopted for each in adoptions) == [False, True, True, True, True]
        assert {each.parachute_session_id for each in adoptions} == {session}
        assert len((await app.get("/api/chat")).json()["sessions"]) == 1
    assert left(computer, session) == [
        str(computer.vault / ".claude" / "projects" / f"-scratch-{session}"),
        str(computer.vault / ".claude" / "projects" / f"-scratch-{session}" / f"{session}.jsonl"),
    ]


async def test_where_it_goes_on(computer: Computer, claude: Path) -> None:
    for folder in ("Projects/ship", "private", ".ssh", "Parachute/Notes"):
        (computer.folder / folder).mkdir(parents=True, exist_ok=True)
    for began, asked, reason in (
        ("Projects/ship", None, None),
        ("private", None, "neither in the vault"),
        (".ssh", None, "neither in the vault"),
        ("Projects/gone", None, "does not exist"),
        ("private", "Notes", None),
        ("Projects/ship", ".parachute", "computer's own data"),
        ("Projects/ship", "../.claude", "neither in the vault"),
    ):
        cwd = str(computer.folder / began)
        session = write(claude, cwd, *talk(cwd))
        async with computer.client() as app:
            body = {} if asked is None else {"workingDirectory": asked}
            answer = await app.post(f"/api/claude-code/adopt/{session}", json=body)
            adoption = check_response(models.ClaudeCodeAdoption, answer)
            found = (await app.get(f"/api/chat/{session}")).json()["workingDirectory"]
        assert adoption.success
        if reason:
            assert found is None, (began, asked)
            assert reason in adoption.message
        else:
            assert found == (asked or cwd)
            assert "no folder" not in adoption.message


async def test_what_cannot_be_adopted_leaves_nothing(computer: Computer, claude: Path, api: MessagesAPI) -> None:
    large = write(claude, "/a", *talk("/a"))
    os.truncate(claude / "projects" / "-a" / f"{large}.jsonl", 1024**3)
    silent = write(claude, "/a", {"type": "summary", "summary": "x"})
    good = write(claude, "/a", *talk("/a"))
    linked = str(uuid.uuid4())
    (claude / "projects" / "-a" / f"{linked}.jsonl").symlink_to(claude / "projects" / "-a" / f"{good}.jsonl")
    async with computer.client() as app:
        check_error(await app.post(f"/api/claude-code/adopt/{large}"), 422, "longer than")
        for session in (silent, linked, str(uuid.uuid4()), "x", f"agent-{good}"):
            check_error(await app.post(f"/api/claude-code/adopt/{session}"), 404)
            check_error(await app.get(f"/api/claude-code/sessions/{session}"), 404)
        check_error(await app.post(f"/api/claude-code/adopt/{good}", params={"path": "/b"}), 404, "in this project")
        for body in ({"workingDirectory": 7}, {"workingDirectory": "a\0b"}, {"workingDirectory": "x" * 300}, [1]):
            check_error(await app.post(f"/api/claude-code/adopt/{good}", json=body), 422)
        # The vault cannot take it: nothing is half there.
        (computer.vault / ".parachute" / "adopting").rmdir()
        (computer.vault / ".parachute" / "adopting").write_text("in the way")
        check_error(await app.post(f"/api/claude-code/adopt/{good}"), 503, "adopting is a link or no folder")
        assert (await app.get("/api/chat")).json()["sessions"] == []
    for session in (large, silent, good, linked):
        assert left(computer, session) == []


async def test_a_hook_can_refuse_it(computer: Computer, claude: Path) -> None:
    folder = computer.home.root / "hooks"
    folder.mkdir(mode=0o700, exist_ok=True)
    (folder / "on-session-start.sh").write_text("#!/bin/sh\necho 'not today' >&2; exit 2\n")
    (folder / "on-session-start.sh").chmod(0o700)
    session = write(claude, "/a", *talk("/a"))
    async with computer.client() as app:
        first = await app.post(f"/api/claude-code/adopt/{session}")
        # A hook that nobody has approved has no say.
        assert check_response(models.ClaudeCodeAdoption, first).success
        assert (await app.delete(f"/api/chat/{session}")).status_code == 200
        environment = {"PATH": os.environ["PATH"], "PARACHUTE_HOME": str(computer.home.root)}
        await _approve_hooks({**environment, "HOME": str(computer.folder)})
        check_error(await app.post(f"/api/claude-code/adopt/{session}"), 403, "not today")
        check_error(await app.get(f"/api/chat/{session}"), 404)
    assert left(computer, session) == []


async def test_a_transcript_that_the_vault_has_is_kept(computer: Computer, claude: Path) -> None:
    session = write(claude, "/a", *talk("/a"))
    kept = computer.vault / ".claude" / "projects" / f"-scratch-{session}" / f"{session}.jsonl"
    assert write(computer.folder / "made", "/a", *talk("/a"), said("user", "Longer."), session=session) == session
    kept.parent.mkdir(mode=0o700, parents=True)
    (made,) = (computer.folder / "made").rglob("*.jsonl")
    kept.write_bytes(made.read_bytes())
    async with computer.client() as app:
        check_response(models.ClaudeCodeAdoption, await app.post(f"/api/claude-code/adopt/{session}"))
        assert "Longer." in (await app.get(f"/api/chat/{session}")).text
    assert kept.read_bytes() == made.read_bytes()


async def test_one_that_was_cut_off_is_removed_at_the_next_start(computer: Computer, claude: Path) -> None:
    done, cut_off = (write(claude, "/a", *talk("/a")) for _ in range(2))
    async with computer.client() as app:
        check_response(models.ClaudeCodeAdoption, await app.post(f"/api/claude-code/adopt/{done}"))
    # As a core leaves it that is killed after the copy has its place: with and without its session.
    folder = computer.vault / ".parachute" / "adopting"
    for session in (done, cut_off):
        (folder / session).touch()
    place = computer.vault / ".claude" / "projects" / f"-scratch-{cut_off}"
    place.mkdir(mode=0o700)
    (place / f"{cut_off}.jsonl").write_text("{}\n")
    (folder / f"{cut_off}.jsonl").write_text("half")
    await asyncio.to_thread(computer.kill_core)
    assert left(computer, cut_off) == []
    async with computer.client() as app:
        assert len((await app.get(f"/api/chat/{done}")).json()["messages"]) == 2
        again = check_response(models.ClaudeCodeAdoption, await app.post(f"/api/claude-code/adopt/{cut_off}"))
        assert again.already_adopted is False


async def test_keys_reach_as_far_as_they_may(computer: Computer, claude: Path) -> None:
    session = write(claude, "/a", *talk("/a"))
    keys = Keys(computer.home.root)
    reading, other = (keys.create(name[:4], (Scope.parse(name),))[1] for name in ("chat:read", "daily:read"))
    keys.close()
    async with computer.client(headers={"x-api-key": other}) as app:
        for path in ("recent", "projects", "sessions?path=/a", f"sessions/{session}"):
            check_error(await app.get(f"/api/claude-code/{path}"), 403)
    async with computer.client(headers={"x-api-key": reading}) as app:
        listed = check_response(models.ClaudeCodeSessions, await app.get("/api/claude-code/recent"))
        assert [row.session_id for row in listed.sessions] == [session]
        check_error(await app.post(f"/api/claude-code/adopt/{session}"), 403)
    assert left(computer, session) == []


async def _approve_hooks(environment: dict[str, str]) -> None:
    command = (sys.executable, "-m", "parachute.cli", "hooks", "approve", "--yes")
    process = await asyncio.create_subprocess_exec(*command, env=environment, stdout=asyncio.subprocess.DEVNULL)
    assert await asyncio.wait_for(process.wait(), 100) == 0
