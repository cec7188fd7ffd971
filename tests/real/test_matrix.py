"""The connector of Matrix at Synapse: what is expected of it at the fake home server, as far as a real one lets people do that."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from parachute.connectors.platforms.models import Start
from tests.conftest import needs_bubblewrap
from tests.connectors.connected import Server, server
from tests.connectors.process.matrix.bot import private, stored, talking
from tests.connectors.process.matrix.test_files import (  # noqa: F401 - the tests
    test_files_come_with_what_was_written_beside_them,
    test_one_that_is_too_large_or_gone_keeps_back_no_other,
    test_twenty_megabytes_and_no_more,
)
from tests.connectors.process.matrix.test_platform import (  # noqa: F401 - the tests
    test_a_group_hears_nothing_and_its_invitation_is_told,
    test_a_long_answer_is_split_and_changed_in_place,
    test_a_private_chat_into_which_others_come_is_private_no_more,
    test_a_reply_is_what_was_said_and_not_what_it_quotes,
    test_a_room_that_becomes_encrypted_hears_it_and_the_owner_too,
    test_an_edit_is_checked_when_nobody_remembers_the_message,
    test_an_encrypted_room_gets_one_sentence,
    test_commands_are_written_as_element_lets_them,
    test_edits_and_redactions_count_only_from_those_who_may,
    test_in_a_group_it_is_known_what_is_meant_for_the_bot,
    test_it_says_whose_token_it_is,
    test_nobody_is_alone_with_it_by_saying_so,
    test_nobody_is_called_and_nothing_loaded_by_an_answer,
    test_one_person_has_no_more_than_three_private_rooms,
    test_programs_are_known_as_such,
    test_questions_are_numbered_and_answered_by_a_reaction_or_a_reply,
    test_somebody_begins_a_private_chat_and_is_answered,
    test_what_is_answered_comes_with_the_message,
    test_what_is_long_only_as_html_goes_as_text,
    test_what_is_written_in_a_thread_is_answered_there,
    test_what_others_write_is_no_question_of_the_bot,
    test_what_was_written_before_the_bot_came_was_not_written_to_it,
)
from tests.real.synapse import Synapse
from tests.supervisor.launching import Launcher
from tests.support.matrix_api import BOT

pytestmark = [needs_bubblewrap, pytest.mark.long, pytest.mark.asyncio(loop_scope="module")]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def matrix(supervisor: Launcher, api: Synapse) -> AsyncIterator[Server]:
    """A connector at this home server."""
    async with server(supervisor, "matrix", Start(api.token, server=api.url)) as running:
        await running.connected()
        yield running


async def test_a_home_server_that_wants_to_be_left_alone_is(matrix: Server, api: Synapse, ann: str) -> None:
    room = await talking(matrix, api, ann)
    api.limit(BOT, 1, 1)
    try:
        for number in range(3):
            await matrix.send(f"patient {number}", f"Part {number}", private(room))
    finally:
        api.limit(BOT, 0, 0)
    assert api.texts(room) == ["Part 0", "Part 1", "Part 2"]
    assert "wants to be left alone" in matrix.log()


async def test_a_file_that_is_not_there_says_so(matrix: Server, api: Synapse, ann: str) -> None:
    room = await talking(matrix, api, ann)
    missing = api.write(room, ann, "a.bin", msgtype="m.file", url="mxc://home.test/nothing")
    elsewhere = api.write(room, ann, "a.bin", msgtype="m.file", url="mxc://elsewhere.test/nothing")
    assert "no longer has the file" in (await stored(matrix, missing)).files[0].problem
    assert "does not give" in (await stored(matrix, elsewhere)).files[0].problem
