"""The units of Nix are those of `parachute service install`, directive by directive, but for what is listed here with its reason."""

import shlex
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from parachute.config.settings.home import Home
from parachute.supervisor import backup_units, installed
from tests.nix.evaluation import evaluate
from tests.nix.rendering import unit_text

pytestmark = pytest.mark.process

Directives = dict[tuple[str, str], list[str]]

TRUST = "/home/parachute/.parachute"
PYTHON = "/nix/store/00000000000000000000000000000000-python-3.13/bin/python3"

ONLY_NIX = {
    ("Unit", "ConditionUser"): "units of /etc are in every user's manager",
    ("Service", "Environment PATH"): "NixOS has its programs in no place that is the same for all",
}
"""Directives that Nix writes and the program does not, each with its reason."""


CONFIGURATION = """{
  services.parachute = {
    enable = true;
    backup = {
      enable = true;
      repository = "/mnt/usb/parachute";
      passwordFile = "/run/secrets/parachute-backup";
      schedule = "*-*-* 03:30:00";
      drill.schedule = "*-*-01 03:30:30";
    };
  };
}"""


@pytest.fixture(scope="module")
def evaluated() -> Any:
    return evaluate(CONFIGURATION)["systemd"]["user"]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    root = tmp_path_factory.mktemp("home") / ".parachute"
    found = installed.render(Home(root), "127.0.0.1", 3333, lingers_for_us=False)
    found |= backup_units.render(Home(root), "03:30", "monthly")
    return {name: text.replace(sys.executable, PYTHON).replace(str(root), TRUST) for name, text in found.items()}


ALL = (*installed.NAMES, *backup_units.NAMES)


@pytest.mark.parametrize("name", ALL)
def test_they_agree(name: str, evaluated: Any, files: dict[str, str]) -> None:
    base, _, kind = name.rpartition(".")
    nix = directives(unit_text(name, evaluated[f"{kind}s"][base]))
    program = directives(files[name])
    assert {key: nix.pop(key, None) for key in ONLY_NIX if key in nix}
    assert nix == program


def test_nothing_else_is_a_service_of_ours(evaluated: Any) -> None:
    own = {f"{name}.service" for name, unit in evaluated["services"].items() if unit["overrideStrategy"] != "asDropin"}
    own |= {f"{name}.{kind}" for kind in ("socket", "timer") for name in evaluated[f"{kind}s"]}
    assert own == set(ALL)


def test_what_the_supervisor_starts_finds_its_programs(evaluated: Any) -> None:
    """The supervisor writes these units while it runs; NixOS adds a path to them, and no word else."""
    dropins = {name: unit for name, unit in evaluated["services"].items() if unit["overrideStrategy"] == "asDropin"}
    kinds = {"sandbox@", "module@", "mcp@", "direct", "model", "programs"}
    assert {name.removeprefix("parachute-") for name in dropins} == kinds
    for name, unit in dropins.items():
        assert list(directives(unit_text(f"{name}.service", unit))) == [("Service", "Environment PATH")]
        first = unit["environment"]["PATH"].split(":")[0]
        assert first == "/run/wrappers/bin", "newuidmap with its rights"


def directives(text: str) -> Directives:
    """The directives of a unit in their order, alike for the several ways of writing the same."""
    found: Directives = {}
    for section, name, value in _lines(text):
        if name == "Environment":
            variable, _, value = shlex.split(value)[0].partition("=")
            name = f"{name} {variable}"
        elif name == "ExecStart":
            value = shlex.join(shlex.split(value))
        elif name in ("Requires", "Wants", "After", "WantedBy"):
            value = " ".join(sorted(value.split()))
        found.setdefault((section, name), []).append({"yes": "true", "no": "false"}.get(value, value))
    # Units are ordered after each other in one line, or in several.
    for name in ("After", "Wants"):
        if several := found.get(("Unit", name)):
            found["Unit", name] = [" ".join(sorted(" ".join(several).split()))]
    return found


def _lines(text: str) -> Iterator[tuple[str, str, str]]:
    section = ""
    for line in text.splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif line and not line.startswith("#"):
            name, _, value = line.partition("=")
            yield section, name, value
