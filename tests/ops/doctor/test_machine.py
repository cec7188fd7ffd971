"""Checks of the machine itself, on what its kernel and its programs say."""

import os
import shutil
import subprocess
import sys
import time

import pytest
from syrupy.assertion import SnapshotAssertion

from .machine import Machine

pytestmark = pytest.mark.long

MEMORY = "MemTotal:        3884308 kB\nMemFree:          120000 kB\nMemAvailable:    {kilobytes} kB\n"
PRESSURE = "some avg10=0.00 avg60={some} avg300=0.00 total=1\nfull avg10=0.00 avg60={full} avg300=0.00 total=1\n"
SWAPS = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"
MOUNTS = "/dev/nvme0n1p2 / ext4 rw,relatime 0 0\nproc /proc proc rw 0 0\n"


def test_a_clock_in_line_is_fine(machine: Machine, snapshot: SnapshotAssertion) -> None:
    machine.program("timedatectl", "echo yes")
    (machine.vault / ".parachute" / "sessions.db").touch()
    machine.well("clock")
    assert machine.results == snapshot


def test_a_clock_that_nobody_sets_is_noticed(machine: Machine, snapshot: SnapshotAssertion) -> None:
    machine.program("timedatectl", '[ "$*" = "show --property=NTPSynchronized --value" ] && echo no')
    machine.warns("clock")
    assert machine.results == snapshot


def test_whether_it_is_synchronised_may_be_unknown(machine: Machine, snapshot: SnapshotAssertion) -> None:
    said = "System has not been booted with systemd as init system (PID 1). Can't operate."
    machine.program("timedatectl", f'echo "{said}" >&2; exit 1')
    machine.well("clock")
    assert machine.results == snapshot


def test_a_clock_behind_what_was_written_is_noticed(machine: Machine, snapshot: SnapshotAssertion) -> None:
    machine.program("timedatectl", "echo yes")
    (machine.vault / ".parachute" / "audit").mkdir()
    record = machine.vault / ".parachute" / "audit" / "2026-01-01.jsonl"
    record.touch()
    os.utime(record, (time.time() + 86400, time.time() + 86400))
    machine.accuses("clock")
    assert machine.results == snapshot


def test_a_zone_is_named(machine: Machine, snapshot: SnapshotAssertion) -> None:
    machine.file("/usr/share/zoneinfo/Europe/Berlin")
    local = machine.file("/etc/localtime")
    local.unlink()
    local.symlink_to(machine.root / "usr/share/zoneinfo/Europe/Berlin")
    machine.well("time-zone")
    assert machine.results == snapshot


def test_a_machine_without_a_zone_is_noticed(machine: Machine, snapshot: SnapshotAssertion) -> None:
    machine.warns("time-zone")
    assert machine.results == snapshot


@pytest.mark.parametrize(
    ("zone", "is_well"), [("Europe/Berlin", True), (":UTC", True), ("CET-1CEST", True), ("Berlin", False)]
)
def test_the_variable_goes_over_the_file(
    machine: Machine, zone: str, is_well: bool, snapshot: SnapshotAssertion
) -> None:
    environment = {**machine.computer().environment, "TZ": zone}
    if is_well:
        machine.well("time-zone", environment=environment)
    else:
        machine.accuses("time-zone", environment=environment)
    assert machine.results == snapshot


@pytest.mark.parametrize(
    ("variables", "level"),
    [({"LC_ALL": "C.UTF-8"}, "ok"), ({"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, "warning")],
)
def test_names_of_files_have_to_be_utf_8(variables: dict[str, str], level: str, machine: Machine) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "parachute.cli", "doctor", "locale", "--json"],
        env={"PATH": os.environ["PATH"], "HOME": str(machine.folder), **variables},
        capture_output=True,
        text=True,
        check=True,
    )
    assert f'"result": "{level}"' in done.stdout


def test_much_memory_is_fine(machine: Machine, snapshot: SnapshotAssertion) -> None:
    machine.file("/proc/meminfo", MEMORY.format(kilobytes=2_000_000))
    machine.file("/proc/pressure/memory", PRESSURE.format(some="30.00", full="1.00"))
    machine.well("memory")
    assert machine.results == snapshot


@pytest.mark.parametrize(("kilobytes", "full"), [(200_000, "0.00"), (2_000_000, "25.00")])
def test_little_memory_and_waiting_for_it_are_noticed(machine: Machine, kilobytes: int, full: str) -> None:
    machine.file("/proc/meminfo", MEMORY.format(kilobytes=kilobytes))
    machine.file("/proc/pressure/memory", PRESSURE.format(some="30.00", full=full))
    machine.warns("memory")


def test_no_memory_is_a_problem(machine: Machine) -> None:
    machine.file("/proc/meminfo", MEMORY.format(kilobytes=40_000))
    machine.accuses("memory")


def test_a_system_that_does_not_tell_is_skipped(machine: Machine) -> None:
    for check in ("memory", "swap", "file-system", "inotify", "user-namespaces"):
        machine.skips(check)


def test_compressed_memory_is_fine(machine: Machine, snapshot: SnapshotAssertion) -> None:
    machine.file("/proc/swaps", SWAPS + "/dev/zram0  partition 1024 0 100\n")
    machine.well("swap")
    assert machine.results == snapshot


@pytest.mark.parametrize("name", ["/dev/mmcblk0p3", "/var/swap"])
def test_a_card_that_is_swapped_to_is_noticed(machine: Machine, name: str) -> None:
    machine.file("/proc/self/mounts", "/dev/mmcblk0p2 / ext4 rw 0 0\n")
    machine.file("/proc/swaps", f"{SWAPS}{name}  file 1024 0 -2\n")
    assert name in machine.warns("swap").message


def test_disks_of_this_machine_are_fine(machine: Machine) -> None:
    machine.file("/proc/self/mounts", MOUNTS)
    machine.well("file-system")


@pytest.mark.parametrize("kind", ["nfs4", "cifs", "fuse.sshfs", "fuse.rclone", "exfat", "vfat", "tmpfs"])
def test_a_vault_on_what_databases_cannot_live_on_is_noticed(
    machine: Machine, kind: str, snapshot: SnapshotAssertion
) -> None:
    drive = machine.folder / "My Drive"
    machine.vault = drive / "vault"
    machine.vault.mkdir(parents=True)
    place = str(drive).replace(" ", "\\040")  # as the kernel writes it
    machine.file("/proc/self/mounts", f"{MOUNTS}server:/x {place} {kind} rw 0 0\n")
    machine.accuses("file-system")
    assert machine.results == snapshot


def test_enough_watches_are_fine(machine: Machine, snapshot: SnapshotAssertion) -> None:
    machine.file("/proc/sys/fs/inotify/max_user_watches", "65536\n")
    machine.file("/proc/sys/fs/inotify/max_user_instances", "128\n")
    machine.well("inotify")
    assert machine.results == snapshot


def test_a_vault_with_more_folders_than_can_be_watched_is_noticed(
    machine: Machine, snapshot: SnapshotAssertion
) -> None:
    machine.file("/proc/sys/fs/inotify/max_user_watches", "10\n")
    for number in range(9):
        (machine.vault / f"{number}").mkdir()
    machine.warns("inotify")
    assert machine.results == snapshot


def test_too_few_watching_programs_are_noticed(machine: Machine, snapshot: SnapshotAssertion) -> None:
    machine.file("/proc/sys/fs/inotify/max_user_watches", "65536\n")
    machine.file("/proc/sys/fs/inotify/max_user_instances", "8\n")
    machine.warns("inotify")
    assert machine.results == snapshot


def test_a_disk_with_room_is_fine(machine: Machine) -> None:
    if shutil.disk_usage(machine.folder).free < 2 << 30:
        pytest.skip("the disk of this machine is nearly full")
    machine.well("disk-space")
    machine.well("disk-writable")


def on_small_disk(machine: Machine, check: str, options: str, after: str = "true") -> subprocess.CompletedProcess[str]:
    """Run a check with the vault on a file system of its own, mounted where nobody else sees it."""
    mounting = f'mount -t tmpfs -o {options} tmpfs "$PARACHUTE_VAULT" && mkdir "$PARACHUTE_VAULT/.parachute" && {after}'
    command = f'{mounting} && exec "{sys.executable}" -m parachute.cli doctor {check} --json'
    variables = {"PATH": os.environ["PATH"], "HOME": str(machine.folder), "PARACHUTE_HOME": str(machine.home.root)}
    done = subprocess.run(
        ["unshare", "--map-root-user", "--mount", "sh", "-c", command],
        env={**variables, "PARACHUTE_VAULT": str(machine.vault)},
        capture_output=True,
        text=True,
        check=False,
    )
    if "unshare" in done.stderr or "mount:" in done.stderr:
        pytest.skip(f"needs a mount of its own: {done.stderr.strip()}")
    return done


def test_a_full_disk_is_noticed(machine: Machine) -> None:
    done = on_small_disk(machine, "disk-space", "size=1m")
    assert done.returncode == 1
    assert "MB are free for the vault" in done.stdout


def test_a_disk_without_room_for_more_files_is_noticed(machine: Machine) -> None:
    done = on_small_disk(machine, "disk-space", "size=300m,nr_inodes=64")
    assert done.returncode == 1
    assert "more files can be made for the vault" in done.stdout


def test_a_disk_that_became_read_only_is_noticed(machine: Machine) -> None:
    done = on_small_disk(machine, "disk-writable", "size=1m", after='mount -o remount,ro "$PARACHUTE_VAULT"')
    assert done.returncode == 1
    assert "The disk is read-only: the vault" in done.stdout
    assert "the state directory" not in done.stdout
