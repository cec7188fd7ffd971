"""Sessions: their rows, transcripts and search, and how far each is trusted."""

from msgspec import Struct

from parachute.chat.sessions.endings import Endings
from parachute.chat.sessions.meaning import ConversationMeanings
from parachute.chat.sessions.rebuilding import Rebuilding
from parachute.chat.sessions.reindexing import Reindexing
from parachute.chat.sessions.service import Sessions
from parachute.chat.sessions.store import SessionStore
from parachute.chat.sessions.transcripts import Transcripts
from parachute.chat.sessions.trust_store import TrustStore
from parachute.chat.sessions.versions import Versions
from parachute.chat.workspaces.store import WorkspaceStore
from parachute.llm.meaning.service import MeaningIndex
from parachute.server.composition.events import EventServices
from parachute.server.composition.lifecycle import Lifecycle
from parachute.server.composition.storage import Storage


class SessionServices(Struct, frozen=True, kw_only=True):
    """Sessions, and the stores that belong to them; `endings` are still to be published."""

    sessions: Sessions
    store: SessionStore
    trust: TrustStore
    workspaces: WorkspaceStore
    endings: Endings
    versions: Versions


async def build_sessions(
    storage: Storage, events: EventServices, meaning: MeaningIndex, lifecycle: Lifecycle
) -> SessionServices:
    """Read the sessions; a list that was lost is rebuilt from the transcripts while the server runs."""
    store, trust, workspaces = SessionStore(storage.sessions), TrustStore(storage.trust), WorkspaceStore(storage.trust)
    await workspaces.load()
    meanings = await lifecycle.start(ConversationMeanings(store, meaning))
    transcripts, endings = Transcripts(storage.vault), Endings(storage.sessions)
    sessions = Sessions(
        storage.vault, store, trust, transcripts, events.events, meanings, endings.closed.set, workspaces
    )
    await sessions.start()
    if storage.sessions.path.name in storage.replaced or not await store.is_rebuilt():
        await lifecycle.start(Rebuilding(sessions, store, trust))
    await lifecycle.start(Reindexing(store, sessions.listing))
    return SessionServices(
        sessions=sessions,
        store=store,
        trust=trust,
        workspaces=workspaces,
        endings=endings,
        versions=Versions(sessions, store),
    )
