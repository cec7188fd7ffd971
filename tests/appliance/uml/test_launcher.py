"""The launcher for systemd with dbus-broker in the place of dbus-daemon: the tests of the other guest."""

from tests.appliance.test_launcher import test_its_tests_pass_in_the_guest

__all__ = ["test_its_tests_pass_in_the_guest"]
