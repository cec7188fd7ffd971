"""Settings of the running computer: listed with what they may be, and written to `config.yaml` with the checks of the command line."""

import asyncio
import json
from functools import lru_cache
from typing import Any

from parachute.base.errors import InvalidInput
from parachute.base.redaction import REMOVED, redacted
from parachute.config.settings.expectations import Kind, expected, field_of, holds_groups, kind_of, takes_nothing
from parachute.config.settings.home import Home
from parachute.config.settings.models import Settings
from parachute.config.settings.rows import READ_EACH_TIME, SettingRow, all_rows, check_here, check_name, inside, one_row
from parachute.config.settings.store import check_value, set_value, unset_value
from parachute.config.settings.topics import TOPICS, topic_of, unit_of
from parachute.llm.gateway.service import Gateway
from parachute.llm.gateway.upstream import TAKEN_OVER
from parachute.ops.settings.models import Restart, Setting, Source, caution_of

_SOURCES: tuple[Source, ...] = ("default", "file", "declared")

_MODEL = frozenset(TAKEN_OVER)
"""Settings that the gateway takes over."""

_ABOVE = frozenset({"host", "port"})
"""Settings of the socket, which the supervisor holds."""


class LiveSettings:
    """The settings in the file beside those with which the server runs."""

    def __init__(self, home: Home, running: Settings, gateway: Gateway) -> None:
        self._home = home
        self._running = running
        self._gateway = gateway

    async def all(self) -> list[Setting]:
        """Every setting in force at the next start; error: ConfigError."""
        return await asyncio.to_thread(self._all)

    async def set(self, name: str, value: object) -> Setting:
        """Write a setting; errors: NotFound, InvalidInput, ConfigError, Declared."""
        check_name(name)
        if REMOVED in json.dumps(value):
            raise InvalidInput(
                f"{name}: {REMOVED} stands for a secret that is not shown.",
                "Write the whole value.",
                key="masked_value",
            )
        await asyncio.to_thread(self._write, name, value)
        return await self._shown(name)

    async def unset(self, name: str) -> Setting:
        """Let the default hold again; errors: NotFound, ConfigError, Declared."""
        check_name(name)
        settings, _ = await asyncio.to_thread(unset_value, self._home, name)
        self._take_over(name, settings)
        return await self._shown(name)

    def _all(self) -> list[Setting]:
        running = self._running.model_dump(mode="json")
        order = [topic.key for topic in TOPICS]
        found = [_setting(row, running) for row in all_rows(self._home)]
        return sorted(found, key=lambda setting: order.index(setting.topic))

    def _write(self, name: str, value: object) -> None:
        # JSON is YAML, and quoted: a text stays one whatever it looks like.
        written = "" if value is None else json.dumps(value, ensure_ascii=False)
        check_value(self._home, name, written)
        if isinstance(value, str):
            check_here(name, value)
        self._take_over(name, set_value(self._home, name, written))

    def _take_over(self, name: str, settings: Settings) -> None:
        if name.partition(".")[0] in _MODEL:
            self._gateway.upstream.take_over(settings)

    async def _shown(self, name: str) -> Setting:
        running = self._running.model_dump(mode="json")
        return await asyncio.to_thread(lambda: _setting(one_row(self._home, name), running))


def _setting(row: SettingRow, running: dict[str, Any]) -> Setting:
    kind, expects, may_be_empty = _described(row.name)
    source: Source = next((word for word in _SOURCES if row.source == word), "environment")
    variable = row.source if source == "environment" else None
    value = _masked(row.value)
    return Setting(
        name=row.name,
        title=row.title,
        topic=topic_of(row.name),
        unit=unit_of(row.name),
        kind=kind,
        value=value,
        default=row.default,
        description=row.description,
        expects=expects,
        allowed=list(row.allowed),
        may_be_empty=may_be_empty,
        source=source,
        variable=variable,
        can_change=source in ("default", "file") and not _has_screen(row.name),
        is_masked=value != row.value,
        restart=_restart(row, inside(running, tuple(row.name.split(".")))),
        caution=caution_of(row.name),
    )


def _has_screen(name: str) -> bool:
    """Return True for what no field of a form takes: settings below names."""
    return (field := field_of(name.split("."))) is not None and holds_groups(field)


@lru_cache(512)
def _described(name: str) -> tuple[Kind, str, bool]:
    """Return the kind of a setting, its expected values, and whether it may be empty."""
    if (field := field_of(name.split("."))) is None:
        # What is inside of a mapping is a list of its own.
        return "list", "a list such as [one, two]", False
    return kind_of(field), expected(field), takes_nothing(field)


def _restart(row: SettingRow, running: object) -> Restart | None:
    if row.name.partition(".")[0] in (*READ_EACH_TIME, *_MODEL) or row.value == running:
        return None
    return "computer" if row.name in _ABOVE else "server"


def _masked(value: Any) -> Any:
    """A value without a secret, such as the password in an address."""
    if isinstance(value, str):
        return redacted(value)
    if isinstance(value, list):
        return [_masked(each) for each in value]
    return {name: _masked(each) for name, each in value.items()} if isinstance(value, dict) else value
