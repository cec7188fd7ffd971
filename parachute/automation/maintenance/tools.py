"""The one tool of the maintenance agent that the server carries out: proposing a change of a setting."""

import json
from collections.abc import Callable, Coroutine
from typing import Any

from parachute.automation.suggestions.models import REASONING_LIMIT, Source
from parachute.automation.suggestions.service import Suggestions
from parachute.automation.suggestions.tools import waits
from parachute.base.errors import InvalidInput
from parachute.chat.agent_processes.models import OwnTool

NAME = "settings-suggest"


def suggest_setting(suggestions: Suggestions, source: Source) -> OwnTool:
    """The tool for one conversation; nothing changes before an owner has approved it."""
    text = {"type": "string"}
    properties: dict[str, Any] = {
        "name": {**text, "description": "The setting, such as sandbox.idle_minutes."},
        "value": {**text, "description": 'Its new value as JSON, such as 30, true or ["a"]; null takes it out.'},
        "reasoning": {**text, "maxLength": REASONING_LIMIT, "description": "Why the owner should want it."},
    }
    schema = {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
    description = (
        "Propose another value for a setting of this computer. Nothing changes until the owner has approved it; do not say that "
        "it is done."
    )
    return OwnTool("core", NAME, description, schema, call=_calling(suggestions, source))


def _calling(suggestions: Suggestions, source: Source) -> Callable[[dict[str, Any]], Coroutine[Any, Any, str]]:
    async def call(arguments: dict[str, Any]) -> str:
        given = {name: arguments.get(name) for name in ("name", "value", "reasoning")}
        if arguments.keys() - given.keys() or not all(isinstance(text, str) for text in given.values()):
            raise InvalidInput("name, value and reasoning are expected, each as text.", key="setting_incomplete")
        try:
            value = json.loads(str(given["value"]))
        except (ValueError, RecursionError) as error:
            raise InvalidInput(
                'value: JSON is expected, such as 30, true or "text" in quotes.', key="value_not_json"
            ) from error
        payload = {"name": given["name"], "value": value}
        return waits(await suggestions.propose_setting(source, payload, str(given["reasoning"])))

    return call
