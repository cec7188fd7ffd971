"""The recipe of a machine's image: what it locks, lists and refuses."""

import configparser
import json
import re
from pathlib import Path

import pytest

from packages import program
from packages.debian.units import units
from packages.machine_image import building, contents, lock, recipe

FILES = recipe.FOLDER / "files"
STATUS = """Package: git
Status: install ok installed
Architecture: amd64
Version: 1:2.47.3-0+deb13u1
Description: fast
 Version: 2, it says

Package: parachute-computer
Architecture: amd64
Version: 0.1.0-1
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A root with two packages of Debian's kind and one of Python's."""
    status = tmp_path / "var/lib/dpkg/status"
    status.parent.mkdir(parents=True)
    status.write_text(STATUS)
    metadata = tmp_path / f"{program.FOLDER}/lib/python3.13/site-packages/segno-1.6.6.dist-info/METADATA".lstrip("/")
    metadata.parent.mkdir(parents=True)
    metadata.write_text("Metadata-Version: 2.4\nName: segno\nVersion: 1.6.6\nLicense-Expression: BSD-3-Clause\n\nQR.\n")
    return tmp_path


def test_the_lock_is_what_debian_installed_without_our_package(root: Path) -> None:
    assert lock.installed(root) == {"git": "1:2.47.3-0+deb13u1"}


@pytest.mark.parametrize("installed", [{"git": "2"}, {}, {"git": "1", "telnetd": "1"}])
def test_a_root_with_anything_else_than_the_lock_is_refused(installed: dict[str, str]) -> None:
    lock.compare({"git": "1"}, {"git": "1"})
    with pytest.raises(SystemExit, match="image-lock"):
        lock.compare({"git": "1"}, installed)


@pytest.mark.parametrize("board", recipe.BOARDS)
def test_each_board_has_a_lock_with_all_that_is_asked_for(board: str) -> None:
    locked = lock.read(board)
    assert list(locked) == sorted(locked)
    assert set(recipe.PACKAGES) <= set(locked)
    assert lock.preferences({"git": "1:2"}) == "Package: git\nPin: version 1:2\nPin-Priority: 1001\n"


def test_the_list_names_packages_of_both_kinds(root: Path) -> None:
    listed = json.loads(contents.spdx(root, "parachute-pc"))
    locators = {each["name"]: each["externalRefs"][0]["referenceLocator"] for each in listed["packages"]}
    assert locators["git"] == "pkg:deb/debian/git@1%3A2.47.3-0%2Bdeb13u1?arch=amd64&distro=debian-trixie"
    assert locators["segno"] == "pkg:pypi/segno@1.6.6"
    assert {each["name"]: each["licenseDeclared"] for each in listed["packages"]}["segno"] == "BSD-3-Clause"
    assert len({each["SPDXID"] for each in listed["packages"]}) == len(listed["relationships"]) == 3
    assert contents.spdx(root, "parachute-pc") == contents.spdx(root, "parachute-pc")


def test_only_public_keys_are_let_in(tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_text("ssh-ed25519 AAAA me@laptop\n\n")
    assert building.keys([key]) == ["ssh-ed25519 AAAA me@laptop"]
    key.write_text("-----BEGIN OPENSSH PRIVATE KEY-----\n")
    with pytest.raises(SystemExit, match="public"):
        building.keys([key])


@pytest.mark.parametrize("board", ["", "toaster"])
def test_an_unknown_board_is_refused(board: str) -> None:
    with pytest.raises(SystemExit, match="BOARD=pc"):
        building.refuse(board)


def test_its_files_name_the_partitions_of_the_recipe() -> None:
    definitions = [(FILES / f"etc/repart.d/{name}.conf").read_text() for name in ("10-boot", "20-root")]
    assert [re.findall("^UUID=(.+)$", text, re.MULTILINE) for text in definitions] == [[recipe.BOOT], [recipe.ROOT]]
    mounted = dict(line.split()[:2] for line in (FILES / "etc/fstab").read_text().splitlines() if line[0] != "#")
    assert mounted[f"PARTUUID={recipe.ROOT}"] == "/"
    assert mounted[f"PARTUUID={recipe.BOOT}"] == "/efi"
    assert f"root=PARTUUID={recipe.ROOT}" in recipe.KERNEL


def test_it_listens_for_others_who_need_a_key() -> None:
    settings = json.loads((FILES / "etc/parachute/declared.json").read_text())["settings"]
    assert settings == {"host": recipe.ADDRESS, "port": 3333, "auth_mode": "remote"}
    assert "ListenStream=0.0.0.0:3333" in units(recipe.ADDRESS)["parachute-core.socket"]
    assert "ListenStream=127.0.0.1:3333" in units()["parachute-core.socket"]


def test_ssh_runs_only_with_a_key_and_nobody_has_a_password() -> None:
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.read(FILES / "etc/systemd/system/ssh.service.d/parachute.conf")
    assert unit["Unit"]["ConditionFileNotEmpty"] == "/root/.ssh/authorized_keys"
    said = (FILES / "etc/ssh/sshd_config.d/parachute.conf").read_text().splitlines()
    assert {"PasswordAuthentication no", "PermitRootLogin prohibit-password"} <= set(said)
    assert 'usermod --password "!" root' in recipe.SETUP
