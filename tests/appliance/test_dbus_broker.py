"""The launcher and the services with dbus-broker in the place of dbus-daemon, as on NixOS: tests of the usual guest."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from testinfra.host import Host

from tests.appliance import test_launcher, test_service
from tests.appliance.guest import Guest
from tests.appliance.recipe import broker

computer = test_service.computer


@pytest.fixture(scope="module")
def user(layers: tuple[Path, ...]) -> Iterator[Host]:
    """The user of a guest of its own."""
    with tempfile.TemporaryDirectory(prefix="broker-", dir="/tmp") as folder:
        Path(folder).chmod(0o755)
        broker(Path(folder))
        with Guest((Path(folder), *layers)) as booted:
            yield booted.user


def test_the_bus_is_its(user: Host) -> None:
    assert user.check_output("systemctl --user show dbus.service --property=Id --value") == "dbus-broker.service"


def test_the_launchers_tests_pass(user: Host) -> None:
    test_launcher.passed(user, "test_systemd_launcher.py")


test_the_computer_answers_and_survives_the_supervisor = (
    test_service.test_the_computer_answers_and_survives_the_supervisor
)
test_a_supervisor_that_has_lost_the_bus_leaves_its_place_to_the_next = (
    test_service.test_a_supervisor_that_has_lost_the_bus_leaves_its_place_to_the_next
)
