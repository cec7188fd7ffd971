"""A server as NixOS would make it: its declared modules are there and asleep, and an agent answers from a sandbox."""

import json
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.appliance.agents import Agents
from tests.appliance.guest import Guest
from tests.appliance.services import service
from tests.appliance.test_nixos import PLACES, UNITS, _readable
from tests.nix.evaluation import EXAMPLES, evaluate
from tests.nix.rendering import write
from tests.support.sse import text_of

MODULES = {"brain": "/api/brain/types", "chat": "/api/para/para:chat:a1b2c3d4e5f6", "daily": "/api/daily/today"}
# The image of containers is not built here: other tests have agents in those.
CONFIGURATION = """{
  imports = [ %s ];
  services.parachute = {
    sandbox.engine = "bubblewrap";
    sandbox.required = false;
  };
}"""


@pytest.fixture(scope="module")
def machine(layers: tuple[Path, ...]) -> Iterator[Guest]:
    """A guest that has booted with the files of a configuration."""
    folder = Path(tempfile.mkdtemp(prefix="nixos-", dir="/tmp"))
    try:
        write(evaluate(CONFIGURATION % (EXAMPLES / "server.nix"), folders=PLACES), folder)
        _readable(folder)
        with Guest((folder, *layers)) as booted:
            yield booted
    finally:
        shutil.rmtree(folder)


@pytest.fixture(scope="module")
def computer(machine: Guest) -> Agents:
    """The computer that has begun with it."""
    return Agents(machine.user)


def test_declared_modules_are_installed_and_asleep_until_they_are_asked(computer: Agents) -> None:
    computer.run("curl -sf --retry 60 --retry-all-errors http://127.0.0.1:3333/api/health")
    computer.until(lambda: installed(computer) == list(MODULES), "they were installed")
    for name, path in MODULES.items():
        # They look at the vault right after they were installed, and would fall asleep by themselves minutes later.
        computer.ask(path)
        computer.put_to_sleep(name)
    assert computer.get("/api/daily/entries") == {"entries": [], "total": 0}
    assert computer.run(f"systemctl --user is-active {service('daily')}") == "active"
    assert "/srv/parachute/Daily:/srv/parachute/Daily:" in computer.show("daily", "BindPaths")["BindPaths"]
    assert computer.status("brain") == "asleep"


def test_an_agent_answers_from_a_sandbox(computer: Agents) -> None:
    with computer.serving("model", "tests.appliance.scripted_model") as url:
        computer.use_model(url)
        computer.run("parachute restart")
        events = computer.say("pwd; ls /home /srv || true")
    said = text_of(events).splitlines()
    session = events[-1]["sessionId"]
    assert said[0] == f"/scratch/{session}"
    assert "parachute" not in said[1:]
    shown = computer.run(f"systemctl --user show parachute-sandbox@{session}.service --property=FragmentPath --value")
    assert shown != f"{UNITS}/parachute-sandbox@.service", "those are the supervisor's, as on every system"


def test_avahi_announces_it(machine: Guest) -> None:
    said = machine.root.check_output("journalctl --no-pager --unit=avahi-daemon")
    assert "(/services/parachute.service) successfully established" in said


def installed(computer: Agents) -> list[str]:
    """The modules that are installed and trusted, by name."""
    return sorted(each["name"] for each in json.loads(computer.run("parachute modules list --json")))
