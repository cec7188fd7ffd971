"""The Debian package: installed, used, upgraded and removed with dpkg, on a Debian that has no network."""

import hashlib
import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from ipaddress import ip_address
from pathlib import Path

import pytest
from testinfra.host import Host

from packages import program
from packages.debian import building
from packages.debian.units import units
from tests.appliance.guest import Guest
from tests.appliance.recipe import USER, USER_ID
from tests.appliance.services import URL

pytestmark = pytest.mark.downloads

PACKAGES = "opt/packages"
NAME = building.NAME
VAULT = f"{program.HOME}/Parachute"
DECLARED = "/etc/parachute/declared.json"
AS_USER = f"runuser -u {program.USER} -- env XDG_RUNTIME_DIR=/run/user/$(id -u {program.USER})"


@pytest.fixture(scope="module")
def layer() -> Iterator[Path]:
    """A folder with two versions of the package, and what the first one was made of."""
    folder = Path(tempfile.mkdtemp(prefix="packages-", dir="/tmp"))
    try:
        (folder / PACKAGES).mkdir(parents=True)
        root = folder / "root-of-package"
        root.mkdir()
        building.lay_out(root)
        building.pack(root, folder / PACKAGES, "1")
        # Packing it small takes longer than all else that is done with it.
        building.pack(root, folder / PACKAGES, "2", "none")
        shutil.rmtree(root)
        folder.chmod(0o755)
        yield folder
    finally:
        shutil.rmtree(folder)


@pytest.fixture(scope="module")
def debian(layer: Path, layers: tuple[Path, ...]) -> Iterator[Host]:
    """Root of a Debian without any of our files, and with the packages."""
    with Guest((layer, layers[-1])) as booted:
        yield booted.root


@pytest.fixture(scope="module")
def computer(debian: Host) -> Host:
    """The same Debian with the package, whose user was not there before."""
    refused = debian.run(f"dpkg --install {path('1')}")
    assert refused.rc != 0
    assert f"there is a user {USER} already, whose home is /home/{USER}" in refused.stderr
    assert debian.run("test -e /usr/lib/parachute").rc != 0
    # With mail, cron and the like there would be more to say.
    debian.run(f"systemctl stop user@{USER_ID}.service; loginctl disable-linger {USER}; userdel --remove {USER}")
    installed = debian.check_output(f"dpkg --install {path('1')}")
    assert "sudo parachute pair" in installed
    return debian


def path(revision: str) -> str:
    """The package in the guest."""
    return f"/{PACKAGES}/{NAME}_{program.VERSION}-{revision}_{program.architecture()}.deb"


def state(host: Host, unit: str, name: str = "ActiveState") -> str:
    """A property of a unit of the computer's user."""
    return str(host.check_output(f"{AS_USER} systemctl --user show {unit} --property={name} --value"))


def listened(host: Host) -> set[str]:
    """The addresses at which somebody listens on the computer's port."""
    # The number of a state of the kernel: it listens. Its addresses are written backwards.
    sockets = [line.split() for line in host.check_output("cat /proc/net/tcp").splitlines()[1:]]
    found = [each[1].split(":") for each in sockets if each[3] == "0A"]
    return {str(ip_address(bytes.fromhex(address)[::-1])) for address, port in found if int(port, 16) == 3333}


def test_it_is_as_packages_of_debian_are(layer: Path, tmp_path: Path) -> None:
    package = layer / path("1").lstrip("/")
    subprocess.run(["dpkg-deb", "--raw-extract", str(package), str(tmp_path)], check=True)
    listing = subprocess.run(
        ["dpkg-deb", "--contents", str(package)], check=True, capture_output=True, text=True
    ).stdout
    assert {line.split()[1] for line in listing.splitlines()} == {"root/root"}
    tops = {each.relative_to(tmp_path).parts[:2] for each in tmp_path.rglob("*") if each.is_file()}
    assert {top for top in tops if top[0] != "DEBIAN"} == {
        ("etc", "parachute"),
        ("usr", "bin"),
        ("usr", "lib"),
        ("usr", "share"),
    }
    lines = (tmp_path / "DEBIAN/md5sums").read_text().splitlines()
    sums = {name: digest for digest, name in (line.split("  ", 1) for line in lines)}
    for each in sorted(tmp_path.rglob("*")):
        name = str(each.relative_to(tmp_path))
        assert each.is_symlink() or not each.stat().st_mode & 0o6022, f"{name} can be written or raises rights"
        assert "__pycache__" not in name
        if each.is_file() and not each.is_symlink() and not name.startswith("DEBIAN/"):
            assert sums.pop(name) == hashlib.md5(each.read_bytes(), usedforsecurity=False).hexdigest()
    assert sums == {}
    for name in ("copyright", "changelog.Debian.gz", "README.Debian"):
        assert (tmp_path / "usr/share/doc" / NAME / name).is_file()
    assert (tmp_path / "DEBIAN/conffiles").read_text().split() == [DECLARED]
    places = (str(program.TREE), str(layer))
    ours = [each for each in tmp_path.rglob("*") if each.is_file() and "site-packages" not in each.parts]
    for each in ours:
        assert re.search(rb"@[A-Z]+@", each.read_bytes()) is None, each
        assert not any(place.encode() in each.read_bytes() for place in places), f"{each} names a place of this machine"


def test_it_runs_once_it_is_installed_and_nobody_is_logged_in(computer: Host) -> None:
    assert json.loads(computer.check_output(f"curl -sf {URL}/api/health"))["status"] == "ok"
    assert state(computer, "parachute-core.service", "FragmentPath") == "/usr/lib/systemd/user/parachute-core.service"
    assert computer.file(f"/var/lib/systemd/linger/{program.USER}").exists
    assert computer.check_output(f"stat --format=%U:%a {program.HOME} {VAULT}").split() == ["parachute:700"] * 2
    assert computer.check_output(f"getent passwd {program.USER}").endswith("/usr/sbin/nologin")
    assert listened(computer) == {"127.0.0.1"}
    assert computer.check_output("parachute version") == f"parachute {program.VERSION}"


def test_systemd_has_nothing_to_say_about_its_units(computer: Host) -> None:
    files = " ".join(f"/usr/lib/systemd/user/{name}" for name in units())
    done = computer.run(f"{AS_USER} systemd-analyze --user --man=no verify {files}")
    assert (done.rc, done.stdout, done.stderr) == (0, "", "")
    for name in ("core", "supervisor"):
        unit = f"/usr/lib/systemd/user/parachute-{name}.service"
        done = computer.run(
            f"{AS_USER} systemd-analyze --user security --offline=true --threshold=25 --no-pager {unit}"
        )
        assert done.rc == 0, done.stdout[-200:]


def test_root_speaks_for_its_user_and_an_agent_answers(computer: Host) -> None:
    computer.check_output("parachute setup --yes")
    computer.check_output("parachute daily add 'Tea with Kevin'")
    assert computer.check_output("parachute chat hello")
    units = json.loads(computer.check_output("parachute status --json"))["units"]
    assert [unit["name"] for unit in units if unit["name"].startswith("sandbox@") and unit["process"]]
    assert computer.run("test -e /root/.parachute").rc != 0
    # It would have another status if something did not work.
    computer.check_output("parachute doctor")


def test_for_other_users_it_is_a_program_without_a_service(computer: Host) -> None:
    computer.check_output("useradd --create-home --uid 1001 bob && systemctl start user@1001.service")
    as_bob = "runuser -u bob -- env HOME=/home/bob XDG_RUNTIME_DIR=/run/user/1001"
    shown = computer.check_output(
        f"{as_bob} systemctl --user show parachute-core.service --property=ActiveState --value"
    )
    assert shown == "inactive"
    assert "not running" in computer.run(f"{as_bob} parachute status").stdout
    assert computer.run(f"{as_bob} ls {VAULT}").rc != 0


def test_the_local_network_is_let_in_as_its_page_says(computer: Host) -> None:
    page = computer.check_output(f"cat /usr/share/doc/{NAME}/README.Debian")
    chapter = page.partition("Other machines\n")[2].partition("Agents\n")[0]
    lines = re.findall(r"^  sudo (parachute .*)$", chapter, re.MULTILINE)
    assert len(lines) == 3
    for line in lines:
        computer.check_output(line)
    assert listened(computer) == {"0.0.0.0"}


def test_an_upgrade_runs_the_new_one_with_what_was_there(computer: Host) -> None:
    declared = '{"version": 1, "user": "parachute", "settings": {"session_idle_minutes": 31}}'
    computer.check_output(f"printf '%s' '{declared}' > {DECLARED}")
    before = state(computer, "parachute-core.service", "MainPID")
    conversations = len(json.loads(computer.check_output("parachute sessions list --json")))
    computer.check_output(f"dpkg --install {path('2')}")
    assert computer.check_output(f"dpkg-query --show --showformat='${{Version}}' {NAME}") == f"{program.VERSION}-2"
    assert state(computer, "parachute-core.service", "MainPID") not in (before, "0")
    assert listened(computer) == {"0.0.0.0"}, "it still lets the local network in"
    assert "Tea with Kevin" in computer.check_output("parachute daily today")
    assert len(json.loads(computer.check_output("parachute sessions list --json"))) == conversations >= 1
    assert computer.check_output(f"cat {DECLARED}") == declared
    assert "31" in computer.check_output("parachute config | grep session_idle_minutes")
    assert computer.check_output(f"dpkg --verify {NAME}").split() == ["??5??????", "c", DECLARED]


def test_the_local_network_is_shut_out_again(computer: Host) -> None:
    computer.check_output("parachute config unset host")
    computer.check_output("parachute service uninstall")
    computer.check_output("parachute start </dev/null")
    assert listened(computer) == {"127.0.0.1"}
    assert state(computer, "parachute-core.service", "FragmentPath") == "/usr/lib/systemd/user/parachute-core.service"


def test_without_the_package_nothing_is_left_but_what_belongs_to_its_owner(computer: Host) -> None:
    user = computer.check_output(f"id -u {program.USER}")
    computer.check_output(f"{AS_USER} touch {VAULT}/mine")
    computer.check_output(f"dpkg --remove {NAME}")
    assert computer.run(f"pgrep -u {program.USER}").stdout == ""
    assert computer.run(f"curl -s --max-time 5 {URL}/api/health").rc == 7, "refused"
    assert computer.file(DECLARED).exists
    purged = computer.check_output(f"dpkg --purge {NAME}")
    assert f"are still in {program.HOME}" in purged
    for gone in (
        "/usr/lib/parachute",
        "/usr/bin/parachute",
        "/etc/parachute",
        f"/var/lib/systemd/linger/{program.USER}",
    ):
        assert not computer.file(gone).exists, gone
    assert computer.check_output("find /etc/systemd /usr/lib/systemd /var/lib/systemd -name 'parachute*'") == ""
    assert computer.file(f"{VAULT}/mine").exists
    assert user == computer.check_output(f"stat --format=%u {VAULT}")
