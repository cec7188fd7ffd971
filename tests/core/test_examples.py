"""The examples of the specification run as they are written."""

import pytest
from syrupy.assertion import SnapshotAssertion

from parachute.core import AgentConfig, Module
from parachute.core.interfaces import Mention
from parachute.core.testing import run
from tests.core import examples
from tests.support.errors import raises


class Brain:
    """A stand-in for the module that knows people and projects."""

    def __init__(self) -> None:
        self.linked: list[tuple[str, str]] = []

    async def suggest(self, text: str) -> list[Mention]:
        return [Mention(word, 0.9 if word == "Kevin" else 0.5, f"para:brain:{word.lower()}") for word in text.split()]

    async def link(self, source_id: str, para_id: str, confidence: float = 1.0) -> None:
        self.linked.append((source_id, para_id))

    async def search(self, query: str, type: str | None = None, limit: int = 20) -> list[object]:
        return [{"para_id": "para:brain:1", "name": query, "new_field": 1}]


async def test_daily_reacts_to_an_entry_with_brain_and_without() -> None:
    module = examples.run(examples.daily())["DailyModule"]
    module.optional_requires = ["BrainInterface"]
    brain = Brain()
    async with run(module, interfaces={"BrainInterface": brain}) as daily:
        assert await daily.emit("daily.entry.created", entry_id="e1", content="Kevin called") == 1
        assert daily.published == [("daily.reflection.completed", {"entry_id": "e1"})]
    assert brain.linked == [("e1", "para:brain:kevin")]
    async with run(module) as daily:
        assert await daily.emit("daily.entry.created", entry_id="e2", content="Kevin", added_later=1) == 1
        assert daily.published == [("daily.reflection.completed", {"entry_id": "e2"})]


async def test_daily_answers_and_streams() -> None:
    module = examples.run(examples.daily())["DailyModule"]
    events = [{"type": "text", "content": "Rainy."}, {"type": "done"}]
    async with run(module, query=events) as daily:
        assert (await daily.get("/entries", limit=5)).status == 204
        answer = await daily.get("/entries", limit="many")
        assert (answer.status, answer.json()["detail"]) == (422, "limit: expected a whole number, not 'many'.")
        streamed = await daily.post("/query", {"message": "How was my week?"})
        assert streamed.headers["content-type"].startswith("text/event-stream")
        assert streamed.events() == events
        assert daily.fake.queries == [
            {
                "message": "How was my week?",
                "session_id": None,
                "mcp_servers": ["daily-journal", "daily-search"],
                "agent": None,
            }
        ]
        assert await daily.tool("daily-journal", query="rain") == ""
        assert daily.core.mcp == ("daily-journal", "daily-search")


async def test_the_telegram_bot_runs_its_agent() -> None:
    module = examples.run(examples.text("telegram_bot"))["TelegramBotModule"]
    async with run(module, agents={"responder": lambda prompt: prompt.upper()}) as bot:
        answer = await bot.post("/webhook", {"update_id": 1, "message": {"text": "Why?"}})
        assert answer.json() == {"reply": "ANSWER THIS QUESTION: WHY?"}
        assert (await bot.post("/webhook", {"text": "Why?"})).json()[
            "detail"
        ] == "message: this is required (an object)."


async def test_the_imported_brain_is_whoever_provides_it() -> None:
    names = examples.run(examples.text("telegram_bot"))

    class Asking(Module):
        name = "asking"

        async def on_start(self) -> None:
            self.found = await names["brain"].search("Kevin", limit=1)

    async with run(Asking, interfaces={"BrainInterface": Brain()}) as asking:
        assert [entity.name for entity in asking.module.found] == ["Kevin"]
    Asking.optional_requires = ["BrainInterface"]
    with raises("no_provider"):
        async with run(Asking):
            pass
    with raises("outside_of_a_module"):
        await names["brain"].search("Kevin")


def test_agents_in_the_short_spelling() -> None:
    agents = examples.run(examples.text("sandboxes"))["TelegramBotModule"].agents
    responder, admin = AgentConfig.of(agents["responder"]), AgentConfig.of(agents["admin"])
    assert responder.sandbox is not None
    assert responder.sandbox.allowed_paths == ("Brain/projects/client-x.md", "~/Work/client-x/")
    assert (responder.sandbox.workspace_access, responder.sandbox.network, responder.bash) == ("ro", "none", False)
    assert responder.capabilities == ("Read",)
    assert admin.sandbox is not None
    assert (admin.sandbox.workspace_access, admin.sandbox.network) == ("rw", ("api.telegram.org",))
    assert (admin.bash, admin.capabilities) == (("git", "npm"), ("Read", "Write"))


def test_agents_in_the_long_spelling() -> None:
    agents = examples.run(examples.text("chat"))["ChatModule"].agents
    assert agents["default"].sandbox.network == "bridge"
    assert agents["default"].allowed_interfaces == ("BrainInterface", "JournalInterface")
    assert agents["workspace"].sandbox.allowed_paths == ("${CWD}",)
    assert agents["workspace"].bash is True
    assert agents["trusted"].sandbox is None
    skills = examples.run(examples.text("skills"))["agents"]
    assert (skills["workspace"].allow_user_skills, skills["restricted"].allow_user_skills) == (True, False)
    maintenance = examples.run(examples.text("maintenance"))["agents"]["maintenance"]
    assert (maintenance.sandbox.memory, maintenance.requires_explicit_invocation) == ("1g", True)


@pytest.mark.parametrize(
    ("fields", "key"),
    [
        ({"paths": ["../home"]}, "path_goes_up"),
        ({"paths": ["~/.ssh/"]}, "agent_path_invalid"),
        ({"paths": ["/etc"]}, "path_not_in_vault"),
        ({"paths": "Brain/"}, "texts_expected"),
        ({"capabilities": ["Reed"]}, "capability_unknown"),
        ({"bash": ["rm -rf /"]}, "command_invalid"),
        ({"network": ["localhost"]}, "host_invalid"),
        ({"network": ["*.com"]}, "host_invalid"),
        ({"network": "host"}, "network_invalid"),
        ({"sandbox": None}, "approval_missing"),
        ({"privileged": True}, "agent_field_unknown"),
    ],
)
def test_an_agent_that_cannot_be_is_refused(fields: dict[str, object], key: str, snapshot: SnapshotAssertion) -> None:
    with raises(key) as refused:
        AgentConfig.of(fields)
    assert refused.value == snapshot
