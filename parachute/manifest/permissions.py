"""The part `permissions` of a manifest."""

from typing import Any, get_args

import yaml

from parachute.core.agents import commands, host_name
from parachute.core.decorators import TOOL_NAME
from parachute.core.patterns import Pattern
from parachute.errors import InvalidInput
from parachute.manifest.document import Document, Refused, joined
from parachute.manifest.models import ConversationAccess, Permissions

_WHERE = "permissions"
_READABLE = (".modules", ".skills")
"""Hidden entries at the top of the vault that a module may ask to read; the others belong to the computer."""


def read_permissions(document: Document, node: yaml.Node | None) -> Permissions:
    """Read the part; problems go to the document."""
    if node is None:
        return Permissions()
    try:
        fields = document.mapping(node, _WHERE, ("read", "write", "bash", "mcp", "network", "conversations"))
    except Refused:
        return Permissions()
    values: dict[str, Any] = {}
    for name, how in (("read", _readable), ("write", _writable), ("mcp", _tool), ("network", host_name)):
        if name in fields:
            values[name] = _each(document, fields[name], joined(_WHERE, name), how)
    if "bash" in fields:
        place = joined(_WHERE, "bash")
        value = fields["bash"]

        def read() -> bool | tuple[str, ...]:
            return commands(document.plain(value, place))

        otherwise: bool | tuple[str, ...] = False
        values["bash"] = document.attempt(value, place, read, otherwise)
    if "conversations" in fields:
        place = joined(_WHERE, "conversations")
        words = fields["conversations"]
        values["conversations"] = document.attempt(words, place, lambda: _conversations(document, words, place), "none")
    return Permissions(**values)


def _conversations(document: Document, node: yaml.Node, place: str) -> str:
    text = document.text(node, place)
    if text not in get_args(ConversationAccess):
        raise InvalidInput(f"conversations: one of {', '.join(get_args(ConversationAccess))} is allowed.")
    return text


def _each(document: Document, node: yaml.Node, where: str, how: Any) -> tuple[str, ...]:
    def one(item: yaml.Node, place: str) -> str:
        return str(how(document.text(item, place), place.rpartition(".")[2]))

    return document.attempt(node, where, lambda: document.each(node, where, one), ())


def _readable(text: str, field: str) -> str:
    pattern = Pattern.parse(text, field)
    if pattern.parts[0].startswith(".") and pattern.parts[0] not in _READABLE:
        raise InvalidInput(f"{pattern.parts[0]} at the top of the vault belongs to the computer itself.")
    return text


def _writable(text: str, field: str) -> str:
    pattern = Pattern.parse(text, field)
    if pattern.parts[0].startswith("."):
        raise InvalidInput(f"{pattern.parts[0]}: what is hidden at the top of the vault cannot be written.")
    if pattern.is_literal:
        # A single file that is mounted cannot be replaced as a whole, only written over.
        raise InvalidInput(f"A folder is expected, such as {text}/**; a single file could not be replaced safely.")
    return text


def _tool(text: str, field: str) -> str:
    if not TOOL_NAME.fullmatch(text.removesuffix("*") or "x"):
        raise InvalidInput("The name of a tool is expected, such as brain_search or brain_*.")
    return text
