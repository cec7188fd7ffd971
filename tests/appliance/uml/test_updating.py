"""The power goes while a new version is put in place or goes: after the boot it is the one before, with all it had."""

from contextlib import suppress

import pytest

from tests.appliance.full_vault import Contents
from tests.appliance.uml.powered import Powered
from tests.appliance.uml.serial_line import Silence
from tests.appliance.updating import Updating

VERSION = "FAILS_ON_DEMAND"


@pytest.fixture(scope="module")
def staged(installed: Powered) -> None:
    """Something is on the disk, and a newer version."""
    if not installed.is_on:
        installed.on()
    computer = Updating(installed.guest)
    computer.make_wheels(VERSION)
    computer.stage(VERSION)
    for number in range(3):
        status, made = computer.ask("/api/daily/entries", {"content": f"Entry {number}"})
        assert status == 200, made
    computer.say("echo chat")


@pytest.mark.usefixtures("staged")
@pytest.mark.parametrize("phase", ["putting", "returning"])
def test_after_the_boot_it_is_the_version_before(powered: Powered, phase: str) -> None:
    computer = Updating(powered.guest)
    columns, before = computer.columns(), Contents.of(computer)
    # The audit log is given to the disk by the kernel, within half a minute.
    computer.run("sync")
    # What the machine's own disk has is made anew by the boot.
    with suppress(Silence), computer.unrehearsed():
        computer.fail_in(phase, VERSION)
        powered.off()
    powered.on("rm -f Parachute/fail-now")
    computer = Updating(powered.guest)
    assert computer.ended("back")["problem"]
    assert computer.version() == "0.1.0"
    assert computer.columns() == columns
    computer.run("parachute audit verify")
    assert [each[:500] for each in before.lost(Contents.of(computer))] == []
