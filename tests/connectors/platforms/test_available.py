"""The messengers are the folders of `connectors/platforms`, and nobody else has a list of them."""

import pkgutil

from parachute.connectors import platforms
from parachute.connectors.platforms.available import label, names, platform


def test_each_folder_is_a_messenger() -> None:
    assert set(names()) == {each.name for each in pkgutil.iter_modules(platforms.__path__) if each.ispkg}
    assert [label(name) for name in names()] == ["Discord", "Matrix", "Telegram"]
    assert {platform(name).sign for name in names()} == {"/", "!"}
