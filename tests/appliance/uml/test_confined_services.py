"""The same services, where systemd limits their memory and the number of their processes."""

from tests.appliance import test_confined_services as tests

computer = tests.computer

test_a_question_is_answered_by_meaning = tests.test_a_question_is_answered_by_meaning
test_a_recording_becomes_text = tests.test_a_recording_becomes_text
