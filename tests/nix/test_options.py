"""Every option says what it is for."""

from typing import Any

import pytest

from tests.nix import page
from tests.nix.evaluation import TREE, options


@pytest.fixture(scope="module")
def found() -> list[dict[str, Any]]:
    return options()


def test_every_option_has_type_description_and_example(found: list[dict[str, Any]]) -> None:
    assert len(found) > 50
    assert [each["name"] for each in found if not each["type"]] == []
    assert [each["name"] for each in found if not (each["description"] or "").strip().endswith(".")] == []
    assert [each["name"] for each in found if each["example"] is None] == []


def test_the_page_tells_every_option(found: list[dict[str, Any]]) -> None:
    assert "<!-- nixos-options -->" in (TREE / "docs" / "nixos.md").read_text()
    assert len(page.table(found).splitlines()) == len(found) + 2


def test_the_full_example_sets_every_option(found: list[dict[str, Any]]) -> None:
    """Options that no example sets are never evaluated."""
    text = (TREE / "nixos" / "examples" / "full.nix").read_text()
    last = {each["name"].rpartition(".")[2].strip("<>") for each in found}
    elsewhere = {"acceptUnfreeAgent", "agentProgram", "package", "name", "skills", "agents", "plugins"}
    assert [name for name in sorted(last - elsewhere) if name not in text] == []
