"""Restores under a real systemd: a service of its own ends the others, changes the folders and starts them again."""

import json
from collections.abc import Iterator

import pytest
from testinfra.host import Host

from tests.appliance.recipe import ENVIRONMENT, SOURCE
from tests.appliance.services import URL

ORDER = """
import asyncio, json, shutil, sys
from datetime import UTC, datetime
from pathlib import Path
from parachute.base import swap, swap_note
from parachute.config.settings.home import Home
from parachute.supervisor import control
home, vault = Path.home() / ".parachute", Path.home() / "Parachute"
ready = [path.with_name(f".{path.name.lstrip('.')}.restored") for path in (vault, home)]
shutil.copytree(vault, ready[0], symlinks=True)
shutil.copytree(home, ready[1], symlinks=True, ignore=lambda folder, names: {"run", "logs", "backup"} & set(names))
(ready[1] / "logs").mkdir()
(ready[0] / "note").write_text(sys.argv[1] + "\\n")
(ready[1] / "of").write_text(sys.argv[1] + "\\n")
if sys.argv[2] == "broken":
    (ready[1] / "config.yaml").write_text("of: another world\\n")
moment = datetime.now(UTC)
swaps = tuple(swap.Swap.planned(now, then, moment) for now, then in zip((vault, home), ready))
about = {"kind": "restore", "backup": "0badf00d", "made_at": "", "computer": "", "trust": True, "by": "me"}
swap.order(home, swap.Plan(swaps, ("panic.json",), str(swap_note.path_of(home)), about))
if sys.argv[3] == "ask":
    asyncio.run(control.ask(Home(home), "begin_anew"))
"""


@pytest.fixture(scope="module")
def computer(user: Host) -> Iterator[Host]:
    """The user of a computer that runs as services."""
    user.check_output("parachute service install")
    yield user
    user.check_output("parachute service uninstall")
    user.check_output("rm -rf ~/.parachute* ~/Parachute*")


def order(computer: Host, word: str, state: str = "sound", ask: str = "ask") -> None:
    """Make something ready and have it put in place."""
    computer.check_output("rm -f ~/.parachute/backup/restored.json")
    computer.check_output("echo present > ~/Parachute/note; echo present > ~/.parachute/of")
    computer.check_output(f"cd {SOURCE} && {ENVIRONMENT}/bin/python -c '{quoted(ORDER)}' {word} {state} {ask}")


def quoted(text: str) -> str:
    """The text between single quotes of a shell."""
    return text.replace("'", "'\\''")


def proven(computer: Host, kind: str) -> dict[str, object]:
    """Return the record of how it ended, as soon as the computer has come up with it."""
    look = "cat ~/.parachute/backup/restored.json 2>/dev/null"
    wait = (
        f'for i in $(seq 600); do {look} | grep -q \'"kind": *"{kind}".*"is_proven": *true\' && break; sleep 0.3; done'
    )
    computer.check_output(f"{wait}; true")
    found: dict[str, object] = json.loads(computer.check_output(look))
    said = computer.run("tail -n 20 ~/.parachute/logs/*.log; journalctl --user -n 30 --no-pager").stdout
    assert found.get("is_proven") is True, (found, said)
    return found


def notes(computer: Host) -> list[str]:
    """Return the contents of the two folders."""
    return str(computer.check_output("cat ~/Parachute/note ~/.parachute/of")).split()


def core(computer: Host) -> str:
    """The process of the server."""
    return str(computer.check_output("systemctl --user show parachute-core.service --property=MainPID --value"))


def test_both_folders_are_put_in_place_by_a_service_that_outlives_the_others(computer: Host) -> None:
    before = core(computer)
    order(computer, "restored")
    proven(computer, "restore")
    assert notes(computer) == ["restored", "restored"]
    assert core(computer) != before
    assert json.loads(computer.check_output(f"curl -sf {URL}/api/health"))["status"] == "ok"
    kept = computer.check_output("cat ~/Parachute.before-restore-*/note ~/.parachute.before-restore-*/of").split()
    assert kept == ["present", "present"]
    # Nothing of it stays, and the log goes on where it is looked for.
    listed = "systemctl --user list-units --all --quiet 'parachute-restart*'"
    computer.check_output(f'for i in $(seq 300); do test -z "$({listed})" && break; sleep 0.2; done; true')
    assert computer.check_output(listed) == ""
    assert computer.file("/home/parachute/.parachute/logs/supervisor.log").exists
    computer.check_output("rm -rf ~/Parachute.before-* ~/.parachute.before-*")


def test_a_supervisor_that_was_killed_before_it_heard_of_it_has_it_done(computer: Host) -> None:
    order(computer, "again", ask="no")
    computer.check_output("systemctl --user kill --signal=KILL parachute-supervisor.service")
    proven(computer, "restore")
    assert notes(computer) == ["again", "again"]
    computer.check_output("rm -rf ~/Parachute.before-* ~/.parachute.before-*")


def test_what_does_not_start_goes_back_by_itself(computer: Host) -> None:
    order(computer, "broken", state="broken")
    found = proven(computer, "back")
    assert notes(computer) == ["present", "present"]
    assert "core" in str(found["about"])
    assert json.loads(computer.check_output(f"curl -sf {URL}/api/health"))["status"] == "ok"
