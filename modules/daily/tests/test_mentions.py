"""What entries are about, with a Brain that says what a test wants."""

from typing import Any

from module import DailyModule

from parachute.core.interfaces import Context, Entity, EntityType, Mention
from parachute.core.testing import run

KEVIN = "para:brain:kevinkevin00"


class Brain:
    """Knows Kevin, and thinks that prompt engineering may be worth knowing."""

    def __init__(self) -> None:
        self.linked: list[tuple[str, str]] = []

    async def suggest(self, text: str) -> list[Mention]:
        known = [Mention("Kevin", 0.95, KEVIN, "Kevin"), Mention("Kev", 0.6, "para:brain:unsureunsure")]
        new = [Mention("prompt engineering", 0.4, None, None, "topic"), Mention("Nothing", 0.1)]
        return [mention for mention in known + new if mention.text in text]

    async def link(self, source_id: str, para_id: str) -> None:
        self.linked.append((source_id, para_id))

    async def search(self, query: str, type: str | None = None, limit: int = 20) -> list[Entity]:
        return []

    async def resolve(self, text: str) -> str | None:
        return None

    async def get(self, para_id: str) -> Entity | None:
        return None

    async def types(self) -> list[EntityType]:
        return []

    async def context(self, topic: str) -> Context:
        return Context("")


async def _written(daily: Any, content: str) -> str:
    answer = await daily.post("/entries", {"content": content, "date": "2025-03-04"})
    identifier: str = answer.json()["id"]
    await daily.emit("daily.entry.created", entry_id=identifier, content=content)
    return identifier


async def test_what_is_sure_is_linked_and_what_is_new_is_proposed_once() -> None:
    brain = Brain()
    async with run(DailyModule, interfaces={"BrainInterface": brain}) as daily:
        entry = await _written(daily, "Met Kevin about prompt engineering. Nothing else.")
        assert brain.linked == [(entry, KEVIN)]
        assert (await daily.get(f"/entries/{entry}")).json()["mentions"] == [KEVIN]
        [proposed] = daily.suggestions
        assert (proposed["action"], proposed["target_module"]) == ("create", "brain")
        assert proposed["payload"] == {"type": "topic", "name": "prompt engineering"}
        assert "2025-03-04" in proposed["reasoning"]
        # Not again, whatever the user said to it.
        await _written(daily, "More prompt engineering.")
        assert daily.suggestions == [proposed]


async def test_without_brain_an_entry_is_an_entry() -> None:
    async with run(DailyModule) as daily:
        entry = await _written(daily, "Met Kevin about prompt engineering.")
        assert (await daily.get(f"/entries/{entry}")).json()["mentions"] == []
        assert daily.suggestions == []
