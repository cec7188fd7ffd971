"""The parts of the Debian package: units, scripts, and what of the locked versions it has."""

import subprocess
from pathlib import Path

import pytest

from packages import program
from packages.debian import building
from packages.debian.units import units
from parachute.config.settings.home import Home
from parachute.supervisor import installed

pytestmark = pytest.mark.process

SCRIPTS = [building.FILES / name for name in (*building.SCRIPTS, "parachute")]


def test_its_units_are_those_of_service_install_for_its_user_alone(tmp_path: Path) -> None:
    own = installed.render(Home(tmp_path / "home"), "127.0.0.1", 3333, lingers_for_us=False)
    assert not (tmp_path / "home").exists(), "they are files for another machine"
    for name, text in units().items():
        lines = text.splitlines()
        assert lines.count("ConditionUser=parachute") == 1, name
        lines.remove("ConditionUser=parachute")
        mine = own[name].replace(str(tmp_path / "home"), "/var/lib/parachute/.parachute").splitlines()
        changed = [pair for pair in zip(lines, mine, strict=True) if pair[0] != pair[1]]
        assert all(line.startswith("ExecStart=") for pair in changed for line in pair), changed
        for line, _ in changed:
            assert line.startswith('ExecStart="/usr/lib/parachute/bin/python3" "-m" "parachute.')


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_a_script_is_one_for_any_shell(script: Path) -> None:
    text = building._filled(script.name)
    assert script.name == "parachute" or text.splitlines()[:2] == ["#!/bin/sh", "set -e"]
    for checker in (["shellcheck", "--shell=sh", "-"], ["dash", "-n"]):
        done = subprocess.run(checker, input=text, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def test_it_has_what_the_nix_package_has_in_the_locked_versions() -> None:
    locked = (program.TREE / "requirements/run.txt").read_text()
    chosen = program.requirements(locked, program.needed())
    names = [line.partition("==")[0] for line in chosen.splitlines() if line and line[0] not in " #"]
    assert set(names) == program.needed()
    assert "hatchling" not in names
    assert chosen.count("--hash=sha256:") >= len(names)
    with pytest.raises(KeyError):
        program.requirements(locked, {"not-locked"})


def test_its_version_of_python_is_the_one_it_asks_for() -> None:
    control = building._control("1.0-1", 2048)
    assert "Version: 1.0-1\n" in control
    assert "Installed-Size: 2\n" in control
    major, minor = program.PYTHON.split(".")
    assert f"python3 (>= {major}.{minor}~), python3 (<< {major}.{int(minor) + 1})" in control
    assert "@" not in control.replace("maintainers@parachute.invalid", "")
