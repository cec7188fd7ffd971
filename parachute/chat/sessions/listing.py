"""The list of sessions as JSON, made of stored projections and kept until a session changes."""

import secrets
from collections import OrderedDict
from typing import Any

import msgspec

from parachute.chat.sessions.meaning import MeaningSearch, found_by
from parachute.chat.sessions.store import SessionStore
from parachute.core.meaning import ENOUGH

_CACHED = 16


class SessionList:
    """Pages of the list with their ETags; `by_meaning` finds what has other words."""

    def __init__(self, store: SessionStore, by_meaning: MeaningSearch) -> None:
        self._by_meaning = by_meaning
        self._store = store
        self._generation = 0
        self._boot = secrets.token_hex(4)
        self._pages: OrderedDict[tuple[Any, ...], tuple[tuple[int, int], bytes]] = OrderedDict()

    def changed(self, *, words_of: str | None = None) -> None:
        """Forget the pages that were kept; `words_of` is a session that says something else now, or is gone."""
        self._generation += 1
        if words_of is not None:
            self._by_meaning.changed(words_of)

    async def page(
        self,
        *,
        limit: int = 500,
        offset: int = 0,
        archived: bool = False,
        search: str | None = None,
        workspace: str | None = None,
        pinned: bool = False,
        passages: bool = False,
        folded: bool = False,
    ) -> tuple[str, bytes]:
        """A page as (ETag, JSON); `folded` lists one conversation of each family of branches."""
        search, workspace = (search or "").strip() or None, workspace or None
        key = (limit, offset, archived, search, workspace, pinned, passages, folded)
        generation = (self._generation, self._by_meaning.progress)
        etag = self.etag(*key)
        if (cached := self._pages.get(key)) and cached[0] == generation:
            return etag, cached[1]
        families = await self._store.families() if folded else None
        summaries = await self._store.summaries(
            limit=limit,
            offset=offset,
            archived=archived,
            search=search,
            workspace=workspace,
            pinned=pinned,
            passages=passages,
            families=families,
        )
        if search is not None:
            few = offset == 0 and len(summaries) < min(limit, ENOUGH)
            near = await self._by_meaning.find(search, len(summaries)) if few else []
            summaries = found_by(summaries, await self._store.fitting(near, archived, workspace))
            summaries = (families.first_of_each(summaries) if families else summaries)[:limit]
        body = b'{"sessions":[' + ",".join(summaries).encode() + b"]"
        if search is not None:
            count = await self._store.count_of(archived=archived)
            body += b',"searched":' + msgspec.json.encode(self._by_meaning.searched(count))
        body += b"}"
        self._pages[key] = (generation, body)
        if len(self._pages) > _CACHED:
            self._pages.popitem(last=False)
        return etag, body

    def etag(self, *key: Any) -> str:
        """The ETag that `page` would give for (limit, offset, archived, search, workspace, pinned, passages, folded)."""
        limit, offset, archived, search, workspace, *rest = key
        key = (limit, offset, archived, (search or "").strip() or None, workspace or None, *rest)
        # What is found by meaning depends on how far the index is, too.
        key = (*key, self._by_meaning.progress if key[3] else 0)
        return f'"{self._boot}-{self._generation}-{hash(key) & 0xFFFFFFFF:x}"'
