"""Entities mentioned in entries, with a Brain that answers as a test wants."""

from typing import Any

from module import DailyModule

from parachute.core.interfaces import Context, Entity, EntityType, Mention
from parachute.core.testing import run

KEVIN = "para:brain:kevinkevin00"


class Brain:
    """Knows Kevin, and thinks that prompt engineering may be worth knowing."""

    def __init__(self) -> None:
        self.linked: list[tuple[str, str]] = []
        self.confidence: list[float] = []

    async def suggest(self, text: str) -> list[Mention]:
        news = next((line for line in text.splitlines() if "Kevin moved" in line), None)
        known = [
            Mention("Kevin", 0.95, KEVIN, "Kevin", "person", news),
            Mention("Kev", 0.6, "para:brain:unsureunsure", news=news),
        ]
        # As Brain is surer of a name that it sees on several lines.
        lines = sum("Walpurga" in line for line in text.splitlines())
        new = [
            Mention("prompt engineering", 0.4, None, None, "topic"),
            Mention("Nothing", 0.1),
            Mention("Walpurga", 0.3 if lines < 2 else 0.51, None, None, "person"),
        ]
        return [mention for mention in known + new if mention.text in text]

    async def link(self, source_id: str, para_id: str, confidence: float = 1.0) -> None:
        self.linked.append((source_id, para_id))
        self.confidence.append(confidence)

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


async def _written(daily: Any, content: str, date: str = "2025-03-04") -> str:
    answer = await daily.post("/entries", {"content": content, "date": date})
    identifier: str = answer.json()["id"]
    await daily.emit("daily.entry.created", entry_id=identifier, content=content)
    return identifier


async def test_what_is_sure_is_linked_and_what_is_new_is_proposed_once() -> None:
    brain = Brain()
    async with run(DailyModule, interfaces={"BrainInterface": brain}) as daily:
        entry = await _written(daily, "Met Kevin about prompt engineering. Nothing else.")
        assert brain.linked == [(entry, KEVIN)]
        assert brain.confidence == [0.95]
        assert (await daily.get(f"/entries/{entry}")).json()["mentions"] == [KEVIN]
        [proposed] = daily.suggestions
        assert (proposed["action"], proposed["target_module"]) == ("create", "brain")
        assert proposed["payload"] == {"type": "topic", "name": "prompt engineering", "source": entry}
        assert "2025-03-04" in proposed["reasoning"]
        # Not again, whatever the user said to it.
        await _written(daily, "More prompt engineering.")
        assert daily.suggestions == [proposed]


async def test_news_of_what_brain_knows_are_proposed_once_a_day() -> None:
    async with run(DailyModule, interfaces={"BrainInterface": Brain()}) as daily:
        today = daily.module.journal.today()
        await _written(daily, "Tea with Kevin.", today)
        assert daily.suggestions == []
        entry = await _written(daily, "Kevin moved to Berlin.\nRain.", today)
        [proposed] = daily.suggestions
        assert (proposed["action"], proposed["target_module"], proposed["target_id"]) == ("update", "brain", KEVIN)
        assert proposed["payload"] == {
            "append": f"- {today}: Kevin moved to Berlin.",
            "section": "Recent Activity",
            "source": entry,
        }
        assert proposed["reasoning"] == f"The journal says on {today}: “Kevin moved to Berlin.”"
        what = {"id": "suggestion-1", "type": "person", "name": "Kevin", "action": "update"}
        assert (await daily.post(f"/entries/{entry}/links")).json()["proposed"] == [what]
        # Not again for this day, whatever the user said to it; an old entry tells no news.
        await _written(daily, "Kevin moved back.", today)
        await _written(daily, "Kevin moved to Rome.", "2025-03-04")
        assert daily.suggestions == [proposed]


async def test_a_day_that_was_reflected_on_has_no_more_news() -> None:
    async with run(DailyModule, interfaces={"BrainInterface": Brain()}) as daily:
        today = daily.module.journal.today()
        assert (await daily.put(f"/reflections/{today}", {"content": "A day."})).status == 200
        await _written(daily, "Kevin moved to Berlin.", today)
        assert daily.suggestions == []


async def test_a_doubtful_name_is_proposed_after_several_days() -> None:
    async with run(DailyModule, interfaces={"BrainInterface": Brain()}) as daily:
        entry = await _written(daily, "Walpurga kam zu spät.\nWalpurga ging.", "2025-03-04")
        [early] = daily.suggestions
        assert early["payload"] == {"type": "person", "name": "Walpurga", "source": entry}
    async with run(DailyModule, interfaces={"BrainInterface": Brain()}) as daily:
        await _written(daily, "Walpurga kam zu spät.", "2025-03-04")
        await _written(daily, "Mit Walpurga gelacht.", "2025-03-04")
        assert daily.suggestions == []
        entry = await _written(daily, "Ohne Walpurga ist es still.", "2025-03-09")
        [proposed] = daily.suggestions
        assert proposed["payload"] == {"type": "person", "name": "Walpurga", "source": entry}
        assert proposed["reasoning"] == "The journal mentions it on 2025-03-04 and 2025-03-09."
        await _written(daily, "Walpurga!", "2025-03-10")
        assert daily.suggestions == [proposed]


async def test_nothing_is_proposed_that_the_settings_do_not_want() -> None:
    brain, text = {"BrainInterface": Brain()}, "Kevin moved to Berlin for prompt engineering."
    for off, action in (("propose_names", "update"), ("propose_updates", "create")):
        settings = {"propose_names": True, "propose_updates": True, off: False}
        async with run(DailyModule, interfaces=brain, settings=settings) as daily:
            await _written(daily, text, daily.module.journal.today())
            assert [each["action"] for each in daily.suggestions] == [action]


async def test_without_brain_an_entry_is_an_entry() -> None:
    async with run(DailyModule) as daily:
        entry = await _written(daily, "Met Kevin about prompt engineering.")
        assert (await daily.get(f"/entries/{entry}")).json()["mentions"] == []
        assert daily.suggestions == []


async def test_an_entry_says_what_it_is_about_and_what_was_proposed_for_it() -> None:
    async with run(DailyModule, interfaces={"BrainInterface": Brain()}) as daily:
        entry = await _written(daily, "Met Kevin about prompt engineering.")
        proposed = [{"id": "suggestion-1", "type": "topic", "name": "prompt engineering", "action": "create"}]
        links = (await daily.post(f"/entries/{entry}/links")).json()
        assert links == {"linked": [{"para_id": KEVIN, "name": "Kevin"}], "proposed": proposed}
        other = (await daily.post("/entries", {"content": "More prompt engineering."})).json()["id"]
        assert (await daily.post(f"/entries/{other}/links")).json() == {"linked": [], "proposed": []}
        assert (await daily.post("/entries/para:daily:gone00000000/links")).status == 404


async def test_an_entry_that_is_edited_by_hand_is_linked(tmp_path: Any) -> None:
    brain = Brain()
    async with run(DailyModule, folder=tmp_path, interfaces={"BrainInterface": brain}) as daily:
        daily.module.linker.quiet_seconds = 0
        entry = (await daily.post("/entries", {"content": "Met somebody.", "date": "2025-03-04"})).json()
        path = daily.vault / entry["path"]
        path.write_text(path.read_text().replace("somebody", "Kevin"))
        await daily.emit("vault.changed", paths=[entry["path"]])
        await daily.module.linker.settled()
        assert brain.linked == [(entry["id"], KEVIN)]
        assert (await daily.get(f"/entries/{entry['id']}")).json()["mentions"] == [KEVIN]


async def test_an_index_that_is_made_anew_links_nothing(tmp_path: Any) -> None:
    brain = Brain()
    file = "---\nentries: {}\n---\n\n# para:daily:a1b2c3d4e5f6 10:30\n\nKevin.\n"
    async with run(DailyModule, folder=tmp_path, interfaces={"BrainInterface": brain}) as daily:
        assert (await daily.get("/entries")).json()["entries"] == []
        vault = daily.vault
    (tmp_path / "data/words.db").unlink()
    (vault / "Daily/journals").mkdir(parents=True)
    (vault / "Daily/journals/2025-03-04.md").write_text(file)
    async with run(DailyModule, folder=tmp_path, interfaces={"BrainInterface": brain}) as daily:
        assert len((await daily.get("/entries")).json()["entries"]) == 1
        await daily.module.linker.settled()
        assert brain.linked == []


async def test_what_brain_comes_to_know_is_linked_with_earlier_entries() -> None:
    brain = Brain()
    async with run(DailyModule, interfaces={"BrainInterface": brain}) as daily:
        entry = (await daily.post("/entries", {"content": "Met Kevin about prompt engineering."})).json()["id"]
        await daily.post("/entries", {"content": "Nothing."})
        await daily.emit("brain.entity.created", para_id=KEVIN, names=["Kevin", "Kev"])
        assert brain.linked == [(entry, KEVIN)]
        assert daily.suggestions == []


async def test_a_conversation_that_an_entry_names_is_mentioned_also_without_brain() -> None:
    async with run(DailyModule) as daily:
        text = "Planned it in para:chat:m3n4o5p6q7r8, not para:chat:short or xpara:chat:m3n4o5p6q7r9."
        identifier = await _written(daily, f"{text}\nSee {KEVIN} and para:daily:a1b2c3d4e5f6.")
        entry = (await daily.get(f"/entries/{identifier}")).json()
        assert sorted(entry["mentions"]) == [KEVIN, "para:chat:m3n4o5p6q7r8"]
        await daily.emit("daily.entry.updated", entry_id=identifier, content=text)
        assert (await daily.get(f"/entries/{identifier}")).json()["mentions"] == entry["mentions"]
        many = " ".join(f"para:chat:{number:012d}" for number in range(200))
        identifier = await _written(daily, many)
        assert len((await daily.get(f"/entries/{identifier}")).json()["mentions"]) == 50
