"""The text of a notice: as much as the owner chose, and answers only below all that they are about."""

import hmac
import json
from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct

from parachute.connectors.notices.shown import choices
from parachute.connectors.push.models import encoded
from parachute.connectors.texts import Language, say
from parachute.events.inbox.cards import kinds
from parachute.events.inbox.models import Item

Says = Literal["waits", "kind", "title"]

_SHOWN = 240
"""Characters that a phone shows of a notice."""

_TITLE = 100
_MOST_ACTIONS = 2
_KINDS = {
    "problem",
    "question",
    "permission",
    "reminder",
    "suggestion",
    "task",
    "update",
    "host",
    "repository",
    "spending",
}
_INBOX = "/#/inbox"

RUN = "run"
"""The kind of what is told of a run that has ended: nothing of it waits, so that it is in no inbox."""


class Content(Struct, frozen=True):
    """The words that are shown; `tag` is common to those that replace each other, `url` opens with it. An answer is of `item` as it has this `hash`.

    `failed` is what the device says where an answer does not arrive.
    """

    title: str
    body: str
    tag: str
    url: str
    failed: str = ""
    item: str | None = None
    hash: str | None = None
    actions: tuple[Mapping[str, Any], ...] = ()

    def topic(self, secret: str) -> str:
        """The name under which a push service replaces it (RFC 8030), in at most 32 characters.

        By the secret of the device it tells nothing: neither which notices of others are the same, nor which tag was guessed.
        """
        return encoded(hmac.digest(secret.encode(), self.tag.encode(), "sha256")[:24])


def of_item(item: Item, says: Says, language: Language) -> Content:
    """The notice of an item of the inbox, or of a run that has ended."""
    if says == "waits":
        return Content(say(language, "push_waits"), "", "waits", _INBOX)
    if item.kind == RUN:
        title = say(language, "push_run_failed" if item.details["failed"] else "push_run_ended")
        body = item.title[:_TITLE] if says == "title" else ""
        return Content(title, body, f"run:{item.session}", f"/#/chat/{item.session}")
    title = say(language, f"push_{item.kind if item.kind in _KINDS else 'other'}")
    if item.kind == "problem" and item.details.get("check") == "backup":
        title = say(language, "push_backup")
    found = Content(title, "", item.id, f"{_INBOX}/{item.id}", say(language, "push_failed"), item.id, item.hash)
    if says == "kind":
        return found
    whole = "\n".join(dict.fromkeys(filter(None, (item.title, *kinds()[item.kind].lines(item.details)))))
    offered = choices(item, language) if len(whole) <= _SHOWN else ()
    return Content(
        title,
        whole if len(whole) <= _SHOWN else f"{whole[: _SHOWN - 1]}…",
        found.tag,
        found.url,
        found.failed,
        item.id,
        item.hash,
        tuple(
            {
                "title": each.label,
                "answer": each.word,
                "values": dict([json.loads(each.question)] if each.question else []),
            }
            for each in (offered if len(offered) <= _MOST_ACTIONS else ())
        ),
    )


def of_test(language: Language) -> Content:
    """A notice that shows that notices arrive."""
    return Content(say(language, "push_test"), say(language, "push_test_body"), "test", "/#/keys")
