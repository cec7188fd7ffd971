"""Names of modules."""

import json
import sys
from pathlib import Path

import pytest

from parachute.modules.registry import verified
from parachute.modules.registry.names import check_name, names_ok
from parachute.modules.registry.verified import official_hashes
from parachute.modules.trees.sources import official_folder
from tests.support.bad_names import BAD_NAMES
from tests.support.errors import raises


@pytest.mark.parametrize("name", ["brain", "daily", "chat", "telegram-bot", "my_notes", "a", "a" * 40])
def test_names_that_a_module_can_have(name: str) -> None:
    assert names_ok(name)


@pytest.mark.parametrize(
    "name",
    [
        *(*BAD_NAMES, "Brain", "1st", "a" * 41, "a.b"),
        *("json", "_thread", "this", "concurrent", "modules", "claude-code", "claude_code", "core", "parachute"),
    ],
)
def test_names_that_a_module_cannot_have(name: str) -> None:
    assert not names_ok(name)
    with raises("name_not_allowed", names=r"^name: "):
        check_name(name)


def test_no_part_of_python_can_be_hidden() -> None:
    assert not [name for name in sys.stdlib_module_names if names_ok(name)]


def test_the_list_of_verified_modules_is_that_of_the_official_ones() -> None:
    stored = json.loads(Path(verified.__file__).with_name("verified.json").read_text())
    assert stored == official_hashes(official_folder()), "run: python -m parachute.modules.registry.verified"
