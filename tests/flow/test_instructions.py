"""A conversation about a project knows how to work in its folder, also in one that was made after Brain had started."""

import json

import pytest

from tests.flow.official import RULE, OfficialHousehold
from tests.support.messages_api import MessagesAPI

pytestmark = [pytest.mark.timeout(240), pytest.mark.long]


def test_a_folder_of_the_vault_that_was_made_later(api: MessagesAPI) -> None:
    with OfficialHousehold(api) as household:
        household.set_up()
        household.write_down_both("Projects/lvb")
        message = "I am working on LVB today."

        def told() -> tuple[list[str], str]:
            (shown,) = household.say(message).of_type("prompt_metadata")
            return shown["contextFiles"], json.dumps(api.conversation[-1].body["messages"])

        known, sent = told()
        assert "Brain/entities/projects/learn-vibe-build.md" in known
        assert RULE not in sent

        project = household.vault / "Projects" / "lvb"
        project.mkdir(parents=True)
        (project / "AGENTS.md").write_text(RULE)
        known, sent = told()
        assert "Projects/lvb/AGENTS.md" in known
        assert sent.count(RULE) == 1

        # What only looks like a project's file is not read.
        secret = household.vault / ".parachute" / "AGENTS.md"
        secret.write_text(RULE)
        (project / "AGENTS.md").unlink()
        (project / "AGENTS.md").symlink_to(secret)
        known, sent = told()
        assert "Projects/lvb/AGENTS.md" not in known
        assert RULE not in sent
        secret.unlink()
        household.assert_nothing_failed()
