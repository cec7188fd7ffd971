"""The user manager enforces a unit's directives under this kernel as well."""

from tests.appliance import test_confinement as tests

probe = tests.probe

test_a_user_service_is_confined_as_its_directives_say = tests.test_a_user_service_is_confined_as_its_directives_say
