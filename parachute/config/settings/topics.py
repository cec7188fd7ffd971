"""Topics of settings: what a person looks for, in the order in which forms and documentation show them."""

from msgspec import Struct


class Topic(Struct, frozen=True):
    """A topic: its key, its title, and the settings and groups of settings that belong to it."""

    key: str
    title: str
    names: tuple[str, ...]


TOPICS = (
    Topic(
        "reach",
        title="Address and devices",
        names=("host", "port", "auth_mode", "hostnames", "origins", "trusted_proxies", "tls"),
    ),
    Topic(
        "model",
        title="Models and costs",
        names=(
            "provider",
            "base_url",
            "model",
            "allowed_models",
            "providers",
            "fallback",
            "fallback_leaves_home",
            "daily_spending_limit",
            "daily_token_limit",
            "offline",
        ),
    ),
    Topic("privacy", title="Privacy and network", names=("network", "git", "mcp", "audit")),
    Topic(
        "agents",
        title="Agents",
        names=(
            "project_folders",
            "trust_mode",
            "session_idle_minutes",
            "changes",
            "default_capabilities",
            "capabilities",
            "agents",
        ),
    ),
    Topic("suggestions", title="Suggestions", names=("suggestions", "orchestrator", "curator")),
    Topic("voice", title="Voice", names=("voice",)),
    Topic("search", title="Search", names=("meaning", "search")),
    Topic("messengers", title="Messengers and notices", names=("messengers", "push")),
    Topic("backup", title="Data and backup", names=("vault", "backup")),
    Topic("updates", title="Updates", names=("updates",)),
    Topic("sandbox", title="Sandbox", names=("sandbox",)),
)

_UNITS = {"minutes": "minutes", "seconds": "seconds", "days": "days", "megabytes": "MB", "tokens": "tokens"}
_OWN_UNITS = {"daily_spending_limit": "US dollars", "daily_token_limit": "tokens"}
_TIMES = ("time", "quiet_from", "quiet_until")


def topic_of(name: str) -> str:
    """Return the key of a setting's topic; of two that name it, or its group, the setting itself counts."""
    group = name.partition(".")[0]
    found = [topic.key for word in (name, group) for topic in TOPICS if word in topic.names]
    return found[0]


def unit_of(name: str) -> str | None:
    """Return what the number of a setting counts, `time` for one that is a time of the day, None for neither."""
    leaf = name.rpartition(".")[2]
    if leaf in _TIMES:
        return "time"
    return _OWN_UNITS.get(name) or _UNITS.get(leaf.rpartition("_")[2])
