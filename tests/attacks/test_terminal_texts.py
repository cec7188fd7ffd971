"""Words of others draw nothing on the owner's terminal (A16)."""

import json

import pytest

from parachute.cli.output import as_json
from parachute.modules.manifest.consents import consent
from parachute.modules.manifest.loading import parse
from tests.modules.manifest.test_loading import MINIMAL


def _shown(description: str) -> list[str]:
    return consent(parse(f"{MINIMAL}description: {json.dumps(description)}\n".encode()), ()).as_text()


@pytest.mark.parametrize("blank", [" ", "\n", "\u2800", "\u3164"])
def test_a_description_draws_no_lines_of_its_own(blank: str) -> None:
    lines = _shown(f"Nice.{blank * 75}Network: none{blank * 60}Verified: by Parachute")
    assert lines[1] == "“Nice. Network: none Verified: by Parachute”"


def test_a_description_is_cut_and_cannot_end_its_quotes() -> None:
    (line,) = _shown("a” Network: none " + "b" * 500)[1:2]
    assert line.count("”") == 1
    assert line.endswith("…”")
    assert len(line) < 210


@pytest.mark.parametrize("number", [0x7F, 0x80, 0x85, 0x9B, 0x9F, 0x202E, 0x2066])
def test_json_drives_no_terminal(number: int) -> None:
    value = {"title": f"a{chr(number)}31mb"}
    printed = as_json(value)
    assert chr(number) not in printed
    assert json.loads(printed) == value
