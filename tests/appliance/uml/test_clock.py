"""The clock is set a year ahead, and back: nothing runs a thousand times, nothing stands still, and nobody is restarted."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.appliance.agents import Agents
from tests.appliance.test_official_modules import WAITING
from tests.appliance.uml.guest import UmlGuest
from tests.appliance.uml.powered import Powered
from tests.support.sse import text_of

DAY = 86400
YEAR = 366 * DAY
RUNS = "/api/modules/daily/agents/reflection/runs"


class Timed:
    """A computer in a guest with a clock of its own; under systemd-nspawn it would be that of this machine."""

    def __init__(self, guest: UmlGuest) -> None:
        self.computer = Agents(guest.user)
        self._root = guest.root
        self.ahead = 0

    def jump(self, seconds: int) -> None:
        """Set the clock, and have the computer look at it now instead of within a minute."""
        self._root.check_output(f"date --set=@$(($(date +%s) + {seconds}))")
        self.ahead += seconds
        assert self.computer.get("/api/health")["status"] == "ok"
        assert self.computer.ask("/api/scheduler/reload", {}) == (200, {"success": True})

    def runs(self) -> list[dict[str, Any]]:
        """The runs of an agent that is due once a day."""
        return list(self.computer.get(RUNS)["runs"])

    def ran(self, count: int) -> None:
        """Wait until it has run so often, and no more often."""
        self.computer.until(lambda: len(self.runs()) >= count, f"it had run {count} times")
        self.computer.until(lambda: all(run["status"] != "running" for run in self.runs()), "it had ended")
        assert len(self.runs()) == count

    def sessions(self) -> list[str]:
        """Conversations, the newest first."""
        return [each["id"] for each in self.computer.get("/api/chat?limit=500")["sessions"]]

    def processes(self) -> dict[str, str]:
        """The values that a restart of anything would change."""
        show = "systemctl --user show parachute-core parachute-supervisor --property=Id,MainPID,NRestarts"
        return dict(zip(("core", "supervisor"), self.computer.run(show).split("\n\n"), strict=True))


@pytest.fixture
def timed(powered: Powered) -> Iterator[Timed]:
    """The computer whose power others cut; its clock is right again afterwards."""
    timed = Timed(powered.guest)
    yield timed
    timed.jump(-timed.ahead)


def test_a_year_ahead_and_back(timed: Timed) -> None:
    computer = timed.computer
    first = str(computer.say("echo first")[-1]["sessionId"])
    assert computer.ask("/api/scheduler/reload", {})[0] == 200
    processes = timed.processes()
    assert timed.runs() == []
    entries = computer.get("/api/daily/entries")["total"]

    timed.jump(YEAR)
    timed.ran(1)  # of all the days that were missed, the last one
    second = str(computer.say("echo second")[-1]["sessionId"])
    assert timed.sessions()[:2] == [second, first]
    assert written(computer, "In a year")["date"] > written(computer, "Today", date="2026-01-01")["date"]
    computer.put_to_sleep("daily")

    timed.jump(-YEAR)
    assert computer.get("/api/daily/entries")["total"] == entries + 2
    third = str(computer.say("echo third")[-1]["sessionId"])
    assert set(timed.sessions()) >= {first, second, third}
    assert text_of(computer.say("echo again", second)) == "again"
    assert timed.sessions()[:3] == [second, third, first], "what was said last comes first"
    timed.ran(1)
    written(computer, "Back again")
    computer.until(lambda: computer.run(WAITING) == "0", "every event was taken")

    timed.jump(DAY)
    timed.ran(2)  # it does not wait for the year to pass
    assert timed.processes() == processes
    assert computer.run("systemctl --user list-units --failed --quiet 'parachute-*'") == ""
    assert json.loads(computer.run("parachute status --json"))["running"] is True


def written(computer: Agents, text: str, **fields: str) -> dict[str, Any]:
    """An entry that was taken."""
    status, made = computer.ask("/api/daily/entries", {"content": text, **fields})
    assert status == 200, made
    return dict(made)
