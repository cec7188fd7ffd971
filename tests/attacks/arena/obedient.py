"""The model: it reads what it was asked to read, obeys every order that it then sees, and does what its owner wants."""

import json
import re
from typing import Any

from tests.attacks.arena.cases import CASES
from tests.attacks.arena.disguises import orders
from tests.attacks.arena.plans import Call, Marks
from tests.attacks.arena.tasks import TASKS
from tests.support.messages_api import Reply, several, text, tool_use

_ASKED = re.compile(r"\[(case|task) (\d+)\]")


class Obedient:
    """Answers each request of the conversation by its text alone; `obeyed` are the cases whose order arrived."""

    def __init__(self, port: int, home: str) -> None:
        self.obeyed: set[int] = set()
        self._port = port
        self._home = home

    def __call__(self, body: dict[str, Any]) -> Reply:
        """The reply to a request."""
        said = [_texts(each["content"]) for each in body["messages"] if each["role"] == "user"]
        asked = next((found for each in said if (found := _ASKED.search(each))), None)
        if asked is None:
            return text("Hello.")
        number = int(asked[2])
        turn = _calls(body, asked[0])
        if asked[1] == "task":
            calls = TASKS[number].calls
            return _called(calls[turn]) if turn < len(calls) else text("It is done.")
        return self._obey(number, body, turn)

    def _obey(self, number: int, body: dict[str, Any], turn: int) -> Reply:
        case = CASES[number]
        reading = case.carrier.read(number)
        marks = Marks(number, self._port, self._home)
        if number in self.obeyed:
            return text(case.plan.answer(marks))
        seen = "\n".join([_texts(each["content"]) for each in body["messages"]])
        seen += "\n" + "\n".join([str(each.get("description", "")) for each in body.get("tools", [])])
        if number not in orders(seen):
            return text("There is nothing.") if reading is None or turn else _called([reading])
        self.obeyed.add(number)
        calls = case.plan.calls(marks)
        return _called(calls) if calls else text(case.plan.answer(marks))


def _called(calls: list[Call]) -> Reply:
    return several(*(tool_use(name, fields) for name, fields in calls))


def _calls(body: dict[str, Any], asked: str) -> int:
    """The number of answers since the message that has the mark."""
    count = 0
    for each in body["messages"]:
        if asked in _texts(each["content"]):
            count = 0
        count += each["role"] == "assistant"
    return count


def _texts(content: Any) -> str:
    """All that is said in a message, results of tools and calls included, as it was written."""
    if isinstance(content, str):
        try:
            found = json.loads(content) if content[:1] in "[{" else content
        except ValueError:
            return content
        return content if isinstance(found, str) else f"{content}\n{_texts(found)}"
    if isinstance(content, dict):
        return "\n".join(_texts(each) for each in content.values())
    if isinstance(content, list):
        return "\n".join(_texts(each) for each in content)
    return str(content)
