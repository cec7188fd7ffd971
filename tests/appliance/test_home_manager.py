"""The files that home-manager would make, in a person's own folder: systemd takes them, and they are a computer with its declaration."""

import base64
import shlex
from collections.abc import Iterator

import pytest
from testinfra.host import Host

from tests.appliance.services import Services
from tests.appliance.test_nixos import PLACES
from tests.nix.evaluation import evaluate
from tests.nix.test_home import unit_text

UNITS = "/home/parachute/.config/systemd/user"
DECLARED = "/home/parachute/.config/parachute/declared.json"
CONFIGURATION = """{
  home = { username = "parachute"; homeDirectory = "/home/parachute"; };
  services.parachute = {
    enable = true;
    acceptUnfreeAgent = false;
    modules.daily = { };
    settings.sandbox.required = false;
  };
}"""


@pytest.fixture(scope="module")
def computer(user: Host) -> Iterator[Services]:
    """The user of a home with these files, as links to a place that keeps them."""
    found = evaluate(CONFIGURATION, folders=PLACES, home=True)
    files = {f"/home/parachute/.config/{name}": part["text"] for name, part in found["xdg"]["configFile"].items()}
    for kind, units in found["systemd"]["user"].items():
        files |= {f"{UNITS}/{name}.{kind[:-1]}": unit_text(unit) for name, unit in units.items()}
    # What its step of the activation does.
    user.check_output("install --directory --mode=0700 ~/.parachute ~/.parachute/logs")
    for number, (path, text) in enumerate(files.items()):
        packed = base64.b64encode(text.encode()).decode()
        # By the same name: systemd looks at what a link leads to in the end.
        kept = f"~/kept/{number}/{path.rpartition('/')[2]}"
        user.check_output(
            f"mkdir -p $(dirname {kept} {path}) && echo {packed} | base64 -d > {kept} && ln -s {kept} {path}"
        )
    user.check_output(
        "systemctl --user daemon-reload && systemctl --user start parachute-core.service parachute-supervisor.service"
    )
    yield Services(user)
    user.check_output("systemctl --user stop 'parachute-*'; systemctl --user reset-failed 'parachute-*'")
    user.check_output(
        "rm -rf ~/kept ~/.parachute ~/Parachute ~/.config/systemd ~/.config/parachute $XDG_RUNTIME_DIR/systemd/user/parachute-*"
    )
    user.check_output("systemctl --user daemon-reload")


def test_systemd_has_nothing_to_say(computer: Services) -> None:
    done = computer.user.run(f"systemd-analyze --user --man=no verify $(find {UNITS} -maxdepth 1 -type l)")
    assert (done.rc, done.stdout, done.stderr) == (0, "", "")


def test_core_and_its_modules_are_as_declared(computer: Services) -> None:
    assert computer.get("/api/health")["status"] == "ok"
    computer.until(
        lambda: any(
            row["name"] == "daily" and row["state"] == "ready" and row["declared"]
            for row in computer.get("/api/modules")["modules"]
        ),
        "the declared module is there",
    )
    status, answer = computer.ask("/api/daily/entries", {"content": "At home"})
    assert status == 200, answer
    for unit in ("parachute-module@daily.service", "parachute-programs.service"):
        shown = computer.run(f"systemctl --user show {unit} --property=Environment --property=DropInPaths")
        assert f"PARACHUTE_DECLARED={DECLARED}" in shown
        assert f"{UNITS}/" in shown


def test_the_program_knows_that_they_are_kept_elsewhere(computer: Services) -> None:
    refused = computer.user.run(f"PARACHUTE_DECLARED={DECLARED} parachute config set port 4000")
    assert "declared" in refused.stderr
    assert "with home-manager" in computer.user.run("parachute service install").stderr
    assert computer.run("parachute service uninstall") == "No services are installed."
    updated = computer.user.run(f"PARACHUTE_DECLARED={DECLARED} parachute update --from ~/kept")
    assert "home-manager's by that" in updated.stdout + updated.stderr
    before = computer.run("systemctl --user show parachute-core --property=MainPID --value")
    computer.run(shlex.join(["env", f"PARACHUTE_DECLARED={DECLARED}", "parachute", "restart"]))
    assert computer.run("systemctl --user show parachute-core --property=MainPID --value") != before
