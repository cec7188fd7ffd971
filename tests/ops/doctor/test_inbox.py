"""Findings of the doctor wait in the inbox until it is solved; the doctor itself is the real program."""

import json
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from parachute.base.errors import Conflict, Unavailable
from parachute.config.settings.home import Home
from parachute.events.inbox.models import Answer, Item
from parachute.events.inbox.service import Inbox
from parachute.events.scheduler.times import TimeOfDay
from parachute.ops.doctor.checks import all_checks
from parachute.ops.doctor.examiner import Examiner
from parachute.ops.doctor.findings import Findings, hide, record
from parachute.ops.doctor.inbox import ProblemsSource
from parachute.ops.doctor.models import Examination, Fix, Level, Result, ok, problem, warning
from parachute.security.audit.service import Audit
from parachute.security.keys.models import Caller, Scope
from tests.support.clock import ManualClock
from tests.support.computer import Computer
from tests.support.messages_api import MessagesAPI

pytestmark = pytest.mark.process

OWNER = Caller("key", "phone", (Scope.parse("*:admin"),))


class Watched:
    """An inbox with the problems of one installation."""

    def __init__(self, folder: Path) -> None:
        self.home = Home(folder / "home")
        self.home.root.mkdir(mode=0o700)
        self.audit = Audit(folder / "audit")
        self.inbox = Inbox(self.audit)
        self.examiner = Examiner(self.home, self.inbox.changed)
        self.inbox.add(ProblemsSource(self.home, self.examiner))

    def break_settings(self) -> None:
        self.home.config.write_text("no_such_setting: 1\n")

    def note(self, name: str, result: Result, *, is_whole: bool = False) -> None:
        """Write down a result as an examination does."""
        record(self.home.root, [Examination(name, all_checks()[name], result)], is_whole=is_whole)

    async def items(self) -> list[Item]:
        return list((await self.inbox.page()).items)

    async def answer(self, item: Item, word: str) -> None:
        await self.inbox.answer(item.id, item.hash, Answer(word, "owner"), OWNER, is_owner=True)


@pytest.fixture
async def watched(tmp_path: Path) -> AsyncIterator[Watched]:
    made = Watched(tmp_path)
    made.audit.start()
    yield made
    await made.examiner.close()
    await made.audit.close()


@pytest.mark.long
async def test_a_problem_waits_until_it_is_solved(watched: Watched) -> None:
    watched.break_settings()
    await watched.examiner.examine(["settings"])
    (item,) = await watched.items()
    assert (item.kind, item.source, item.details["check"]) == ("problem", "doctor", "settings")
    with pytest.raises(Conflict) as caught:
        await watched.answer(item, "look-again")
    assert caught.value.key == "not_solved"
    (again,) = await watched.items()
    assert (again.id, again.since) == (item.id, item.since)
    watched.home.config.unlink()
    await watched.answer(again, "look-again")
    assert await watched.items() == []


@pytest.mark.long
async def test_what_happened_meanwhile_is_examined_in_the_background(watched: Watched) -> None:
    pages = watched.inbox.watch()
    assert (await anext(pages)).items == ()
    watched.break_settings()
    watched.examiner.soon(["settings"])
    assert len((await anext(pages)).items) == 1
    file = watched.home.root / "doctor.json"
    document = json.loads(file.read_text())
    document["found"]["settings"]["examined_at"] = "2026-01-01T00:00:00.000Z"
    file.write_text(json.dumps(document))
    watched.home.config.unlink()
    # Whoever looks has it examined again after an hour.
    assert len((await watched.inbox.page()).items) == 1
    assert (await anext(pages)).items == ()
    await pages.aclose()


async def test_a_module_that_was_mended_is_no_problem_any_more(watched: Watched) -> None:
    watched.note("running", problem("Failed and given up: module@books.", None))
    pages = watched.inbox.watch()
    assert len((await anext(pages)).items) == 1
    await watched.examiner.modules_changed()
    assert (await anext(pages)).items == ()
    await pages.aclose()


async def test_what_is_hidden_comes_back_after_its_time_or_when_it_was_solved_meanwhile(watched: Watched) -> None:
    watched.note("settings", problem("It is broken.", "Mend it.", fix=Fix("Mend it.", str)))
    (item,) = await watched.items()
    assert (item.command, item.answers) == ("parachute doctor settings --fix", ("repair", "look-again", "hide"))
    await watched.answer(item, "hide")
    assert await watched.items() == []
    watched.note("settings", problem("It is broken.", "Mend it."))
    assert await watched.items() == []
    finding = Findings.read(watched.home.root).found["settings"]
    assert not finding.is_hidden(datetime.now(UTC) + timedelta(days=8))
    watched.note("settings", ok("It works."))
    watched.note("settings", problem("It is broken.", "Mend it."))
    assert len(await watched.items()) == 1
    assert not hide(watched.home.root, "vault", 7)


async def test_only_what_cannot_wait_is_there(watched: Watched) -> None:
    watched.note("swap", warning("There is little.", "Make more."))
    assert await watched.items() == []
    watched.note("credentials", Result(Level.WARNING, "It ends tomorrow.", "Sign in.", is_told=True))
    assert [item.title for item in await watched.items()] == ["It ends tomorrow."]
    watched.note("vault", problem("It no longer exists.", None), is_whole=True)
    assert [item.title for item in await watched.items()] == ["It no longer exists."]


@pytest.mark.parametrize("content", ["", "{", "[]", '{"found": {"vault": {}}}', '{"found": []}'])
async def test_a_file_that_was_damaged_holds_nothing_and_is_written_anew(watched: Watched, content: str) -> None:
    (watched.home.root / "doctor.json").write_text(content)
    assert await watched.items() == []
    watched.note("vault", problem("It no longer exists.", None))
    assert len(await watched.items()) == 1


async def test_everything_is_examined_once_a_day(watched: Watched) -> None:
    now = datetime(2026, 5, 2, 12, tzinfo=UTC)
    (job,) = await watched.examiner.jobs(ManualClock(now))
    assert (job.taken, job.at) == (now.date(), TimeOfDay(4, 30))
    watched.note("vault", ok("It is there."), is_whole=True)
    later = ManualClock(datetime.now(UTC) + timedelta(days=2))
    (job,) = await watched.examiner.jobs(later)
    assert job.due(later) is not None


async def test_a_doctor_that_fails_is_an_error(watched: Watched) -> None:
    with pytest.raises(Unavailable) as caught:
        await watched.examiner.examine(["no-such-check"])
    assert caught.value.key == "doctor_failed"


@pytest.mark.computer
@pytest.mark.long
async def test_a_whole_computer_shows_a_login_that_has_ended(api: MessagesAPI) -> None:
    with Computer(settings={"provider": "anthropic", "base_url": api.url}) as computer:
        login = computer.folder / ".claude" / ".credentials.json"
        login.parent.mkdir()

        def sign_in(seconds: float) -> None:
            fields = {"accessToken": "sk-ant-oat01-x", "expiresAt": (time.time() + seconds) * 1000}
            login.write_text(json.dumps({"claudeAiOauth": fields}))

        sign_in(-60)
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(computer.folder),
            "PARACHUTE_HOME": str(computer.home.root),
        }
        command = [sys.executable, "-m", "parachute.cli", "doctor", "credentials"]
        assert subprocess.run(command, env=environment, capture_output=True, check=False).returncode == 1
        async with computer.client() as client:
            (item,) = (await client.get("/api/inbox")).json()["items"]
            assert (item["kind"], item["details"]["check"]) == ("problem", "credentials")
            assert (await client.get("/api/status")).json()["waiting"]["problems"] == 1
            body = {"id": item["id"], "hash": item["hash"], "answer": "look-again"}
            refused = await client.post("/api/inbox/answer", json=body)
            assert (refused.status_code, refused.json()["key"]) == (409, "not_solved")
            sign_in(10 * 24 * 3600)
            assert (await client.post("/api/inbox/answer", json=body)).status_code == 200
            waiting = (await client.get("/api/status")).json()["waiting"]
            assert {"problems": 0, "suggestions": 0, "modules": 0, "agents": 0, "hooks": 0}.items() <= waiting.items()
