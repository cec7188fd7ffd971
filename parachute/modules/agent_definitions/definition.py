"""Reading an agent file: frontmatter that says when, what with and where to, and a prompt."""

import re
import sys
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from parachute.base.documents import Bounds
from parachute.base.errors import InvalidInput
from parachute.core import front_matter
from parachute.core.agents import CAPABILITIES, capability
from parachute.core.decorators import TOOL_NAME
from parachute.core.patterns import Pattern, parts_of
from parachute.events.scheduler.grammar import EXAMPLES, Timetable, read_schedule
from parachute.events.scheduler.times import TimeOfDay
from parachute.modules.agent_definitions.models import DATE, Definition
from parachute.modules.manifest.models import NAME as MODULE_NAME

FILE_LIMIT = 64 * 1024
"""Bytes of an agent file."""

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
"""Pattern of an agent's name; its file is the name with `.md`."""

BOUNDS = Bounds()
_SCHEDULE = re.compile(r"^schedule[ \t]*:", re.MULTILINE)
_MODEL = re.compile(r"[A-Za-z0-9._:/@\[\]-]{1,100}")
_KNOWN = {name.lower() for name in CAPABILITIES}
_TOOLS = ("Read", "Glob", "Grep")
_TEXT = 1_000
_MINUTES = 24 * 60


def has_schedule(text: str) -> bool:
    """True if a file is meant to be a scheduled agent, even if its schedule cannot be read."""
    front = front_matter.split(text).front
    try:
        fields, _ = front_matter.read(text, BOUNDS)
    except InvalidInput:
        fields = None
    if fields is not None:
        return "schedule" in fields
    return text.startswith("---") and bool(_SCHEDULE.search(text if front is None else front))


def read_definition(name: str, folder: str, content: str) -> Definition:
    """Read an agent file; `folder` is the module's in the vault, where the output goes. Error: InvalidInput."""
    fields, body = front_matter.read(content, BOUNDS)
    if fields is None:
        raise InvalidInput("The file does not begin with lines of `field: value` between two ---.", key="no_fields")
    if "name" in fields and fields["name"] != name:
        raise InvalidInput(f"name: expected {name}, as the file is called.", key="other_name")
    is_enabled, at, is_day_before, most_a_month = _schedule(fields.get("schedule"))
    capabilities, mcp_tools = _tools(fields)
    prompt = body.strip()
    if not prompt:
        raise InvalidInput("Below the second --- there is no text that says what the agent shall do.", key="no_text")
    model = _text(fields, "model") or None
    if model is not None and not _MODEL.fullmatch(model):
        raise InvalidInput(f"model: {model[:60]!r} cannot be the name of a model.", key="invalid_model")
    return Definition(
        display_name=_text(fields, "displayName") or name.replace("-", " ").replace("_", " ").title(),
        description=_text(fields, "description"),
        is_enabled=is_enabled,
        at=at,
        is_day_before=is_day_before,
        output=_output(fields.get("output"), f"{folder}/{name}/{DATE}.md"),
        capabilities=capabilities,
        mcp_tools=mcp_tools,
        model=model,
        prompt=prompt,
        can_suggest=_can_suggest(fields.get("can_suggest")),
        needs=_needs(_text(fields, "needs")),
        most_a_month=most_a_month,
    )


def _schedule(value: Any) -> tuple[bool, Timetable, bool, float | None]:
    if value is None:
        return False, TimeOfDay(3, 0), False, None
    if not isinstance(value, Mapping):
        return True, _time(value, "schedule"), False, None
    for field in value:
        if field not in ("enabled", "time", "day", "most_a_month"):
            raise InvalidInput(
                f"schedule.{str(field)[:40]}: only enabled, time, day and most_a_month are known.",
                key="schedule_field_unknown",
            )
    is_enabled = value.get("enabled", True)
    if not isinstance(is_enabled, bool):
        raise InvalidInput("schedule.enabled: expected true or false.", key="enabled_invalid")
    day = value.get("day", "same")
    if day not in ("same", "before"):
        raise InvalidInput("schedule.day: expected same or before.", key="day_invalid")
    return is_enabled, _time(value.get("time"), "schedule.time"), day == "before", _dollars(value.get("most_a_month"))


def _dollars(most: Any) -> float | None:
    if most is None:
        return None
    # A whole number of YAML may be too large to be counted with.
    is_number = isinstance(most, int | float) and not isinstance(most, bool)
    if not is_number or not 0 <= most <= sys.float_info.max:
        raise InvalidInput("schedule.most_a_month: expected US dollars, such as 2.50.", key="most_a_month_invalid")
    return float(most)


def _time(time: Any, field: str) -> Timetable:
    if isinstance(time, int) and not isinstance(time, bool) and 0 <= time < _MINUTES:
        # YAML takes 21:30 without quotes for a number of base 60.
        time = f"{time // 60:02}:{time % 60:02}"
    if not isinstance(time, str):
        raise InvalidInput(f"{field}: expected {EXAMPLES}.", key="time_invalid")
    return read_schedule(time, field)


def _tools(fields: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    given = [field for field in ("tools", "capabilities") if fields.get(field) is not None]
    if not given:
        return _TOOLS, ()
    names: list[str] = []
    for field in given:
        value = fields[field]
        if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
            raise InvalidInput(f"{field}: expected a list of names, such as [Read, Glob].", key="tools_invalid")
        names += value
    own = tuple(dict.fromkeys(capability(name) for name in names if name.lower() in _KNOWN))
    others = tuple(dict.fromkeys(name for name in names if name.lower() not in _KNOWN))
    for name in others:
        if not TOOL_NAME.fullmatch(name):
            raise InvalidInput(f"{given[0]}: {name[:60]!r} is no name of a tool.", key="tool_name_invalid")
    return own, others


def _can_suggest(value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(name, str) and MODULE_NAME.fullmatch(name) for name in value):
        raise InvalidInput("can_suggest: expected a list of modules, such as [brain].", key="modules_invalid")
    return tuple(sorted(set(value)))


def _needs(pattern: str) -> str:
    if not pattern:
        return ""
    Pattern.parse(pattern, "needs")
    if DATE not in pattern:
        raise InvalidInput(
            f"needs: {pattern[:80]!r} must contain {DATE}, since each run is about one day.", key="needs_without_date"
        )
    return pattern


def _output(value: Any, default: str) -> str:
    if isinstance(value, Mapping):
        for field in value:
            if field != "path":
                raise InvalidInput(f"output.{field[:40]}: only path is known.", key="output_field_unknown")
        value = value.get("path")
    path = _text({"output": value}, "output") or default
    parts = parts_of(path, "output")
    if not parts or PurePosixPath(path).suffix != ".md" or any(part.startswith(".") for part in parts):
        raise InvalidInput(
            f"output: {path[:80]!r} must be a file within the vault that is not hidden and ends with .md.",
            key="output_invalid",
        )
    if DATE not in path:
        raise InvalidInput(
            f"output: {path[:80]!r} must contain {DATE}, so that each day has a file of its own.",
            key="output_without_date",
        )
    return "/".join(parts)


def _text(fields: Mapping[str, Any], field: str) -> str:
    value = fields.get(field)
    if value is None:
        return ""
    if not isinstance(value, str) or len(value) > _TEXT:
        raise InvalidInput(f"{field}: expected text of up to {_TEXT:,} characters.", key="text_invalid")
    return " ".join(value.split())
