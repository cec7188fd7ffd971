"""Failed deliveries in the inbox."""

from collections.abc import Sequence
from typing import ClassVar

from parachute.connectors.deliveries.service import Deliveries
from parachute.connectors.deliveries.store import Delivery
from parachute.connectors.platforms.available import label
from parachute.events.inbox.models import Answer, Item, Source

_RETRY, _DISCARD = "retry", "discard"


class DeliveriesSource(Source):
    """The inbox of messages that nobody got."""

    kinds: ClassVar[frozenset[str]] = frozenset({"delivery"})

    def __init__(self, deliveries: Deliveries) -> None:
        self._deliveries = deliveries

    async def items(self) -> Sequence[Item]:
        """Return what could not be delivered."""
        return [_item(each) for each in await self._deliveries.failed()]

    async def answer(self, item: Item, answer: Answer) -> None:
        """Try again, or give it up; error: NotFound."""
        number = int(item.key)
        await (self._deliveries.retry(number) if answer.word == _RETRY else self._deliveries.discard(number))


def _item(delivery: Delivery) -> Item:
    return Item(
        kind="delivery",
        key=str(delivery.number),
        title=f"A message could not be delivered: {delivery.problem}"[:200],
        source=label(delivery.platform),
        since=delivery.since,
        details={
            "chat_id": delivery.outgoing.chat.id,
            "text": delivery.words,
            "problem": delivery.problem,
        },
        answers=(_RETRY, _DISCARD),
        is_owners=True,
    )
