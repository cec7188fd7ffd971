"""Declared settings go over the file, below the environment of a single start, and cannot be changed."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from syrupy.assertion import SnapshotAssertion

from parachute.automation.suggestions.own_settings import OwnSettings
from parachute.config.declared.models import Declared
from parachute.config.settings.home import Home
from tests.support.terminal import Terminal

from .declaring import write

pytestmark = pytest.mark.long

DECLARED = {"port": 4000, "sandbox": {"required": True, "hosts": ["*.example.org"]}, "model": None}


@pytest.fixture
def home(parachute: Terminal, declared: Path) -> Home:
    """A home with a file that says something else."""
    write(declared, settings=DECLARED)
    parachute.home.mkdir(mode=0o700)
    found = Home(parachute.home)
    found.config.write_text("port: 5000\nmodel: mine\nsandbox: {required: false, cpus: 1.0}\n")
    return found


def rows(parachute: Terminal, **environment: str) -> dict[str, Any]:
    return {row["name"]: row for row in json.loads(parachute.ok("config", "--json", **environment))}


def test_declared_goes_over_the_file_and_the_environment_over_both(parachute: Terminal, home: Home) -> None:
    found = rows(parachute)
    assert (found["port"]["value"], found["port"]["source"]) == (4000, "declared")
    assert (found["model"]["value"], found["model"]["source"]) == (None, "declared")
    assert (found["sandbox.required"]["value"], found["sandbox.required"]["source"]) == (True, "declared")
    # What the declaration does not name in a group stays the user's.
    assert (found["sandbox.cpus"]["value"], found["sandbox.cpus"]["source"]) == (1.0, "file")
    assert found["sandbox.engine"]["source"] == "default"
    once = rows(parachute, PARACHUTE_PORT="6000")
    assert (once["port"]["value"], once["port"]["source"]) == (6000, "PARACHUTE_PORT")
    assert "declared" in parachute.ok("config")


@pytest.mark.parametrize(
    "arguments",
    [
        ("config", "set", "port", "5001"),
        ("config", "unset", "port"),
        ("config", "set", "sandbox.hosts", "[]"),
        ("config", "set", "port", "eighty"),
    ],
)
def test_what_is_declared_is_not_changed(
    parachute: Terminal, home: Home, declared: Path, arguments: tuple[str, ...], snapshot: SnapshotAssertion
) -> None:
    before = home.config.read_text()
    parachute.fails(*arguments)
    assert home.config.read_text() == before
    assert parachute.screens == snapshot


def test_the_vault_too(parachute: Terminal, declared: Path, home: Home, snapshot: SnapshotAssertion) -> None:
    write(declared, settings={"vault": str(home.root.parent / "vault")})
    parachute.fails("vault", "set", "/elsewhere")
    assert parachute.screens == snapshot


def test_what_is_not_declared_is_the_users(parachute: Terminal, home: Home) -> None:
    parachute.ok("config", "set", "sandbox.cpus", "2.5")
    assert rows(parachute)["sandbox.cpus"]["value"] == 2.5
    # Nothing of what is declared has come into the user's file.
    assert yaml.safe_load(home.config.read_text())["sandbox"] == {"required": False, "cpus": 2.5}


@pytest.mark.parametrize("name", ["port", "sandbox.required", "sandbox", "port.number"])
def test_agents_cannot_suggest_it_either(
    home: Home, declared: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("PARACHUTE_DECLARED", str(declared))
    settings = OwnSettings(home)
    payload = {"name": name, "value": {"required": False}}
    with pytest.raises(Declared):
        settings.inspect(payload)
    with pytest.raises(Declared):
        settings.apply(payload, settings._version(name))
    assert settings.inspect({"name": "sandbox.cpus", "value": 4})[1] == "sandbox.cpus: 4"


@pytest.mark.parametrize(
    "settings",
    [
        {"port": 99999},
        {"port": {}},
        {"sandbox": 1},
        {"sandbox": {"engin": "auto"}},
        {"hostnames": [1]},
        {"_env_prefix": "x"},
    ],
)
def test_a_mistake_names_file_and_key_whatever_the_users_file_says(
    parachute: Terminal, home: Home, declared: Path, settings: dict[str, Any], snapshot: SnapshotAssertion
) -> None:
    write(declared, settings=settings)
    parachute.fails("config")
    assert parachute.screens == snapshot


def test_a_vault_that_would_hold_its_own_trust(
    parachute: Terminal, home: Home, declared: Path, snapshot: SnapshotAssertion
) -> None:
    write(declared, settings={"vault": str(home.root)})
    parachute.fails("config")
    assert parachute.screens == snapshot


def test_a_mistake_of_the_user_is_the_users(parachute: Terminal, home: Home, snapshot: SnapshotAssertion) -> None:
    home.config.write_text("sandbox: 3\n")
    parachute.fails("config")
    home.config.write_text("port: 1\nsandbox: {cpus: none}\n")
    parachute.fails("config")
    assert parachute.screens == snapshot
