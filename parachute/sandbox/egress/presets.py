"""Presets: hosts that the owner has put together under a name, written `preset:NAME` in lists of hosts."""

from collections.abc import Iterable, Mapping, Sequence

from parachute.base.errors import InvalidInput
from parachute.config.settings.groups.network import PRESET
from parachute.sandbox.egress.hosts import AllowedHosts

Presets = Mapping[str, Sequence[str]]
NO_PRESETS: Presets = {}


def normal(entries: Iterable[str]) -> tuple[str, ...]:
    """A list of hosts and presets in its normal form; error: InvalidInput naming each wrong host."""
    listed = list(entries)
    named = [entry for entry in listed if entry.startswith(PRESET)]
    hosts = AllowedHosts.parse((entry for entry in listed if entry not in named), private=True)
    return tuple(dict.fromkeys((*named, *hosts.texts())))


def resolved(entries: Iterable[str], presets: Presets) -> tuple[str, ...]:
    """The hosts of a list, those of its presets among them; error: InvalidInput for a preset that there is not."""
    hosts: dict[str, None] = {}
    for entry in entries:
        hosts |= dict.fromkeys(_hosts(entry.removeprefix(PRESET), presets) if entry.startswith(PRESET) else [entry])
    return tuple(hosts)


def _hosts(name: str, presets: Presets) -> Sequence[str]:
    if name not in presets:
        known = f"There are: {', '.join(sorted(presets))}." if presets else "There is none yet."
        raise InvalidInput(
            f"There is no preset {name[:40]!r} of hosts.",
            f"{known} `parachute config set network.presets.{name[:40] or 'NAME'} '[example.org]'` defines one.",
            key="no_such_preset",
        )
    return presets[name]
