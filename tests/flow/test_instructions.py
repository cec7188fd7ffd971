"""A conversation about a project knows how to work in its folder, also in one that was made after Brain had started."""

import json

import pytest

from tests.flow.official import RULE, OfficialComputer, answer
from tests.support.computer import Computer
from tests.support.making import Make
from tests.support.messages_api import MessagesAPI

pytestmark = [pytest.mark.timeout(240), pytest.mark.long, pytest.mark.computer]


def test_a_folder_of_the_vault_that_was_made_later(make_computer: Make[Computer], api: MessagesAPI) -> None:
    api.default(answer)
    computer = make_computer(OfficialComputer)
    computer.set_up()
    computer.write_down_both("Projects/lvb")
    message = "I am working on LVB today."

    def known_and_sent() -> tuple[list[str], str]:
        (shown,) = computer.say(message).of_type("prompt_metadata")
        return shown["contextFiles"], json.dumps(api.conversation[-1].body["messages"])

    known, sent = known_and_sent()
    assert "Brain/entities/projects/learn-vibe-build.md" in known
    assert RULE not in sent

    project = computer.vault / "Projects" / "lvb"
    project.mkdir(parents=True)
    (project / "AGENTS.md").write_text(RULE)
    known, sent = known_and_sent()
    assert "Projects/lvb/AGENTS.md" in known
    assert sent.count(RULE) == 1

    # What only looks like a project's file is not read.
    secret = computer.vault / ".parachute" / "AGENTS.md"
    secret.write_text(RULE)
    (project / "AGENTS.md").unlink()
    (project / "AGENTS.md").symlink_to(secret)
    known, sent = known_and_sent()
    assert "Projects/lvb/AGENTS.md" not in known
    assert RULE not in sent
    secret.unlink()
    computer.assert_nothing_failed()
