"""Nothing is spent while the owner sleeps: a week on a virtual clock, counted where the model is, and a day where the disk is."""

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bench.disk import written_bytes
from bench.results import NotMeasurable
from parachute.security.keys.cli_token import CliToken
from tests.automation.scheduled_agents.conftest import AGENTS, GardenComputer
from tests.capabilities.mcp_servers.programs import plain
from tests.capabilities.plugins.building import repository
from tests.capabilities.plugins.git_server import git_server
from tests.support.messages_api import MessagesAPI, text
from tests.support.virtual_clock import VirtualClock

pytestmark = [pytest.mark.long, pytest.mark.timeout(600), pytest.mark.computer]

HOUR = 3600
ASKING = """
    #!/bin/sh
    parachute ask "What does this mean?" >> "$HOME/answers.txt"
"""
BODY = """
@event("daily.entry.created")
async def heard(self, entry_id: str):
    async for each in self.core.query("What is new?", agent="gardener"):
        pass

@mcp_tool("listener-look")
async def look(self) -> str:
    'Says how the garden is.'
    return "green"
"""
"""A module whose agent is asked at each new entry: where nobody writes one, it is not."""


class Week:
    """A computer with everything that could ask a model by itself, and its clock."""

    def __init__(self, computer: GardenComputer, clock: VirtualClock, model: MessagesAPI) -> None:
        self.computer = computer
        self._clock = clock
        self._model = model

    @property
    def owner(self) -> dict[str, str]:
        return {"authorization": f"Bearer {CliToken(self.computer.home.root).obtain()}"}

    def do(self, method: str, path: str, **body: Any) -> Any:
        """One request of the owner that must be answered well."""
        answer = self.computer.ask(method, path, json=body, headers=self.owner)
        assert answer.status_code in (200, 201), (path, answer.text)
        return answer.json() if "json" in answer.headers["content-type"] else answer.text

    def asked(self) -> int:
        """Count the requests that have reached the model's provider."""
        return len(self._model.requests)

    def pass_hours(self, count: int) -> None:
        """Let hours pass, one after the other; the computer looks at its clock in each."""
        self._clock.ahead(count * HOUR, lambda: self.do("POST", "/api/scheduler/reload"), HOUR)

    def runs(self, status: str | None = None) -> list[dict[str, Any]]:
        """The runs of the agent that the owner scheduled."""
        found = self.computer.value(f"{AGENTS}/page/runs")["runs"]
        return [each for each in found if status in (None, each["status"])]

    def by_subject(self) -> Counter[str]:
        """The requests that the computer itself has counted, by whom they count for."""
        found = self.computer.value("/api/usage/costs?by=subject&days=30")["costs"]
        return Counter({each["subject"]: each["requests"] for each in found})


@pytest.fixture
def week(tmp_path: Path, api: MessagesAPI) -> Iterator[Week]:
    clock = VirtualClock(tmp_path)
    environment = {**api.credentials, **clock.environment}
    settings = {"session_idle_minutes": 0.001, "agents": {"spare": True, "memory_floor_megabytes": 0}}
    with GardenComputer(environment=environment, settings=settings) as computer:
        yield Week(computer, clock, api)
        assert "Traceback" not in computer.logs()


def install_everything(week: Week, folder: Path) -> None:
    """Install every kind of thing that works by itself, all of it approved."""
    computer = week.computer
    done = computer.command("setup", "--yes", "--modules", "brain,daily,chat")
    assert done.returncode == 0, done.stderr
    computer.install(
        "listener",
        BODY,
        agents={"gardener": {"capabilities": ["read"]}},
        mcp_tools=[{"name": "listener-look", "description": "Says how the garden is"}],
        hooks=[{"event": "daily.entry.created"}],
        permissions={"write": ["Listener/**"]},
    )
    hook = computer.home.root / "hooks" / "on-daily-entry.sh"
    hook.parent.mkdir(mode=0o700, exist_ok=True)
    hook.write_text("\n".join(line.strip() for line in ASKING.strip().splitlines()) + "\n")
    hook.chmod(0o700)
    done = computer.command("hooks", "approve", "--yes")
    assert done.returncode == 0, done.stderr
    with git_server(folder) as server:
        url = server.publish(repository(folder / "demo-plugin"))
        made = week.do("POST", "/api/plugins/install", url=url)["plugin"]
        week.do("POST", f"/api/plugins/{made['slug']}/approve", hash=made["hash"], parts=["texts", "programs"])
    (computer.folder / "server.py").write_text(plain(""))
    week.do("POST", "/api/mcps", name="notes", command=sys.executable, args=[str(computer.folder / "server.py")])
    week.do("POST", "/api/agents", name="reader", prompt="You read.", description="Reads.")
    week.do("POST", "/api/skills", name="sailing", description="How to sail.", content="Mind the wind.")


def test_a_week_without_anybody_costs_nothing_but_what_was_scheduled(
    week: Week, api: MessagesAPI, tmp_path: Path
) -> None:
    api.default(text("Yes."))
    install_everything(week, tmp_path)
    said = week.do("POST", "/api/chat", message="How is the boat?", sessionId="new", module="chat")
    assert '"type": "done"' in said
    activity = week.computer.vault / ".parachute" / "activity"
    week.computer.wait_until(lambda: any(activity.glob("*")), "the conversation has ended")
    before, counted = week.asked(), week.by_subject()
    assert before > 0
    week.pass_hours(7 * 24)
    assert (week.asked(), week.by_subject()) == (before, counted)

    # And with one agent that the owner has work each evening, it alone asks, once a day.
    week.computer.plant()
    for day in range(1, 8):
        week.pass_hours(24)

        def has_worked(day: int = day) -> bool:
            return len(week.runs("completed")) == day

        week.computer.wait_until(has_worked, "the agent has worked")
    assert week.asked() == before + 7
    assert week.by_subject() - counted == Counter({"module:garden": 7})


def test_a_day_without_anybody_writes_little(week: Week, api: MessagesAPI, tmp_path: Path) -> None:
    api.default(text("Yes."))
    install_everything(week, tmp_path)
    week.pass_hours(1)
    try:
        before = written_bytes(week.computer.processes())
        week.pass_hours(24)
        written = written_bytes(week.computer.processes()) - before
    except NotMeasurable as reason:
        pytest.skip(str(reason))
    assert 0 < written < 5_000_000
