"""The computer as services, and a chat with the offline model in a sandbox: the tests of the other guest, in their order."""

from tests.appliance import test_service as tests

computer = tests.computer

test_the_computer_answers_and_survives_the_supervisor = tests.test_the_computer_answers_and_survives_the_supervisor
test_a_supervisor_that_has_lost_the_bus_leaves_its_place_to_the_next = (
    tests.test_a_supervisor_that_has_lost_the_bus_leaves_its_place_to_the_next
)
test_systemd_has_nothing_to_say_about_the_units = tests.test_systemd_has_nothing_to_say_about_the_units
test_a_chat_starts_the_sandbox_as_a_service = tests.test_a_chat_starts_the_sandbox_as_a_service
