"""The abilities of servers that were asked, in `~/.parachute/servers.json`."""

import json
import logging

import msgspec

from parachute.base.errors import ParachuteError
from parachute.base.files import atomic_write, read_regular
from parachute.config.settings.home import Home
from parachute.llm.gateway.models import Provider
from parachute.llm.gateway.probe import ServerFacts

log = logging.getLogger(__name__)

_LIMIT = 4 * 1024 * 1024
_MOST = 100


class KnownServers:
    """The newest facts of each address; what cannot be read is asked again at the next login."""

    def __init__(self, home: Home) -> None:
        self._path = home.servers
        self._known: dict[str, ServerFacts] | None = None

    def get(self, provider: Provider) -> ServerFacts | None:
        """Return what is known of the server of a provider; None for Anthropic, and for one that was not asked."""
        return self._all().get(provider.base_url) if provider.name == "compatible" else None

    def window(self, provider: Provider) -> int | None:
        """Return the tokens that the model of a provider takes, None where nobody knows."""
        facts = self.get(provider)
        return facts.window_of(provider.model) if facts else None

    def put(self, provider: Provider, facts: ServerFacts) -> None:
        """Keep what a server said; waits for the disk."""
        known = {**self._all(), provider.base_url: facts}
        self._known = dict(list(known.items())[-_MOST:])
        atomic_write(self._path, json.dumps(msgspec.to_builtins(self._known)) + "\n", 0o600)

    def _all(self) -> dict[str, ServerFacts]:
        if self._known is None:
            try:
                self._known = msgspec.json.decode(read_regular(self._path, _LIMIT), type=dict[str, ServerFacts])
            except FileNotFoundError:
                self._known = {}
            except (OSError, ParachuteError, msgspec.DecodeError) as error:
                log.warning("What servers said cannot be read, and is asked again at the next login: %s", error)
                self._known = {}
        return self._known
