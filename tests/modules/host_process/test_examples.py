"""The examples of the specification, each in its real process."""

import pytest

from tests.core import examples
from tests.modules.host_process.activator import hosted

pytestmark = pytest.mark.process

DAILY = """\
name: daily
version: 1.0.0
module: module.py
optional_requires: [BrainInterface]
permissions:
  read: [Daily/**, parachute/memory.md]
  write: [Daily/**]
  mcp: [daily-journal, daily-search]
hooks:
  - event: daily.entry.created
mcp_tools:
  - name: daily-journal
    description: Search the journal
"""

TELEGRAM = """\
name: telegram-bot
version: 0.1.0
module: module.py
optional_requires: [BrainInterface]
agents:
  responder:
    paths: [Brain/projects/client-x.md, ~/Work/client-x/]
    capabilities: [read]
  admin:
    paths: [Brain/**]
    capabilities: [read, write]
"""


def test_the_daily_example_of_the_specification() -> None:
    answers = {
        "/publish": {"id": "1"},
        "/query": [{"type": "text", "content": "Rainy."}],
        "/interfaces": {"interfaces": {"BrainInterface": {"suggest": ["text"], "link": ["source_id", "para_id"]}}},
        "/interface": lambda asked: {
            "result": [{"text": "Kevin", "confidence": 0.9, "para_id": "p1"}, {"text": "x", "confidence": 0.1}]
            if asked["method"] == "suggest"
            else None
        },
    }
    with hosted("daily", examples.daily(), manifest=DAILY, answers=answers) as daily:
        assert daily.get("/entries?limit=5").status == 204
        assert daily.post("/query", {"message": "Hello"}).events() == [{"type": "text", "content": "Rainy."}]
        event = {"id": "e", "name": "daily.entry.created", "data": {"entry_id": "1", "content": "Kevin x"}}
        assert daily.post("/_parachute/event", event).json() == {"handled": 1}
        called = [body for _, path, body in daily.core.asked if path == "/interface"]
        assert called[1] == {
            "interface": "BrainInterface",
            "method": "link",
            "arguments": {"source_id": "1", "para_id": "p1"},
        }
        assert len(called) == 2
        described = daily.get("/_parachute/describe").json()
        assert described["mcp_tools"][0]["name"] == "daily-journal"
        assert described["mcp_tools"][0]["input_schema"]["required"] == ["query"]
        assert described["events"] == ["daily.entry.created"]
        assert ("POST", "/query") in {(route["method"], route["path"]) for route in described["routes"]}


def test_the_telegram_example_of_the_specification() -> None:
    answers = {"/run-agent": lambda asked: {"text": asked["prompt"].upper()}}
    with hosted("telegram-bot", examples.text("telegram_bot"), manifest=TELEGRAM, answers=answers) as bot:
        answer = bot.post("/webhook", {"update_id": 1, "message": {"text": "Why?"}})
        assert answer.json() == {"reply": "ANSWER THIS QUESTION: WHY?"}
