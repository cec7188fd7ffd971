"""Modules as services hold here, too; and where the other guest says that it cannot limit them, this one does."""

from tests.appliance import test_modules as tests

computer = tests.computer
of_others = tests.of_others

test_the_properties_of_its_consent = (
    tests.test_a_module_from_a_git_repository_answers_as_a_service_with_the_properties_of_its_consent
)
test_without_confinement = tests.test_without_confinement_every_attempt_succeeds
test_a_hostile_module_does_what_its_consent_says = (
    tests.test_a_hostile_module_does_what_its_consent_says_and_nothing_else
)
test_a_hostile_module_finds_nothing = tests.test_a_hostile_module_finds_nothing_that_nobody_thought_of
test_a_hostile_module_is_limited = tests.test_a_hostile_module_is_limited_or_the_user_is_told_that_it_is_not
test_a_module_sleeps_when_idle = tests.test_a_module_sleeps_when_idle_and_the_next_request_wakes_it
