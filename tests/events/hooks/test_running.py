"""Input of a hook, its possible answers, and its end."""

import asyncio
import json
import os
import shlex
import sys
from pathlib import Path

import psutil
import pytest

from parachute.events.hooks.running import STDOUT_LIMIT
from tests.support.pipes import lines_in
from tests.support.waiting import still_running

from .conftest import Place, said

pytestmark = pytest.mark.long


async def test_a_hook_is_told_what_happened_and_its_answer_is_read(place: Place, tmp_path: Path) -> None:
    place.script("hook.sh", f'#!/bin/sh\ncat > {tmp_path}/told\necho \'{{"context": "hello"}}\'\n')
    place.write(session__start="./hook.sh")
    await place.approve()
    outcome = await place.fire(session_id="1", working_directory="/x")
    assert (outcome.blocked, outcome.reason, outcome.outputs) == (False, None, [{"context": "hello"}])
    told = said(tmp_path / "told")
    assert told.pop("timestamp").endswith("Z")
    assert told == {
        "id": None,
        "event": "session.start",
        "vault_path": str(place.vault),
        "module": "chat",
        "data": {"session_id": "1", "working_directory": "/x"},
    }
    assert place.messages() == []


async def test_a_path_within_the_vault_is_there_as_one_that_a_script_can_open(place: Place, tmp_path: Path) -> None:
    place.script("hook.sh", f"#!/bin/sh\ncat > {tmp_path}/told\n")
    place.write(session__start="./hook.sh")
    await place.approve()
    await place.fire(entry_path="Daily/journals/2026-01-31.md", audio_path=None)
    assert said(tmp_path / "told")["data"] == {
        "entry_path": "Daily/journals/2026-01-31.md",
        "entry_file": f"{place.vault}/Daily/journals/2026-01-31.md",
        "audio_path": None,
    }


async def test_exit_code_2_stops_what_can_be_stopped_and_what_comes_after_it(place: Place, tmp_path: Path) -> None:
    place.write(session__start=["bash -c 'echo Not on Sundays. >&2; exit 2'", f"touch {tmp_path}/after"])
    await place.approve()
    outcome = await place.fire()
    assert (outcome.blocked, outcome.reason) == (True, "Not on Sundays.")
    assert not (tmp_path / "after").exists()


async def test_exit_code_2_is_only_an_error_where_nothing_can_be_stopped(place: Place) -> None:
    place.write(session__end=["bash -c 'echo no >&2; exit 2'", "bash -c 'echo \"{}\"'"])
    await place.approve()
    outcome = await place.fire("session.end")
    assert (outcome.blocked, outcome.outputs) == (False, [{}])
    assert place.messages() == ["It tried to stop session.end, which cannot be stopped. no"]


async def test_any_other_exit_code_is_kept_as_an_error(place: Place) -> None:
    place.write(session__start=["bash -c 'echo out of paper >&2; exit 7'", "false", "bash -c 'kill -9 $$'"])
    await place.approve()
    assert not (await place.fire()).blocked
    assert place.messages() == [
        "It ended with exit code 137.",
        "It ended with exit code 1.",
        "out of paper",
    ]
    assert place.hooks.recent_errors() == 3


async def test_text_that_is_no_json_is_fine_and_broken_json_is_an_error(place: Place) -> None:
    place.write(session__start=["echo done", "echo '{broken'", "echo '[1]'", "true"])
    await place.approve()
    assert (await place.fire()).outputs == []
    assert place.messages() == ["Its answer is not JSON."]


async def test_output_without_end_is_cut_and_does_not_stop_the_hook(place: Place) -> None:
    program = (
        f"import sys; sys.stdout.write('{{' + 'x' * {STDOUT_LIMIT * 20}); sys.stderr.write('y' * 5000000); sys.exit(0)"
    )
    place.write(session__start=f"python -c {shlex.quote(program)}")
    await place.approve()
    await place.fire()
    assert place.messages() == ["Its answer is not JSON. It is too long."]


async def test_a_hook_need_not_read_what_it_is_told(place: Place) -> None:
    place.write(session__start="true")
    await place.approve()
    assert not (await place.fire(text="x" * 250_000)).blocked
    assert place.messages() == []


async def test_after_its_time_a_hook_ends_with_all_that_it_started(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A child in the same group, and a daemon: it left its session and its parent, and ignores being asked.
    daemon = "import os, signal, time; os.setsid(); signal.signal(15, signal.SIG_IGN); print(os.getpid(), file=open({!r}, 'w'), flush=True); time.sleep(1000)"
    written = tmp_path / "daemon"
    program = shlex.quote(daemon.format(str(written)))
    place.script("slow.sh", f"#!/bin/sh\n({sys.executable} -c {program} &)\nsleep 1000 & echo $! > {written}\nwait\n")
    place.write(session__start={"command": "./slow.sh", "timeout": 600})
    await place.approve()
    async with lines_in(written) as line:
        firing = asyncio.create_task(place.hooks.fire("session.start", {}))
        started = [int(await line()) for _ in range(2)]
    assert all(map(psutil.pid_exists, started))
    # Its time is over now, however long it took to start.
    loop = asyncio.get_running_loop()
    clock = loop.time
    monkeypatch.setattr(loop, "time", lambda: clock() + 600)
    assert not (await firing).blocked
    assert not any(map(psutil.pid_exists, started))
    assert place.messages() == ["It was ended after 600 seconds."]


async def test_what_a_hook_leaves_behind_ends_with_it(place: Place, tmp_path: Path) -> None:
    place.script("leave.sh", f"#!/bin/sh\nsetsid sleep 1000 & echo $! > {tmp_path}/left\n")
    place.write(session__start="./leave.sh")
    await place.approve()
    await place.fire()
    assert not psutil.pid_exists(int((tmp_path / "left").read_text()))
    assert place.messages() == []


async def test_an_asynchronous_hook_is_not_waited_for_and_ends_with_core(place: Place, tmp_path: Path) -> None:
    place.script("wait.sh", f"#!/bin/sh\necho $$ > {tmp_path}/pid\nsleep 1000\n")
    place.write(session__start=[{"command": "./wait.sh", "async": True}, "bash -c 'echo \"{}\"'"])
    await place.approve()
    async with lines_in(tmp_path / "pid") as line:
        assert (await place.fire()).outputs == [{}]
        process = int(await line())
    assert psutil.pid_exists(process)
    await place.hooks.close()
    assert not psutil.pid_exists(process)


async def test_an_asynchronous_hook_cannot_stop_anything(place: Place) -> None:
    place.write(session__start={"command": "bash -c 'echo no >&2; exit 2'", "async": True})
    await place.approve()
    assert not (await place.fire()).blocked
    await asyncio.gather(*(task for task in asyncio.all_tasks() if task.get_name().startswith("hook ")))
    assert "cannot be stopped" in place.messages()[0]


async def test_a_caller_that_is_cancelled_takes_the_hook_along(place: Place, tmp_path: Path) -> None:
    place.script("wait.sh", f"#!/bin/sh\necho $$ > {tmp_path}/pid\nsleep 1000\n")
    place.write(session__start="./wait.sh")
    await place.approve()
    async with lines_in(tmp_path / "pid") as line:
        firing = asyncio.create_task(place.fire())
        process = int(await line())
    firing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await firing
    assert not psutil.pid_exists(process)


async def test_the_environment_holds_no_credential(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN", "AWS_SECRET_ACCESS_KEY", "LD_PRELOAD_X", "MY_TOKEN"):
        monkeypatch.setenv(name, "secret-value")
    monkeypatch.setenv("PATH", f"{place.vault}/bin:relative:{os.environ['PATH']}")
    monkeypatch.setenv("LANG", "C.UTF-8")
    place.write(session__start="python -c 'import os, json; print(json.dumps(dict(os.environ)))'")
    await place.approve()
    (environment,) = (await place.fire()).outputs
    assert "secret-value" not in json.dumps(environment)
    assert str(place.vault / "bin") not in environment["PATH"]
    assert "relative" not in environment["PATH"].split(":")
    assert environment["LANG"] == "C.UTF-8"
    assert environment["PARACHUTE_VAULT"] == str(place.vault)
    assert environment["PARACHUTE_HOME"] == str(place.home.root)
    assert environment["PARACHUTE_HOOK_EVENT"] == "session.start"


async def test_scripts_run_by_their_names(place: Place, tmp_path: Path) -> None:
    writes = f"import json, sys, helper; open('{tmp_path}/' + helper.NAME, 'w').write(json.load(sys.stdin)['event'])"
    (place.folder / "helper.py").write_text("NAME = 'python'")
    (place.folder / "on-session-start.py").write_text(writes)
    place.script("on-session-end.sh", f"#!/bin/sh\ncat > {tmp_path}/shell\n")
    place.script("on-brain-entity-changed", f"#!/bin/sh\ntouch {tmp_path}/other\n")
    await place.approve()
    assert [each.hook.event for each in await place.hooks.list()] == [
        "brain.entity.changed",
        "session.end",
        "session.start",
    ]
    await place.fire("session.start")
    await place.fire("session.end", session_id="1")
    await place.fire("brain.entity.changed")
    assert place.messages() == []
    assert (tmp_path / "python").read_text() == "session.start"
    assert said(tmp_path / "shell")["event"] == "session.end"
    assert (tmp_path / "other").exists()


async def test_a_beginning_stands_for_all_events_below_it(place: Place) -> None:
    place.write(**{"daily__*": "bash -c 'echo \"{}\"'"})
    await place.approve()
    assert len((await place.fire("daily.entry.created")).outputs) == 1
    assert len((await place.fire("dailyx.entry.created")).outputs) == 0


async def test_every_run_is_audited(place: Place, tmp_path: Path) -> None:
    place.write(session__end=["true", {"command": "false", "name": "broken"}])
    await place.approve()
    await place.fire("session.end")
    await place.audit.close()
    # Two files, if it was midnight meanwhile.
    written = "".join(file.read_text() for file in sorted((tmp_path / "audit").glob("*.jsonl")))
    entries = [json.loads(line) for line in written.splitlines()]
    assert [(each["event_type"], each["source_id"], each["success"], each["error"]) for each in entries] == [
        ("hook", "true", True, None),
        ("hook", "broken", False, "exit code 1"),
    ]


async def test_trying_a_hook_shows_what_it_says(place: Place) -> None:
    place.write(session__end=["bash -c 'cat; echo oh >&2; exit 3'", {"command": "true", "async": True}])
    await place.approve()
    first, second = await place.hooks.test("session.end")
    assert first.ran is not None
    assert second.ran is not None
    assert (first.ran.exit_code, first.ran.stderr, second.ran.exit_code) == (3, "oh\n", 0)
    assert json.loads(first.ran.stdout)["data"]["message_count"] == 12
    assert await place.hooks.test("daily.unheard.of") == []


CORE = """
import asyncio, sys
from pathlib import Path
from parachute.events.hooks.service import Hooks
from parachute.config.settings.home import Home
asyncio.run(Hooks(Home(Path(sys.argv[1])), Path(sys.argv[2])).fire("session.start", {}))
"""


async def test_when_core_is_killed_its_hooks_end_too(place: Place, tmp_path: Path) -> None:
    place.script("wait.sh", f"#!/bin/sh\nsetsid sleep 1000 & echo $! > {tmp_path}/pid\nwait\n")
    place.write(session__start="./wait.sh")
    await place.approve()
    async with lines_in(tmp_path / "pid") as line:
        core = await asyncio.create_subprocess_exec(sys.executable, "-c", CORE, str(place.home.root), str(place.vault))
        process = psutil.Process(int(await line()))
    core.kill()
    await core.wait()
    assert not await asyncio.to_thread(still_running, [process])
