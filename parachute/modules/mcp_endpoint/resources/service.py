"""Resources for one caller: what is left out is in no list, and an address of it looks like one of nothing."""

import base64
from collections.abc import AsyncIterator, Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

from parachute.base.clock import Clock
from parachute.base.errors import ParachuteError
from parachute.base.mcp_messages import INVALID_PARAMS, NO_RESOURCE, Wrong
from parachute.modules.mcp_endpoint.policy import FILES, Passed, Policy, shortened
from parachute.modules.mcp_endpoint.resources.files import Files
from parachute.modules.mcp_endpoint.resources.knowledge import Entities, Entries
from parachute.modules.mcp_endpoint.resources.models import Offer, Shown, Source
from parachute.modules.runtime.service import Hosts

if TYPE_CHECKING:
    from cryptography.fernet import Fernet

PolicyNow = Callable[[], Policy]
"""The policy of a caller as it is now: it may have been narrowed meanwhile. Error: GrantEnded."""

_SCHEME = "parachute://"
_PAGE = 100
_LONGEST_ADDRESS = 5000
_SECONDS, _MOST_LEFT_OUT = 20.0, 2000
"""Limits of what one page may take, and of the records that are read for it and not shown."""


class Resources:
    """Everything that can be listed and read, from several sources, one after the other."""

    def __init__(self, hosts: Hosts, vault: Path, clock: Clock) -> None:
        self._hosts = hosts
        self._clock = clock
        self._sources: Sequence[Source] = (Entries(hosts), Entities(hosts), Files(vault, clock))

    @cached_property
    def _places(self) -> "Fernet":
        """The key of cursors: a place in a source would tell how much of it was left out."""
        from cryptography.fernet import Fernet  # a fiftieth of the start, and most lists have one page

        return Fernet(Fernet.generate_key())

    @property
    def offers(self) -> list[Offer]:
        """The kinds of resources that there are now: without its module one has nothing."""
        modules = {"vault", *(each.module.name for each in self._hosts.running())}
        return [each.offer for each in self._sources if each.offer.module in modules]

    async def page(self, now: PolicyNow, cursor: object) -> tuple[dict[str, Any], Passed]:
        """A page of what may be shown, and what is in it; errors: Wrong, ParachuteError."""
        try:
            async with self._clock.timeout(_SECONDS):
                return await self._page(now, cursor)
        except TimeoutError as error:
            raise _too_long() from error

    async def _page(self, now: PolicyNow, cursor: object) -> tuple[dict[str, Any], Passed]:
        shown: list[dict[str, Any]] = []
        paths: list[str] = []
        answer: dict[str, Any] = {"resources": shown}
        async for number, position, each, path in self._allowed(now, *self._place(cursor)):
            if len(shown) == _PAGE:
                answer["nextCursor"] = self._cursor(number, position)
                break
            shown.append(_described(self._sources[number].offer, each))
            paths.append(path)
        text = "\n".join(f"{each['name']} {each['description']}" for each in shown)
        return answer, Passed(text, tuple(paths)[:FILES])

    async def read(self, now: PolicyNow, address: object) -> tuple[dict[str, Any], Passed]:
        """The content of one, and what it is; errors: Wrong, ParachuteError."""
        missing = Wrong(NO_RESOURCE, "There is no such resource for this key.")
        found = self._of(address)
        if found is None or found[0].offer not in self.offers or not now().has(found[0].offer.name):
            raise missing
        source, key = found
        try:
            record = await source.find(key)
        except ParachuteError as error:
            raise missing if error.status < 500 else _masked(error) from error
        policy = now()
        if record is None or not policy.has(source.offer.name) or not await policy.may_leave(record, source.shape):
            raise missing
        content = await source.content(record)
        each = source.shown(record)
        said = {"uri": _address(source.offer, each.key), "mimeType": each.type}
        if isinstance(content, bytes):
            said["blob"], text = base64.b64encode(content).decode(), ""
        else:
            said["text"] = text = shortened(content)
        return {"contents": [said]}, Passed(text, (str(record["path"]),), (each.key,))

    def templates(self, policy: Policy) -> list[dict[str, Any]]:
        """The addresses of those that a policy lets be read, with what is put into them."""
        return [
            {
                "uriTemplate": f"{_SCHEME}{each.word}/{{{each.variable}}}",
                "name": each.word,
                "title": each.title,
                "description": each.description,
            }
            for each in self.offers
            if policy.has(each.name)
        ]

    async def _allowed(self, now: PolicyNow, first: int, start: int) -> AsyncIterator[tuple[int, int, Shown, str]]:
        """Everything that may be shown from a place on: number of the source, place in it, what is shown, and its path."""
        left_out = 0
        for number in range(first, len(self._sources)):
            source, place = self._sources[number], _start(start, is_first=number == first)
            if source.offer not in self.offers:
                continue
            while place is not None and _may_show(asked := now(), source):
                try:
                    page = await source.page(asked, place)
                except ParachuteError as error:
                    raise _masked(error) from error
                if not (policy := now()).has(source.offer.name):
                    break
                for position, record in enumerate(page.records, place):
                    if await policy.may_leave(record, source.shape) and (each := source.shown(record)).key:
                        yield number, position, each, str(record["path"])
                    elif (left_out := left_out + 1) > _MOST_LEFT_OUT:
                        raise _too_long()
                place = page.next

    def _of(self, address: object) -> tuple[Source, str] | None:
        if not isinstance(address, str) or len(address) > _LONGEST_ADDRESS or not address.startswith(_SCHEME):
            return None
        word, _, key = address.removeprefix(_SCHEME).partition("/")
        source = next((each for each in self._sources if each.offer.word == word), None)
        return (source, unquote(key)) if source and key else None

    def _cursor(self, number: int, position: int) -> str:
        return self._places.encrypt(f"{number} {position:012}".encode()).decode()

    def _place(self, cursor: object) -> tuple[int, int]:
        if cursor is None:
            return 0, 0
        from cryptography.fernet import InvalidToken

        try:
            number, position = self._places.decrypt(str(cursor).encode()).split()
        except (InvalidToken, ValueError):
            raise Wrong(
                INVALID_PARAMS, "cursor: it is not one of this computer, or of before its last start."
            ) from None
        return int(number), int(position)


def _may_show(policy: Policy, source: Source) -> bool:
    """Return whether a policy lets anything of a source leave, as far as its kind tells."""
    return policy.has(source.offer.name) and (source.shape.kind is None or policy.has_kind(source.shape.kind))


def _masked(error: ParachuteError) -> ParachuteError:
    # A sentence could name what is kept back.
    return ParachuteError("This could not be read.", key=error.key, status=error.status)


def _too_long() -> ParachuteError:
    return ParachuteError(
        "To list this takes too long: nearly all that would be read for it is left out.",
        "Search with a tool, or ask the owner for whole folders and for the days that you need.",
        status=503,
        key="list_takes_too_long",
    )


def _start(place: int, *, is_first: bool) -> int | None:
    return place if is_first else 0


def _address(offer: Offer, key: str) -> str:
    return f"{_SCHEME}{offer.word}/{quote(key, safe='/:')}"


def _described(offer: Offer, each: Shown) -> dict[str, Any]:
    said = {"uri": _address(offer, each.key), "name": each.name, "description": each.description, "mimeType": each.type}
    return said if each.size is None else {**said, "size": each.size}
