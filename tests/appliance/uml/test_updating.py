"""The power goes while a new version is put in place, proves itself or goes: after the boot it is the one before, with all it had."""

from collections.abc import Iterator
from contextlib import suppress

import pytest

from tests.appliance.full_vault import Contents
from tests.appliance.uml.build import Machine
from tests.appliance.uml.disk import Disk
from tests.appliance.uml.serial_line import Silence
from tests.appliance.uml.test_power_cut import Powered
from tests.appliance.updating import Updating

VERSION = "FAILS_ON_DEMAND"


@pytest.fixture(scope="module")
def powered(machine: Machine) -> Iterator[Powered]:
    """A computer with something in it on a disk that stays, and a newer version."""
    with Disk(machine) as disk:
        powered = Powered(machine, disk)
        try:
            powered.on("parachute service install && parachute setup --yes")
            computer = Updating(powered.guest)
            computer.make_wheels(VERSION)
            computer.stage(VERSION)
            for number in range(3):
                status, made = computer.ask("/api/daily/entries", {"content": f"Entry {number}"})
                assert status == 200, made
                computer.say(f"echo chat-{number}")
            yield powered
        finally:
            powered.close()


@pytest.mark.parametrize("phase", ["putting", "probation", "returning"])
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
