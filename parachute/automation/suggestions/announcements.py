"""Announcements about suggestions: events on the bus, and records of the audit log."""

import asyncio
import logging

from parachute.automation.suggestions.models import Suggestion
from parachute.automation.suggestions.store import SuggestionStore
from parachute.base.errors import ParachuteError
from parachute.events.bus.catalogue import SUGGESTION_CREATED, SUGGESTION_RESOLVED
from parachute.events.bus.service import Events
from parachute.security.audit.service import Audit

log = logging.getLogger(__name__)


class Announcements:
    """Publishes and records statuses."""

    def __init__(self, store: SuggestionStore, events: Events, audit: Audit) -> None:
        self._store = store
        self._events = events
        self._audit = audit
        self._publishing = asyncio.Lock()

    async def publish(self) -> None:
        """Publish every status that was not published yet; what cannot be now is with the next one, or the next start."""
        async with self._publishing:
            for suggestion in await self._store.unpublished():
                try:
                    await self._publish_one(suggestion)
                except ParachuteError as error:
                    log.warning("The event of the suggestion %s is not published yet: %s", suggestion.id, error)
                    return

    async def _publish_one(self, suggestion: Suggestion) -> None:
        data = {
            "id": suggestion.id,
            "source_agent": suggestion.source_agent,
            "source_session": suggestion.source_session,
            "action": suggestion.action,
            "target_module": suggestion.target_module,
            "target_id": suggestion.target_id,
            "status": suggestion.status,
            "resolved_by": suggestion.resolved_by,
        }
        name = SUGGESTION_CREATED if suggestion.status == "pending" else SUGGESTION_RESOLVED
        await self._events.publish(name, data)
        await self._store.mark_published(suggestion)

    def record(self, suggestion: Suggestion, success: bool, error: str | None, undone_by: str | None = None) -> None:
        """Record in the audit log what became of one."""
        proposed = ("agent" if suggestion.source_session else "module", suggestion.source_session)
        source, identifier = ("user", undone_by) if undone_by else proposed
        self._audit.append(
            event_type="suggestion",
            source_type=source,
            source_id=identifier or suggestion.source_agent,
            target_module=suggestion.target_module,
            target_endpoint=f"suggestion {suggestion.id} {'undone' if undone_by else suggestion.status}",
            para_ids_involved=(suggestion.target_id,) if suggestion.target_id else (),
            origin=suggestion.origin,
            success=success,
            error=error,
        )
