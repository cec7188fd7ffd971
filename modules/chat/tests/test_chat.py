"""The module in memory, with a Brain and a journal that say what a test wants."""

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

from parachute.core import NotFound, Unavailable
from parachute.core.interfaces import Context, Entity, JournalEntry, Mention
from parachute.core.testing import run

FOLDER = Path(__file__).resolve().parents[1]
KEVIN, LVB = "para:brain:kevinkevin00", "para:brain:lvblvblvb000"
TALK = [("user", "I met Kevin."), ("assistant", "Good."), ("user", "He moved to Berlin."), ("assistant", "Noted.")]
SETTINGS = {"knowledge": True, "propose_updates": True}


@pytest.fixture
def chat(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The class of the module; its files have plain names, which other modules use as well."""
    names = ("module", "changes", "knowledge", "updates")
    for name in names:
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.syspath_prepend(str(FOLDER))
    found = importlib.import_module("module").ChatModule
    yield found
    for name in names:
        sys.modules.pop(name, None)


class Brain:
    """Knows Kevin and a project; `texts` is what it says of each."""

    def __init__(self) -> None:
        self.texts = {KEVIN: "# Kevin\nAdvisor.", LVB: "# Learn Vibe Build\nA curriculum."}

    async def search(self, query: str, type: str | None = None, limit: int = 20) -> list[Entity]:
        return []

    async def resolve(self, text: str) -> str | None:
        return None

    async def get(self, para_id: str) -> Entity | None:
        return Entity(para_id, para_id[-12:], "person", content=self.texts[para_id])

    async def link(self, source_id: str, para_id: str, confidence: float = 1.0) -> None:
        return None

    async def suggest(self, text: str) -> list[Mention]:
        known = {"Kevin": (KEVIN, 0.95), "LVB": (LVB, 0.9), "Kev": (KEVIN, 0.5)}
        return [Mention(word, sure, para_id, word) for word, (para_id, sure) in known.items() if word in text]

    async def types(self) -> list[Any]:
        return []

    async def context(self, topic: str) -> Context:
        return Context(self.texts[topic], [Entity(topic, topic[-12:], path=f"Brain/{topic[-12:]}.md")])


class BrokenBrain(Brain):
    async def suggest(self, text: str) -> list[Mention]:
        raise Unavailable("It is down.")


class Journal:
    """Has one entry for each day of January, about Kevin."""

    async def get_recent_entries(self, limit: int = 10) -> list[JournalEntry]:
        return []

    async def search(self, query: str, date_from: str | None = None, limit: int = 20) -> list[JournalEntry]:
        entries = [JournalEntry(f"e{day}", f"2026-01-{day:02}", f"Met Kevin. {'x' * 900}") for day in range(1, 32)]
        return entries[:limit] if query == "Kevin" else []

    async def get(self, entry_id: str) -> JournalEntry | None:
        return None

    async def entries_of(self, date: str) -> list[JournalEntry]:
        return []

    async def create(self, content: str, title: str = "", date: str | None = None) -> JournalEntry:
        raise NotFound("not here")


async def test_what_is_known_of_a_message_comes_from_brain_and_the_journal(chat: Any) -> None:
    others = {"BrainInterface": Brain(), "JournalInterface": Journal()}
    async with run(chat, settings=dict(SETTINGS), interfaces=others) as module:
        known = await module.interface(
            "ContextInterface", "context_for", message="Kevin and LVB", session_id="s", budget=4000
        )
        assert "# Kevin\nAdvisor." in known["text"]
        assert "A curriculum." in known["text"]
        assert "2026-01-03: Met Kevin." in known["text"]
        assert len(known["text"]) <= 4000
        paths = [entity["path"] for entity in known["entities"] if entity["path"]]
        assert paths == ["Brain/kevinkevin00.md", "Brain/lvblvblvb000.md"]
        nothing = await module.interface(
            "ContextInterface", "context_for", message="Hello", session_id="s", budget=4000
        )
        assert nothing == {"text": "", "entities": [], "instructions": []}


async def test_an_entry_about_two_subjects_is_told_once(chat: Any) -> None:
    (entry,) = await Journal().search("Kevin", limit=1)
    brain = Brain()
    for subject in brain.texts:
        brain.texts[subject] += f"\n\n### Journal entries\n\n{entry.date}\n{entry.content[:600]} …"
    others = {"BrainInterface": brain, "JournalInterface": Journal()}
    async with run(chat, settings=dict(SETTINGS), interfaces=others) as module:
        known = await module.interface(
            "ContextInterface", "context_for", message="Kevin and LVB", session_id="s", budget=9000
        )
        assert known["text"].count(entry.content[:600]) == 1
        assert "See above." in known["text"]


@pytest.mark.parametrize("others", [{}, {"JournalInterface": Journal()}, {"BrainInterface": BrokenBrain()}])
async def test_without_brain_nothing_is_known_and_nothing_fails(chat: Any, others: dict[str, Any]) -> None:
    async with run(chat, settings=dict(SETTINGS), interfaces=others) as module:
        known = await module.interface("ContextInterface", "context_for", message="Kevin", session_id="s", budget=4000)
        assert known["text"] == ""
        assert await module.tool("chat-context", topic="Kevin") == "Nothing is known about Kevin."


async def test_without_the_journal_brain_is_enough(chat: Any) -> None:
    async with run(chat, settings=dict(SETTINGS), interfaces={"BrainInterface": Brain()}) as module:
        assert await module.tool("chat-context", topic="Kevin") == "# Kevin\nAdvisor."


@pytest.mark.parametrize("budget", [0, 1, 100, 250, 1000])
async def test_a_budget_holds(chat: Any, budget: int) -> None:
    brain = Brain()
    brain.texts = {KEVIN: "k" * 50_000, LVB: "l" * 50_000}
    others = {"BrainInterface": brain, "JournalInterface": Journal()}
    async with run(chat, settings=dict(SETTINGS), interfaces=others) as module:
        asked = {"message": "Kevin, LVB", "session_id": "s", "budget": budget}
        assert len((await module.interface("ContextInterface", "context_for", **asked))["text"]) <= budget


async def test_the_user_may_not_want_it(chat: Any) -> None:
    async with run(chat, settings={**SETTINGS, "knowledge": False}, interfaces={"BrainInterface": Brain()}) as module:
        known = await module.interface("ContextInterface", "context_for", message="Kevin", session_id="s", budget=4000)
        assert known["text"] == ""


async def test_after_a_conversation_an_agent_proposes_once(chat: Any) -> None:
    prompts: list[str] = []

    def answer(prompt: str) -> str:
        prompts.append(prompt)
        return "Done."

    options = {"interfaces": {"BrainInterface": Brain()}, "conversations": {"s1": TALK}, "agents": {"updater": answer}}
    async with run(chat, settings=dict(SETTINGS), **options) as module:
        for _ in range(2):
            await module.emit("session.end", session_id="s1", message_count=4)
        [prompt] = prompts
        assert "He moved to Berlin." in prompt
        assert KEVIN in prompt
        assert "# Kevin" in prompt
        await module.emit("session.end", session_id="s1", message_count=6)
        assert len(prompts) == 2


async def test_what_brain_does_not_know_may_be_proposed(chat: Any) -> None:
    prompts: list[str] = []

    def answer(prompt: str) -> str:
        prompts.append(prompt)
        return "Done."

    talk = [("user", "Ann is my new dentist."), ("assistant", "Good to know.")] * 2
    options = {"interfaces": {"BrainInterface": Brain()}, "conversations": {"s1": talk}, "agents": {"updater": answer}}
    async with run(chat, settings=dict(SETTINGS), **options) as module:
        await module.emit("session.end", session_id="s1", message_count=4)
    (prompt,) = prompts
    assert "Nothing of this." in prompt
    assert "Ann is my new dentist." in prompt


async def test_without_brain_nothing_is_proposed(chat: Any) -> None:
    async with run(chat, settings=dict(SETTINGS), conversations={"s1": TALK}) as module:
        await module.emit("session.end", session_id="s1", message_count=4)


@pytest.mark.parametrize(
    ("count", "talk", "settings"),
    [
        (2, TALK[:2], SETTINGS),
        (4, TALK, {**SETTINGS, "propose_updates": False}),
    ],
)
async def test_nothing_is_proposed_without_a_reason(
    chat: Any, count: int, talk: list[tuple[str, str]], settings: dict[str, Any]
) -> None:
    # An agent that is asked all the same is an error: the test gives no answer for it.
    options = {"interfaces": {"BrainInterface": Brain()}, "conversations": {"s1": talk}}
    async with run(chat, settings=dict(settings), **options) as module:
        await module.emit("session.end", session_id="s1", message_count=count)


async def test_others_reach_conversations(chat: Any) -> None:
    async with run(chat, settings=dict(SETTINGS), conversations={"s1": TALK}) as module:
        found = await module.interface("ConversationInterface", "get_sessions", topic=None, limit=5)
        assert [each["id"] for each in found] == ["s1"]
        messages = await module.interface("ConversationInterface", "get_messages", session_id="s1", limit=2)
        assert [each["content"] for each in messages] == ["He moved to Berlin.", "Noted."]
        sent = await module.interface("ConversationInterface", "send_message", session_id="s1", content="Hi", source="")
        assert sent["content"] == "Noted."
        with pytest.raises(NotFound):
            await module.interface("ConversationInterface", "get_messages", session_id="no", limit=2)


async def test_others_are_told_of_conversations(chat: Any) -> None:
    async with run(chat, settings=dict(SETTINGS)) as module:
        await module.emit("session.start", session_id="s1", module="chat", working_directory=None)
        await module.emit("session.message", session_id="s1", message_count=2)
        created, message = ("chat.session.created", {"session_id": "s1"}), {"session_id": "s1", "message_count": 2}
        assert module.published == [created, ("chat.session.message", message)]
