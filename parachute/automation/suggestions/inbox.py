"""Suggestions that wait for a decision, in the inbox."""

from collections.abc import Sequence
from typing import ClassVar

from parachute.automation.suggestions.models import PENDING_LIMIT, Suggestion, document_of
from parachute.automation.suggestions.own_targets import OWN_TARGETS
from parachute.automation.suggestions.service import Suggestions
from parachute.events.inbox.models import APPROVE, REJECT, Answer, Item, Source
from parachute.security.keys.models import Capability


class SuggestionsSource(Source):
    """The inbox of suggestions; the members of an entry of several are decided about with it."""

    kinds: ClassVar[frozenset[str]] = frozenset({"suggestion"})

    def __init__(self, suggestions: Suggestions) -> None:
        self._suggestions = suggestions

    async def items(self) -> Sequence[Item]:
        """Return the newest that wait."""
        found, _ = await self._suggestions.page("pending", limit=PENDING_LIMIT)
        return [_item(each) for each in found]

    async def answer(self, item: Item, answer: Answer) -> None:
        """Have a suggestion applied, or never."""
        if answer.word == APPROVE:
            await self._suggestions.approve(item.key, answer.who)
        else:
            await self._suggestions.reject(item.key, answer.who)


def _item(suggestion: Suggestion) -> Item:
    name = suggestion.title or suggestion.target_id or "(without a name)"
    return Item(
        kind="suggestion",
        key=suggestion.id,
        called=suggestion.id,
        title=f"{suggestion.action.capitalize()}: {name}",
        source=suggestion.source_agent,
        since=suggestion.timestamp,
        details=document_of(suggestion),
        answers=(APPROVE, REJECT),
        rights=rights(suggestion),
        session=suggestion.source_session,
        command=f"parachute suggestions show {suggestion.id}",
    )


def rights(suggestion: Suggestion) -> tuple[tuple[str, Capability], ...]:
    """Return the rights that a decision needs: the computer's own settings decide what everybody may, and its memory is told to all."""
    modules = [each.target_module for each in (suggestion.members if suggestion.is_batch else (suggestion,))]
    return tuple((module, "admin" if module in OWN_TARGETS else "write") for module in dict.fromkeys(modules))
