"""The state of the kill switch: the file, also one that cannot be read, and the service that follows it."""

import errno
import json
import os
from pathlib import Path

import pytest

from parachute.security.kill_switch import switch as switch_module
from parachute.security.kill_switch.service import POLL_SECONDS, KillSwitchService
from parachute.security.kill_switch.switch import FILE, KillSwitch, Stopped
from tests.support.clock import ManualClock
from tests.support.errors import raises

pytestmark = pytest.mark.long


def test_it_holds_for_everybody_until_it_is_released(tmp_path: Path) -> None:
    mine, other = KillSwitch(tmp_path), KillSwitch(tmp_path)
    other.check()
    panic = mine.engage("key phone")
    assert other.panic == panic
    with raises("panic", names=panic.since) as refused:
        other.check()
    assert (refused.value.key, "parachute resume" in str(refused.value)) == ("panic", True)
    assert other.engage("somebody else") == panic
    assert (tmp_path / FILE).stat().st_mode & 0o077 == 0
    assert other.release() == panic
    mine.check()
    assert mine.release() is None


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"since": 1}', b"\xff", b"[" * 3000, b"x" * 5000])
def test_what_cannot_be_read_stops_agents(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE).write_bytes(content)
    with pytest.raises(Stopped):
        KillSwitch(tmp_path).check()
    assert KillSwitch(tmp_path).panic is not None


def test_a_link_that_leads_nowhere_stops_agents(tmp_path: Path) -> None:
    (tmp_path / FILE).symlink_to(tmp_path / "nowhere")
    with pytest.raises(Stopped):
        KillSwitch(tmp_path).check()
    KillSwitch(tmp_path).release()
    KillSwitch(tmp_path).check()


def test_a_full_disk_does_not_hold_it_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, data: str) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(switch_module, "atomic_write", full)
    KillSwitch(tmp_path).engage("the command line")
    with pytest.raises(Stopped):
        KillSwitch(tmp_path).check()


async def test_core_follows_what_another_program_did(tmp_path: Path) -> None:
    """Each thing is stopped although another one fails, and none is stopped twice or resumed by itself."""
    done: list[str] = []
    clock = ManualClock()

    async def fail() -> None:
        done.append("fail")
        raise RuntimeError("It does not want to.")

    async def stop() -> None:
        done.append("stop")

    async def resume() -> None:
        done.append("resume")

    service = KillSwitchService(KillSwitch(tmp_path), (fail, stop), (resume,), clock=clock)
    service.start()
    try:
        (tmp_path / FILE).write_text(json.dumps({"since": "2026-11-22T05:00:00.000Z", "by": "the command line"}))
        await clock.advance(POLL_SECONDS)
        assert done == ["fail", "stop"]
        (tmp_path / FILE).unlink()
        await clock.advance(POLL_SECONDS)
        assert done == ["fail", "stop", "resume"]
    finally:
        await service.close()


async def test_a_core_that_starts_stopped_resumes_only_when_it_is_released(tmp_path: Path) -> None:
    done: list[str] = []

    async def stop() -> None:
        done.append("stop")

    async def resume() -> None:
        done.append("resume")

    KillSwitch(tmp_path).engage("the command line")
    service = KillSwitchService(KillSwitch(tmp_path), (stop,), (resume,))
    service.start()
    try:
        # A second time, since something may have slipped through.
        await service.engage("the command line")
        await service.release()
        await service.release()
        assert done == ["stop", "resume"]
    finally:
        await service.close()
