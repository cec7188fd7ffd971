"""Requests that nobody answers in time are refused."""

import pytest

from tests.automation.agent_requests.test_agent_requests import AGENTS, BODY, Office, key_of

pytestmark = pytest.mark.long


def test_no_answer_in_time_is_no() -> None:
    with Office(settings={"agents": {"approval_minutes": 0.03}}) as computer:
        computer.install("letters", BODY, agents=AGENTS)
        assert key_of(computer.run("asked", "Now!")) == "waits_for_owner"
        (item,) = computer.waiting()
        computer.wait_until(lambda: not computer.waiting(), "the time is over")
        assert computer.answer(item, "allow").status_code == 404
        answer = computer.run("asked", "Now!")
        assert (answer.status_code, key_of(answer)) == (403, "expired")
        # Later it may ask again.
        computer.wait_until(lambda: key_of(computer.run("asked", "Now!")) == "waits_for_owner", "it asks again")
