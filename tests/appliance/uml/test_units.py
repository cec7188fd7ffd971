"""Units that the supervisor writes and systemd loads, with dbus-broker in the place of dbus-daemon: tests of the other guest."""

from tests.appliance import test_units as tests

computer = tests.computer

test_systemd_verify_says_nothing_about_any_unit = tests.test_systemd_verify_says_nothing_about_any_unit
test_core_starts_programs_that_are_not_held_back = tests.test_core_starts_programs_that_are_not_held_back
