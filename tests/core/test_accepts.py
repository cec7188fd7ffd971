"""The changes that a module accepts: what it declares, and what is refused before it is asked."""

from dataclasses import dataclass, field
from typing import Annotated, Any

import pytest

from parachute.core import InvalidInput, Module, ModuleError, NotAllowed
from parachute.core.testing import run


@dataclass(frozen=True)
class NewNote:
    text: Annotated[str, "One line"]
    tags: list[str] = field(default_factory=list)


class Notes(Module):
    """Module with its applied suggestions in `made`; a note that says no is refused when it is proposed."""

    name = "notes"
    version = "1.0.0"
    accepts = {"create": NewNote}

    def __init__(self) -> None:
        self.made: list[Any] = []

    def check_suggestion(self, action: str, target_id: str | None, payload: dict[str, Any]) -> None:
        if payload["text"] == "no":
            raise NotAllowed("Not that.")

    def apply_suggestion(
        self, action: str, target_id: str | None, payload: dict[str, Any], expected_version: str | int | None
    ) -> Any:
        self.made.append(payload)


async def test_what_it_accepts_is_described() -> None:
    async with run(Notes) as notes:
        text = {"type": "string", "description": "One line"}
        assert notes.application.describe()["accepts"] == {
            "create": {
                "type": "object",
                "properties": {"text": text, "tags": {"type": "array", "items": {"type": "string"}}},
                "additionalProperties": False,
                "required": ["text"],
            }
        }
        await notes.check("create", {"text": "yes"})
        await notes.apply("create", {"text": "yes"})
        assert notes.module.made == [{"text": "yes"}]


async def test_what_does_not_fit_never_reaches_the_module() -> None:
    async with run(Notes) as notes:
        for action, payload in (
            ("update", {"text": "x"}),
            ("create", {}),
            ("create", {"text": 3}),
            ("create", {"text": "x", "tags": "y"}),
            ("create", {"text": "x", "path": "../y"}),
        ):
            for way in (notes.check, notes.apply):
                with pytest.raises(InvalidInput):
                    await way(action, payload)
            with pytest.raises(NotAllowed):
                await notes.check("create", {"text": "no"})
            assert notes.module.made == [], (action, payload)


async def test_what_is_no_change_is_a_mistake() -> None:
    for accepts in ({"explode": NewNote}, {"create": dict}, {"create": NewNote("x")}):
        mistaken = type("Mistaken", (Notes,), {"accepts": accepts})
        with pytest.raises(ModuleError):
            async with run(mistaken):
                pass
