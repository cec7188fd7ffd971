"""Push services that wait for the owner's word, in the inbox."""

from collections.abc import Sequence
from typing import ClassVar

from parachute.chat.network.models import Choice, entry_of
from parachute.connectors.push.service import Push
from parachute.events.inbox.models import ALWAYS, Answer, Item, Source, not_waiting


class PushServicesSource(Source):
    """The inbox of push services; one that nobody allows is sent nothing."""

    kinds: ClassVar[frozenset[str]] = frozenset({"push_service"})

    def __init__(self, push: Push) -> None:
        self._push = push

    async def items(self) -> Sequence[Item]:
        """Return every push service that waits, with the device that asked first."""
        found: dict[str, Item] = {}
        for each in await self._push.devices():
            host = entry_of(each.subscription.target)
            if self._push.state(each) == "asked" and host not in found:
                found[host] = _item(host, each.device.label, each.subscription.since)
        return list(found.values())

    async def answer(self, item: Item, answer: Answer) -> None:
        """Allow a push service, or refuse it for good."""
        if item.hash not in {each.hash for each in await self.items()}:
            raise not_waiting()
        choice: Choice = "always" if answer.word == ALWAYS else "never"
        await self._push.decide(item.key, choice, answer.who)


def _item(host: str, device: str, since: str) -> Item:
    return Item(
        kind="push_service",
        key=host,
        title=f"Send notices by {host}",
        source=device,
        since=since,
        details={"host": host, "device": device},
        answers=(ALWAYS, "never"),
        is_owners=True,
    )
