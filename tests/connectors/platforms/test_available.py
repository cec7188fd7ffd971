"""The messengers are the folders of `connectors/platforms`, and nobody else has a list of them but the sessions."""

from parachute.chat.sessions.models import BOT_SOURCES
from parachute.connectors.platforms.available import label, names, platform


def test_each_folder_is_a_messenger_and_sessions_know_all_of_them() -> None:
    assert names() == BOT_SOURCES
    assert [label(name) for name in names()] == ["Discord", "Matrix", "Telegram"]
    assert {platform(name).sign for name in names()} == {"/", "!"}
