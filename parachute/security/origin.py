"""Origins: where what enters a run came from, in one order, and what may come of it."""

from enum import StrEnum
from functools import reduce


class Origin(StrEnum):
    """Origin of content, from the owner down; unknown words are errors."""

    OWNER = "owner"
    OWN_FILE = "own_file"
    AGENT_FILE = "agent_file"
    WEB = "web"
    REMOTE_MCP = "remote_mcp"
    GUEST = "guest"
    IMPORT = "import"
    UNTRUSTED_MODULE = "untrusted_module"

    @property
    def words(self) -> str:
        """The origin for a person, to be read after "from"."""
        return _WORDS[self]

    @property
    def may_instruct(self) -> bool:
        """True if memory and instructions may be written without the owner's look: what the owner alone has said."""
        return self is Origin.OWNER

    @property
    def may_record(self) -> bool:
        """True if Brain and the journal may be written without it: nothing of others is in it."""
        return _RANKS[self] <= _RANKS[Origin.AGENT_FILE]

    def is_below(self, other: "Origin") -> bool:
        """Return whether this is trusted less than another."""
        return _RANKS[self] > _RANKS[other]


_RANKS = {origin: rank for rank, origin in enumerate(Origin)}
_WORDS = {
    Origin.OWNER: "you",
    Origin.OWN_FILE: "your notes or files",
    Origin.AGENT_FILE: "a file that an agent wrote",
    Origin.WEB: "the web",
    Origin.REMOTE_MCP: "an MCP server elsewhere",
    Origin.GUEST: "people who talk to a bot",
    Origin.IMPORT: "an import, or from before origins were recorded",
    Origin.UNTRUSTED_MODULE: "a module that is not trusted",
}


def lowest(*origins: Origin) -> Origin:
    """The lowest of some origins; that of nothing is the owner's."""
    return reduce(lambda one, other: other if other.is_below(one) else one, origins, Origin.OWNER)
