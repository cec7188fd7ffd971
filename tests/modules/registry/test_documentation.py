"""The page about installing modules says what the command line does."""

import sys
from pathlib import Path

from parachute.cli.modules import STATES, UNIT_STATES
from parachute.modules.registry.models import State, Trust
from parachute.supervisor.models import State as UnitState

DOCS = Path(__file__).parents[3] / "docs"
sys.path.insert(0, str(DOCS))
import tables  # noqa: E402

PAGE = (DOCS / "installing-modules.md").read_text()
USAGES = {usage.split()[0]: usage for usage, _ in tables.module_commands()}


def test_every_command_has_a_description() -> None:
    assert {"install", "approve", "settings", "set", "unset", "remove"} <= set(USAGES)
    assert [usage for usage, meaning in tables.module_commands() if not meaning.endswith(".")] == []
    assert USAGES["set"] == "set NAME SETTING [VALUE]"


def test_every_state_and_every_trust_has_its_word() -> None:
    assert set(STATES) == set(State)
    assert set(UNIT_STATES) == set(UnitState)
    assert [trust for trust in Trust if f"`{trust}`" not in PAGE] == []
