"""The capability that a request needs: one table, read from top to bottom."""

from dataclasses import dataclass
from typing import Literal

from parachute.base.errors import InvalidInput
from parachute.security.keys.models import EVERY_MODULE, Capability

# everyone: no key is ever needed. loopback: none from this computer. callers: whoever holds the capability.
# credential: only with a key or the command line's token, also from this computer.
Audience = Literal["everyone", "loopback", "callers", "credential"]

_READING = frozenset(("GET", "HEAD"))


@dataclass(frozen=True, slots=True)
class Need:
    """The need of a request: this capability in this module, and who may come at all."""

    module: str
    capability: Capability
    audience: Audience = "callers"


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of the table: paths at or below `path`, where `{module}` stands for any one segment.

    `written` is the module whose scope is needed to change something, where that reaches further than `module`.
    """

    path: str
    module: str
    written: str | None = None
    read: Capability = "read"
    write: Capability = "write"
    readers: Audience = "callers"
    writers: Audience = "callers"
    is_exact: bool = False


RULES = (
    Rule("/api/health", "health", readers="everyone", is_exact=True),
    # The app sends no key here: neither to learn how this computer's own server is doing, nor for its buttons.
    Rule("/supervisor", "supervisor", write="admin", readers="loopback"),
    # Keys and who needs one.
    Rule("/api/auth", "auth", read="admin", write="admin"),
    # Code of anybody comes in here: no program of this machine brings it without a key.
    Rule("/api/modules/staged", "modules", read="admin", write="admin", writers="credential"),
    # The agents of a module are used as the module is; everything else about modules decides which code runs.
    Rule("/api/modules/{module}/agents", "{module}"),
    # A prompt steers every conversation, also those that run with the owner's rights.
    Rule("/api/modules/{module}/prompt", "{module}", written="prompts", write="admin"),
    # To tell what they may do they are staged, one look at a time: a page that asked often would hold up everybody.
    Rule("/api/modules/official", "modules", read="admin", write="admin"),
    Rule("/api/modules/{module}/approval", "modules", read="admin", write="admin"),
    Rule("/api/modules", "modules", write="admin"),
    # Whose word begins what a module may not begin: the owner's, and no program's of this machine.
    Rule("/api/agent-runs", "modules", read="admin", write="admin", writers="credential"),
    # Which server gets to see what is said to agents, and which key pays for it.
    Rule("/api/provider", "provider", write="admin", writers="credential"),
    # That a computer runs here, and what to do next.
    Rule("/", "setup", write="admin", readers="everyone", is_exact=True),
    # The page that sets a new computer up holds nothing secret; all it does goes through the API with a key.
    Rule("/setup", "setup", readers="everyone", is_exact=True),
    Rule("/setup/page.css", "setup", readers="everyone", is_exact=True),
    Rule("/setup/page.js", "setup", readers="everyone", is_exact=True),
    Rule("/api/setup", "setup", read="admin", write="admin", readers="credential", writers="credential"),
    Rule("/api/sandbox", "sandbox", write="admin"),
    # Whoever may talk to agents may stop them all; that they work again is the owner's word, and no program's of this machine.
    Rule("/api/panic", "chat"),
    Rule("/api/resume", "panic", read="admin", write="admin", writers="credential"),
    # Each of these makes commands run outside of a sandbox, or lets strangers in.
    # Where a browser arrives after signing in elsewhere: it brings no key, but what only whoever began to sign in was given.
    Rule("/api/mcps/oauth/callback", "mcps", write="admin", readers="everyone", is_exact=True),
    Rule("/api/mcps", "mcps", write="admin"),
    Rule("/api/plugins", "plugins", write="admin"),
    # What is written here is approved, and steers conversations that run with the owner's rights.
    Rule("/api/agents", "agents", write="admin"),
    Rule("/api/skills", "skills", write="admin"),
    Rule("/api/hooks", "hooks", write="admin"),
    Rule("/api/events", "events", write="admin"),
    # Who decides about a suggestion also needs `write` in the module that it is about: the route looks.
    Rule("/api/suggestions", "suggestions"),
    # What is written there is told to every conversation.
    Rule("/api/memory", "memory", read="admin", write="admin", writers="credential"),
    # What each item needs is its own: the route looks.
    Rule("/api/inbox", "inbox"),
    # It says what was done with everything.
    Rule("/api/audit", "audit", read="admin", write="admin"),
    Rule("/api/status", "status"),
    Rule("/api/scheduler", "scheduler"),
    Rule("/api/para", "para"),
    # Routes that belong to the conversations.
    Rule("/api/chat", "chat"),
    # What a conversation is told: which folders and sizes there are, whoever reads conversations may know.
    Rule("/api/contexts", "chat"),
    # A prompt holds the text of files, which without an agent a key for reading conversations would not get.
    Rule("/api/prompt", "chat", read="write"),
    # A workspace decides about folders, limits and the owner's own MCP servers.
    Rule("/api/workspaces", "chat", written="workspaces", write="admin"),
    # What agents reach: the owner alone decides.
    Rule("/api/network", "network", write="admin"),
    Rule("/api/git", "git", write="admin"),
    Rule("/api/claude-code", "chat"),
    # What each may spend is the owner's word.
    Rule("/api/usage/limits", "chat", written="usage", write="admin"),
    Rule("/api/import", "chat"),
    # These also put files into the vault, and take back all that one brought.
    Rule("/api/imports", "chat", written="imports", write="admin"),
    Rule("/api/usage", "chat"),
    Rule("/api/ask", "chat"),
    # The owner's files: neither hidden ones nor secrets, so that nothing is reached here that raises a right.
    Rule("/api/ls", "vault"),
    Rule("/api/read", "vault"),
    Rule("/api/write", "vault"),
    Rule("/api/files", "vault"),
    # The app's own copy of the journal.
    Rule("/api/sync", "daily"),
    Rule("/api/{module}", "{module}"),
    # Documentation, schema and whatever nobody has thought of.
    Rule("/", EVERY_MODULE, write="admin"),
)

_ANY_SEGMENT = "{module}"

SCOPES = frozenset(
    name for rule in RULES for name in (rule.module, rule.written) if name and name not in (_ANY_SEGMENT, EVERY_MODULE)
)
"""What a key's scope may name besides modules."""


def _segments(path: str) -> tuple[str, ...]:
    return tuple(path[1:].split("/")) if path != "/" else ()


_COMPILED = tuple((("",) if rule.is_exact and rule.path == "/" else _segments(rule.path), rule) for rule in RULES)
_DEEPEST = max(len(segments) for segments, _ in _COMPILED)


def needed(method: str, path: str) -> Need:
    """Return what a request of this method to this decoded path needs; a path with `.` or `..` in it is InvalidInput."""
    # Whoever passes the path on to a file system or another server would see another path than this table.
    if "/./" in path or "/../" in path or path.endswith(("/.", "/..")) or "\\" in path or "\0" in path:
        raise InvalidInput(
            "The path must not contain . or .. as a part, nor a backslash.", status=400, key="malformed_path"
        )
    parts = path[1:].split("/", _DEEPEST)
    is_reading = method in _READING
    for segments, rule in _COMPILED:
        module = _match(segments, rule, parts)
        if module is not None and is_reading:
            return Need(module, rule.read, rule.readers)
        if module is not None:
            return Need(rule.written or module, rule.write, rule.writers)
    return Need(EVERY_MODULE, "admin")


def _match(segments: tuple[str, ...], rule: Rule, parts: list[str]) -> str | None:
    depth = len(segments)
    if len(parts) < depth or (rule.is_exact and len(parts) != depth):
        return None
    module = rule.module
    for expected, part in zip(segments, parts, strict=False):
        if expected == _ANY_SEGMENT:
            if not part:
                return None
            module = part if module == _ANY_SEGMENT else module
        elif expected != part:
            return None
    return module
