"""The module for home-manager: the units of `parachute service install`, and the same options but for those of a machine."""

import json
from pathlib import Path
from typing import Any

import pytest

from parachute.config.declared.document import parse as parse_declaration
from parachute.config.settings.home import Home
from parachute.supervisor.installed import environment_of
from tests.nix.evaluation import TREE, EvaluationFailed, evaluate, options
from tests.nix.real_lib import REAL_LIB
from tests.nix.test_units import ALL, CONFIGURATION, directives, files

pytestmark = pytest.mark.process

__all__ = ["files"]  # a fixture

HOME = "/home/alice"
DECLARED = f"{HOME}/.config/parachute/declared.json"
ONLY_HERE = {
    ("Unit", "ConditionUser"): "it is the same for NixOS",
    ("Unit", "X-Restart-Triggers"): "home-manager starts it anew when what is declared changes",
    ("Unit", "X-SwitchMethod"): "a backup that is being made goes on",
    ("Service", "Environment PATH"): "what Nix has is in no place that is the same for all",
    ("Service", "Environment PARACHUTE_DECLARED"): "/etc is root's",
}
OF_MACHINES = {"user", "openFirewall", "lan.interfaces", "lan.name", "firstBoot", "sandbox", "sparing", "watchdog"}
"""Options that a user without the machine does not have; docs/nixos.md names them."""


def at_home(text: str, **options: Any) -> Any:
    """Evaluate a configuration whose owner leaves Claude Code out."""
    return evaluate(
        f"{{ imports = [ ({text}) ]; services.parachute.acceptUnfreeAgent = false; }}", home=True, **options
    )


def unit_text(unit: dict[str, dict[str, Any]]) -> str:
    """A unit as home-manager writes it."""
    lines = []
    for section, entries in unit.items():
        lines.append(f"[{section}]")
        for name, value in entries.items():
            for each in value if isinstance(value, list) else [value]:
                lines.append(f"{name}={str(each).lower() if isinstance(each, bool) else each}")
    return "\n".join(lines)


@pytest.fixture(scope="module")
def evaluated() -> Any:
    return at_home(CONFIGURATION)


@pytest.mark.parametrize("name", ALL)
def test_they_agree(name: str, evaluated: Any, files: dict[str, str]) -> None:
    base, _, kind = name.rpartition(".")
    nix = directives(unit_text(evaluated["systemd"]["user"][f"{kind}s"][base]))
    program = directives(files[name].replace("/home/parachute", HOME))
    assert {key: nix.pop(key) for key in ONLY_HERE if key in nix}
    assert nix == program


def test_the_program_knows_them_for_its_own(evaluated: Any) -> None:
    """By their line about the state directory: `parachute start` then asks systemd."""
    line = environment_of(Home(Path(HOME, ".parachute")))
    for name in ("core", "supervisor"):
        assert line in evaluated["systemd"]["user"]["services"][f"parachute-{name}"]["Service"]["Environment"]


def test_nothing_else_is_a_unit(evaluated: Any) -> None:
    user = evaluated["systemd"]["user"]
    assert {f"{name}.{kind[:-1]}" for kind, units in user.items() for name in units} == set(ALL)


def test_what_the_supervisor_starts_finds_its_programs_and_the_declaration(evaluated: Any) -> None:
    parts = evaluated["xdg"]["configFile"]
    kinds = {"sandbox@", "module@", "mcp@", "direct", "model", "programs"}
    names = {f"systemd/user/parachute-{kind}.service.d/overrides.conf" for kind in kinds}
    assert set(parts) == names | {"parachute/declared.json"}
    for name in names:
        found = directives(parts[name]["text"])
        assert set(found) == {("Service", "Environment PATH"), ("Service", "Environment PARACHUTE_DECLARED")}
        assert found["Service", "Environment PARACHUTE_DECLARED"] == [DECLARED]
        places = found["Service", "Environment PATH"][0].split(":")
        assert places.index("/usr/bin") < places.index("/nix/store/00000000000000000000000000000000-bubblewrap-1.0/bin")


def test_the_declaration_lies_where_no_restore_replaces_it(evaluated: Any) -> None:
    assert evaluated["home"]["file"] == {}
    text = evaluated["xdg"]["configFile"]["parachute/declared.json"]["text"]
    assert parse_declaration(text.encode(), Path(DECLARED), "alice").settings == {
        "host": "127.0.0.1",
        "port": 3333,
        "auth_mode": "remote",
        "backup": {"repository": "/mnt/usb/parachute", "password_file": "/run/secrets/parachute-backup"},
    }
    assert [package.rpartition("-")[0][44:] for package in evaluated["home"]["packages"]] == ["parachute"]
    made = evaluated["home"]["activation"]["parachute"]
    assert (made["before"], made["after"]) == (["linkGeneration"], ["writeBoundary"])
    assert made["data"].strip() == f"run install --directory --mode=0700 {HOME}/.parachute {HOME}/.parachute/logs"


def test_it_goes_along_with_another_folder_of_configurations() -> None:
    found = at_home('{ services.parachute.enable = true; xdg.configHome = "/home/alice/etc"; }')
    for service in found["systemd"]["user"]["services"].values():
        assert '"PARACHUTE_DECLARED=/home/alice/etc/parachute/declared.json"' in service["Service"]["Environment"]


def test_a_change_of_what_is_declared_starts_it_anew(evaluated: Any) -> None:
    def triggers(found: Any) -> list[str]:
        services = found["systemd"]["user"]["services"]
        assert services["parachute-backup"]["Unit"]["X-SwitchMethod"] == "keep-old"
        (one,), (other,) = (
            services[f"parachute-{name}"]["Unit"]["X-Restart-Triggers"] for name in ("core", "supervisor")
        )
        assert one == other
        return [one]

    changed = at_home(f"{{ imports = [ ({CONFIGURATION}) ]; services.parachute.settings.agents.warm = 1; }}")
    assert triggers(changed) != triggers(evaluated)


def test_what_is_an_option_of_a_machine_is_a_setting_here() -> None:
    found = at_home("{ services.parachute = { enable = true; settings.sandbox.memory_megabytes = 2048; }; }")
    declared = json.loads(found["xdg"]["configFile"]["parachute/declared.json"]["text"])
    assert declared["settings"]["sandbox"] == {"memory_megabytes": 2048}
    with pytest.raises(EvaluationFailed, match=r"Write services\.parachute\.port instead"):
        at_home("{ services.parachute = { enable = true; settings.port = 4000; }; }")


def test_the_agent_is_asked_about_and_handed_on() -> None:
    with pytest.raises(EvaluationFailed, match=r"services\.parachute\.acceptUnfreeAgent: the agent's program"):
        evaluate("{ services.parachute.enable = true; }", home=True)
    found = at_home('{ services.parachute = { enable = true; agentProgram = "/opt/claude"; }; }')
    for name in ("core", "supervisor"):
        service = found["systemd"]["user"]["services"][f"parachute-{name}"]["Service"]
        assert '"PARACHUTE_AGENT_PROGRAM=/opt/claude"' in service["Environment"]


def test_nothing_happens_until_it_is_enabled() -> None:
    def without_itself(text: str) -> Any:
        found = at_home(text)
        del found["services"]["parachute"]
        return found

    assert without_itself("{ services.parachute.backup.enable = true; }") == without_itself("{ }")


def test_it_has_the_options_of_nixos_but_for_those_of_a_machine() -> None:
    def names(home: bool) -> set[str]:
        return {each["name"].removeprefix("services.parachute.") for each in options(home=home)}

    left_out = {name for name in names(home=False) if name in OF_MACHINES or name.partition(".")[0] in OF_MACHINES}
    assert names(home=True) == names(home=False) - left_out
    page = (TREE / "docs" / "nixos.md").read_text().partition("## With home-manager")[2].partition("\n## ")[0]
    assert [name for name in OF_MACHINES if f"`{name}`" not in page] == []


@pytest.mark.skipif(not REAL_LIB, reason="NIXPKGS_LIB is not set")
def test_the_real_library_says_the_same(evaluated: Any) -> None:
    assert at_home(CONFIGURATION, lib=REAL_LIB) == evaluated
