"""The official modules together, as a person sets them up and uses them from a terminal."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.hosts.household import Household


@pytest.fixture
def house() -> Iterator[Household]:
    with Household() as running:
        yield running


def said(house: Household, *arguments: str) -> str:
    """What a command prints that must end well."""
    done = house.command(*arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def value(house: Household, *arguments: str) -> Any:
    return json.loads(said(house, *arguments, "--json"))


def test_set_up_write_and_find(house: Household) -> None:
    assert "They answer at" in said(house, "setup", "--yes")
    (house.vault / "Brain/entities/people").mkdir(parents=True, exist_ok=True)
    (house.vault / "Brain/entities/people/kevin.md").write_text("# Kevin\nAdvisor of the garden.\n")
    identifier = (
        said(house, "daily", "add", "Tea with Kevin.", "--title", "Afternoon").removeprefix("Written: ").strip()
    )
    assert identifier.startswith("para:daily:")
    (today,) = value(house, "daily", "today")
    assert (today["id"], today["title"], today["content"]) == (identifier, "Afternoon", "Tea with Kevin.")
    assert "Afternoon\nTea with Kevin." in said(house, "daily", "today")
    (found,) = value(house, "daily", "search", "tea")
    assert found["id"] == identifier
    (person,) = value(house, "brain", "search", "advisor")
    assert said(house, "brain", "resolve", "kevin") == f"{person['para_id']}  Kevin\n"
    assert "Brain/entities/people/kevin.md" in said(house, "brain", "search", "kevin")
    unknown = house.command("brain", "resolve", "Ottilie")
    assert (unknown.returncode, "not sure" in unknown.stderr) == (1, True)
    agents = value(house, "agents", "list")["agents"]
    assert [(agent["module"], agent["name"], agent["status"]) for agent in agents] == [("daily", "reflection", "ready")]
    assert value(house, "events", "failed") == []
