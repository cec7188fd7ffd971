"""The capability that a request needs: one table, of which the line with the most of a path holds."""

from typing import Literal

from msgspec import Struct

from parachute.base.errors import InvalidInput
from parachute.security.keys.models import EVERY_MODULE, Capability

# everyone: no key is ever needed. loopback: none from this computer. callers: whoever holds the capability.
# credential: only with a key, a cookie or the command line's token, also from this computer. holders: whoever shows one of these,
# whatever its scopes, and the owner. programs: the same, and MCP clients that the owner let in, but nobody without any of these.
Audience = Literal["everyone", "loopback", "callers", "credential", "holders", "programs"]

_READING = frozenset(("GET", "HEAD"))


class Need(Struct, frozen=True):
    """The need of a request: this capability in this module, who may come at all, whether a browser confirms it, and whether nothing comes of it."""

    module: str
    capability: Capability
    audience: Audience = "callers"
    is_confirmed: bool = False
    takes_nothing: bool = False


class Rule(Struct, frozen=True):
    """One line of the table: paths at or below `path`, where what stands in braces is any one segment.

    Of the lines that fit a path the most precise one holds, wherever it stands.

    `written` is the module whose scope is needed to change something, where that reaches further than `module`. What
    `is_confirmed` is changed from a browser only for some minutes after its owner has signed in or confirmed, and what
    `is_read_confirmed` only read then. What `takes_nothing` answers the same to pages of every origin.
    """

    path: str
    module: str
    written: str | None = None
    read: Capability = "read"
    write: Capability = "write"
    readers: Audience = "callers"
    writers: Audience = "callers"
    is_exact: bool = False
    is_confirmed: bool = False
    is_read_confirmed: bool = False
    takes_nothing: bool = False


RULES = (
    Rule("/api/health", "health", readers="everyone", is_exact=True),
    # Whoever may talk to agents chooses their model.
    Rule("/supervisor/models", "chat", write="admin", readers="loopback", is_exact=True),
    # The app sends no key here: neither to learn how this computer's own server is doing, nor for its buttons.
    Rule("/supervisor", "supervisor", write="admin", readers="loopback"),
    # Keys and who needs one.
    Rule("/api/auth", "auth", read="admin", write="admin", is_confirmed=True),
    # Where a browser signs in, and learns whether it is.
    Rule("/api/pairing/me", "auth", write="admin", readers="everyone", is_exact=True),
    Rule("/api/pairing/sign-in", "auth", read="admin", writers="everyone", is_exact=True),
    Rule("/api/pairing/sign-out", "auth", read="admin", writers="everyone", is_exact=True),
    Rule("/api/pairing/confirm", "auth", read="admin", write="admin", writers="holders", is_exact=True),
    # Everybody may end their own, others those with admin rights, and these confirm it: the route looks.
    Rule("/api/pairing/sessions", "auth", read="admin", write="admin", writers="holders"),
    Rule("/api/pairing", "auth", read="admin", write="admin", is_confirmed=True),
    # Code of anybody comes in here: no program of this machine brings it without a key.
    Rule("/api/modules/staged", "modules", read="admin", write="admin", writers="credential", is_confirmed=True),
    Rule("/api/modules/{module}/agents/{name}/approve", "{module}", is_confirmed=True),
    # The agents of a module are used as the module is; everything else about modules decides which code runs.
    Rule("/api/modules/{module}/agents", "{module}"),
    # A prompt steers every conversation, also those that run with the owner's rights.
    Rule("/api/modules/{module}/prompt", "{module}", written="prompts", write="admin", is_confirmed=True),
    # To tell what they may do they are staged, one look at a time: a page that asked often would hold up everybody.
    Rule("/api/modules/official", "modules", read="admin", write="admin", is_confirmed=True),
    Rule("/api/modules/{module}/approval", "modules", read="admin", write="admin", is_confirmed=True),
    Rule("/api/modules", "modules", write="admin", is_confirmed=True),
    # Whose word begins what a module may not begin: the owner's, and no program's of this machine.
    Rule("/api/agent-runs", "modules", read="admin", write="admin", writers="credential", is_confirmed=True),
    # Which server gets to see what is said to agents, and which key pays for it.
    Rule("/api/provider", "provider", write="admin", writers="credential", is_confirmed=True),
    # The console holds nothing secret; all it does goes through the API, signed in.
    Rule("/", "console", write="admin", readers="everyone", is_exact=True),
    Rule("/console", "console", write="admin", readers="everyone"),
    # It takes nothing, and says so to whoever shares something with a console that cannot keep it.
    Rule("/console/share", "console", readers="everyone", writers="everyone", is_exact=True, takes_nothing=True),
    # It leads to the console: addresses that were printed for it are about.
    Rule("/setup", "setup", readers="everyone", is_exact=True),
    Rule(
        "/api/setup",
        "setup",
        read="admin",
        write="admin",
        readers="credential",
        writers="credential",
        is_confirmed=True,
    ),
    # What every connection with TLS is told anyway; and the certificate, which a device has to trust before it can show a key.
    Rule("/api/tls", "tls", write="admin", readers="everyone"),
    Rule("/tls", "tls", readers="everyone", is_exact=True),
    Rule("/tls/page.css", "tls", readers="everyone", is_exact=True),
    Rule("/tls/page.js", "tls", readers="everyone", is_exact=True),
    Rule("/tls/ca.crt", "tls", readers="everyone", is_exact=True),
    Rule("/tls/ca.mobileconfig", "tls", readers="everyone", is_exact=True),
    Rule("/api/sandbox", "sandbox", write="admin"),
    # Whoever may talk to agents may stop them all; that they work again is the owner's word, and no program's of this machine.
    Rule("/api/panic", "chat"),
    Rule("/api/resume", "panic", read="admin", write="admin", writers="credential", is_confirmed=True),
    # Each of these makes commands run outside of a sandbox, or lets strangers in.
    # Where a browser arrives after signing in elsewhere: it brings no key, but what only whoever began to sign in was given.
    Rule("/api/mcps/oauth/callback", "mcps", write="admin", readers="everyone", is_exact=True),
    Rule("/api/mcps", "mcps", write="admin", is_confirmed=True),
    Rule("/api/plugins", "plugins", write="admin", is_confirmed=True),
    # What is written here is approved, and steers conversations that run with the owner's rights.
    Rule("/api/agents", "agents", write="admin", is_confirmed=True),
    Rule("/api/skills", "skills", write="admin", is_confirmed=True),
    # Who may talk to this computer from elsewhere, and in whose name it speaks there.
    Rule("/api/bots", "bots", write="admin", is_confirmed=True),
    Rule("/api/hooks", "hooks", write="admin", is_confirmed=True),
    # It tells each of what they may read, and nothing but that it has changed.
    Rule("/api/events", "events", write="admin", readers="holders", is_exact=True),
    Rule("/api/events", "events", write="admin"),
    # Who decides about a suggestion also needs `write` in the module that it is about: the route looks.
    Rule("/api/suggestions", "suggestions"),
    # What is written there is told to every conversation.
    Rule("/api/memory", "memory", read="admin", write="admin", writers="credential"),
    # What each item needs is its own: the route looks.
    Rule("/api/inbox", "inbox"),
    # Whoever reads the inbox may be told of it; about devices of others the route looks.
    Rule("/api/push", "inbox", write="read"),
    # They say where everything lies, and what went wrong with it.
    Rule("/api/doctor", "doctor", read="admin", write="admin"),
    # Where everything goes, and what opens it there.
    Rule("/api/backups/repository", "backups", read="admin", write="admin", writers="credential", is_confirmed=True),
    Rule("/api/backups/kit", "backups", read="admin", write="admin", writers="credential", is_confirmed=True),
    Rule("/api/backups/credentials", "backups", read="admin", write="admin", writers="credential", is_confirmed=True),
    Rule("/api/backups/access", "backups", read="admin", write="admin", writers="credential", is_confirmed=True),
    Rule("/api/backups/restore", "backups", read="admin", write="admin", writers="credential", is_confirmed=True),
    Rule("/api/backups", "backups", read="admin", write="admin"),
    # What runs with all rights from then on.
    Rule("/api/updates", "updates", read="admin", write="admin", writers="credential", is_confirmed=True),
    # All of the journal, the entities and the conversations at once.
    Rule("/api/export", "export", read="admin", write="admin", is_exact=True, is_read_confirmed=True),
    # It reads everything there is, and destroys: the owner alone, and never a program of this machine without a key.
    Rule(
        "/api/forget",
        "forget",
        read="admin",
        write="admin",
        readers="credential",
        writers="credential",
        is_confirmed=True,
    ),
    Rule("/api/logs", "logs", read="admin", write="admin"),
    # Who reaches this computer at all.
    Rule("/api/phone", "auth", read="admin", write="admin", writers="credential", is_confirmed=True),
    # Who needs a key, what agents may do and where everything lies: no program of this machine changes it without a key.
    Rule("/api/config", "config", read="admin", write="admin", writers="credential", is_confirmed=True),
    # It says what was done with everything.
    Rule("/api/audit", "audit", read="admin", write="admin"),
    Rule("/api/status", "status"),
    Rule("/api/scheduler", "scheduler"),
    Rule("/api/reminders", "scheduler"),
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
    Rule("/api/network", "network", write="admin", is_confirmed=True),
    Rule("/api/git", "git", write="admin", is_confirmed=True),
    Rule("/api/claude-code", "chat"),
    # What each may spend is the owner's word.
    Rule("/api/usage/limits", "chat", written="usage", write="admin"),
    Rule("/api/import", "chat"),
    # These also put files into the vault, and take back all that one brought.
    Rule("/api/imports", "chat", written="imports", write="admin"),
    Rule("/api/usage", "chat"),
    Rule("/api/ask", "chat"),
    # For programs of the owner's: each has the tools that its scopes allow, or what it was granted, which the route looks at.
    Rule("/mcp", "modules", read="admin", write="admin", readers="programs", writers="programs", is_exact=True),
    # Where such a program learns how to come in, and asks; nothing is given but what the owner agrees to.
    Rule("/.well-known/oauth-protected-resource", "mcp-clients", write="admin", readers="everyone"),
    Rule("/.well-known/oauth-authorization-server", "mcp-clients", write="admin", readers="everyone", is_exact=True),
    Rule("/oauth/authorize", "mcp-clients", write="admin", readers="everyone", is_exact=True),
    Rule("/oauth/register", "mcp-clients", read="admin", writers="everyone", is_exact=True),
    Rule("/oauth/token", "mcp-clients", read="admin", writers="everyone", is_exact=True),
    Rule("/oauth/revoke", "mcp-clients", read="admin", writers="everyone", is_exact=True),
    # What one gets to know is the owner's word; to end one needs no confirmation.
    Rule(
        "/api/mcp-clients/requests/{request}/agree",
        "mcp-clients",
        read="admin",
        write="admin",
        writers="credential",
        is_confirmed=True,
    ),
    Rule(
        "/api/mcp-clients/{client}/limits",
        "mcp-clients",
        read="admin",
        write="admin",
        writers="credential",
        is_confirmed=True,
    ),
    Rule("/api/mcp-clients", "mcp-clients", read="admin", write="admin"),
    # What was said in recordings of the vault; whoever writes has any of them transcribed.
    Rule("/api/voice", "voice"),
    # The owner's files: neither hidden ones nor secrets, so that nothing is reached here that raises a right.
    Rule("/api/ls", "vault"),
    Rule("/api/read", "vault"),
    Rule("/api/write", "vault"),
    Rule("/api/files", "vault"),
    # Lines of these files.
    Rule("/api/tasks", "vault"),
    # The app's own copy of the journal.
    Rule("/api/sync", "daily"),
    Rule("/api/{module}", "{module}"),
    # Documentation, schema and whatever nobody has thought of.
    Rule("/", EVERY_MODULE, write="admin", is_confirmed=True),
)

_MODULE = "{module}"

SCOPES = frozenset(
    name for rule in RULES for name in (rule.module, rule.written) if name and name not in (_MODULE, EVERY_MODULE)
)
"""Names of a key's scopes besides modules."""


def _segments(path: str) -> tuple[str, ...]:
    return tuple(path[1:].split("/")) if path != "/" else ()


def _precedence(compiled: tuple[tuple[str, ...], Rule]) -> tuple[int, ...]:
    """A sort key by which written parts precede those in braces, longer paths shorter ones, and exact paths what is below them."""
    segments, rule = compiled
    return (*(int(segment.startswith("{")) for segment in segments), 2 if rule.is_exact else 3)


_COMPILED = sorted(
    ((("",) if rule.is_exact and rule.path == "/" else _segments(rule.path), rule) for rule in RULES), key=_precedence
)
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
            return Need(module, rule.read, rule.readers, rule.is_read_confirmed)
        if module is not None:
            return Need(rule.written or module, rule.write, rule.writers, rule.is_confirmed, rule.takes_nothing)
    return Need(EVERY_MODULE, "admin", is_confirmed=True)


def _match(segments: tuple[str, ...], rule: Rule, parts: list[str]) -> str | None:
    depth = len(segments)
    if len(parts) < depth or (rule.is_exact and len(parts) != depth):
        return None
    module = rule.module
    for expected, part in zip(segments, parts, strict=False):
        if expected.startswith("{"):
            if not part:
                return None
            module = part if expected == module == _MODULE else module
        elif expected != part:
            return None
    return module
