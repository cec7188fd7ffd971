"""Wrong tries of each peer, so that nobody guesses for long."""

from collections import OrderedDict

from parachute.base.addresses import parse_address
from parachute.base.clock import Clock
from parachute.web.pairing.models import TooManyTries

MOST = 5
_SECONDS = 300.0
_REMEMBERED = 1000


class Tries:
    """The moments of wrong tries by peer; of addresses of version 6 a whole network is one peer."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._wrong: OrderedDict[str, list[float]] = OrderedDict()

    def check(self, address: str) -> None:
        """Refuse a peer that has tried too often; error: TooManyTries."""
        if len(self._recent(_peer(address))) >= MOST:
            raise TooManyTries("There were too many wrong codes from this address.", "Try again in five minutes.")

    def note(self, address: str) -> None:
        """Count a wrong try."""
        peer = _peer(address)
        self._wrong[peer] = [*self._recent(peer), self._clock.elapsed()]
        self._wrong.move_to_end(peer)
        if len(self._wrong) > _REMEMBERED:
            self._wrong.popitem(last=False)

    def _recent(self, peer: str) -> list[float]:
        return [moment for moment in self._wrong.get(peer, ()) if self._clock.elapsed() - moment < _SECONDS]


def _peer(text: str) -> str:
    address = parse_address(text)
    return f"{int(address) >> 64:x}/64" if address is not None and address.version == 6 else text
