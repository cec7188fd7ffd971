"""The programs of agents: in an image, and on this machine for bubblewrap."""

from pathlib import Path

import pytest

from parachute.config.settings.groups.sandbox import SandboxSettings
from parachute.sandbox.image import contents, packages

pytestmark = pytest.mark.process

DATABASE = """Package: base
Status: install ok installed
Version: 1
Priority: required
Installed-Size: 100

Package: git
Status: install ok installed
Version: 1:2.47.3-0+deb13u1
Depends: shared (>= 1), perl | none
Installed-Size: 10

Package: nodejs
Status: install ok installed
Version: 20.19.2+dfsg-1
Depends: shared, virtual
Provides: node-types (= 1), node-acorn
Installed-Size: 20

Package: npm
Status: install ok installed
Version: 9.2.0~ds1-3
Pre-Depends: node-acorn
Installed-Size: 3

Package: shared
Status: install ok installed
Version: 1
Installed-Size: 1000

Package: perl
Status: install ok installed
Version: 5
Installed-Size: 5

Package: real
Status: install ok installed
Version: 5
Provides: virtual
Installed-Size: 7
"""


def test_a_share_is_what_nothing_else_needs() -> None:
    found = packages.shares(DATABASE, ["git", "nodejs", "npm", "not-there"])
    assert {name: size >> 10 for name, size in found.items()} == {"git": 15, "nodejs": 0, "npm": 3}
    assert packages.shares(DATABASE, ["nodejs"]) == {"nodejs": 1027 << 10}
    assert packages.shares("", ["git"]) == {}


def test_versions_are_those_of_the_program() -> None:
    found = contents.versions(packages.installed(DATABASE))
    assert found == {"git": "2.47.3", "node": "20.19.2", "npm": "9.2.0"}


def test_what_an_image_can_do_without_is_a_program_of_it() -> None:
    schema = SandboxSettings.model_json_schema()["properties"]["without"]
    assert set(schema["items"]["enum"]) <= {program.name for program in contents.PROGRAMS}


def test_what_a_machine_lacks_is_installed_with_one_command(tmp_path: Path) -> None:
    programs = tmp_path / "usr/bin"
    programs.mkdir(parents=True)
    (tmp_path / "usr/include").mkdir()
    (tmp_path / "usr/include/stdio.h").touch()
    for name in ("git", "jq"):
        (programs / name).touch(0o755)
    (programs / "python3").write_text('#!/bin/sh\n[ "${2#*ensurepip}" != "$2" ]\n')
    (programs / "python3").chmod(0o755)
    missing = contents.missing(tmp_path)
    names = {program.name for program in missing}
    assert {"libc-dev", "git", "jq", "python3", "venv"}.isdisjoint(names)
    assert {"gcc", "node", "pip", "rg"} <= names
    chosen = [program for program in missing if program.name in ("pip", "rg", "sqlite3")]
    assert contents.installing(chosen, str(programs)) is None
    (programs / "apk").touch(0o755)
    assert contents.installing(chosen, str(programs)) == "sudo apk add py3-pip ripgrep sqlite"
    (programs / "apt-get").touch(0o755)
    assert contents.installing(chosen, str(programs)) == "sudo apt-get install python3-pip ripgrep sqlite3"


def test_every_program_has_a_package_everywhere() -> None:
    for manager in ("fedora", "arch", "alpine", "debian"):
        assert all(program.package(manager) for program in contents.PROGRAMS)
