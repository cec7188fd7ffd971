"""The part `permissions` of a manifest."""

from collections.abc import Callable
from types import MappingProxyType
from typing import get_args

from parachute.base.document_values import Value
from parachute.base.errors import InvalidInput
from parachute.core.agents import commands, host_name
from parachute.core.decorators import TOOL_NAME
from parachute.core.patterns import Pattern
from parachute.modules.manifest.models import ConversationAccess, JournalAccess, Permissions, SessionAccess

_LONGEST_REASON = 200
_READABLE = (".modules", ".skills")
"""Hidden entries at the top of the vault that a module may ask to read; the others belong to the computer."""


def read_permissions(value: Value) -> Permissions:
    """Read the part."""
    fields = value.fields(("read", "write", "bash", "mcp", "network", "conversations", "journal", "sessions"))

    reasons: dict[str, str] = {}

    def each(name: str, read: Callable[[str, str], str], key: str = "") -> tuple[str, ...]:
        def one(item: Value) -> str:
            if not key or item.is_scalar:
                return read(item.text(), item.where.rpartition(".")[2])
            named = item.fields((key, "reason"), (key, "reason"))
            found = read(named[key].text(), item.where.rpartition(".")[2])
            reasons[found] = named["reason"].text(_LONGEST_REASON)
            return found

        return fields.read(name, lambda listed: listed.each(one), ())

    usual = Permissions()
    return Permissions(
        read=each("read", _readable, "path"),
        write=each("write", _writable, "path"),
        bash=fields.read("bash", lambda bash: commands(bash.plain()), usual.bash),
        mcp=each("mcp", _tool),
        network=each("network", host_name, "host"),
        conversations=fields.read(
            "conversations", lambda access: access.one_of(get_args(ConversationAccess)), usual.conversations
        ),
        journal=fields.read("journal", lambda access: access.one_of(get_args(JournalAccess)), usual.journal),
        sessions=fields.read("sessions", lambda access: access.one_of(get_args(SessionAccess)), usual.sessions),
        reasons=MappingProxyType(reasons),
    )


def _readable(text: str, field: str) -> str:
    pattern = Pattern.parse(text, field)
    if pattern.parts[0].startswith(".") and pattern.parts[0] not in _READABLE:
        raise InvalidInput(
            f"{pattern.parts[0]} at the top of the vault belongs to the computer itself.", key="folder_of_computer"
        )
    return text


def _writable(text: str, field: str) -> str:
    pattern = Pattern.parse(text, field)
    if pattern.parts[0].startswith("."):
        raise InvalidInput(
            f"{pattern.parts[0]}: what is hidden at the top of the vault cannot be written.", key="hidden_not_writable"
        )
    if pattern.is_literal:
        # A single file that is mounted cannot be replaced as a whole, only written over.
        raise InvalidInput(
            f"A folder is expected, such as {text}/**; a single file could not be replaced safely.",
            key="folder_expected",
        )
    return text


def _tool(text: str, field: str) -> str:
    if not TOOL_NAME.fullmatch(text.removesuffix("*") or "x"):
        raise InvalidInput("The name of a tool is expected, such as brain_search or brain_*.", key="tool_name_expected")
    return text
