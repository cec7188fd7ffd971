"""The keys, the browsers that are signed in and the MCP clients, read without closing or changing their files."""

from parachute.base.files import read_regular
from parachute.ops.doctor.computer import Computer
from parachute.security.keys.document import BROWSERS, KEYS, Document, Form, parse_document
from parachute.security.keys.models import Key
from parachute.security.keys.store import MAXIMUM_BYTES
from parachute.security.mcp_clients.models import State
from parachute.security.mcp_clients.store import FILE, LIMIT, parsed


def read_keys(computer: Computer) -> Document:
    """Return all keys, and the entries with a mistake; error: KeysUnreadable."""
    return _read(computer, KEYS)


def read_browsers(computer: Computer) -> tuple[Key, ...]:
    """Return the browsers that have signed in, also those that have ended since; error: KeysUnreadable."""
    return _read(computer, BROWSERS).keys


def read_clients(computer: Computer) -> State:
    """Return the MCP clients; errors: ValueError, OSError."""
    try:
        return parsed(read_regular(computer.home.root / FILE, LIMIT))
    except FileNotFoundError:
        return State()


def _read(computer: Computer, form: Form) -> Document:
    path = computer.home.root / form.file
    try:
        return parse_document(read_regular(path, MAXIMUM_BYTES), path, form)
    except FileNotFoundError:
        return Document()
