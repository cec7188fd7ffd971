"""The vault, the databases and the audit log: what every other part stores things in."""

import asyncio
import time
from functools import partial
from pathlib import Path

from msgspec import Struct

from parachute.automation.suggestions import store as suggestion_store
from parachute.automation.transcription import store as transcription_store
from parachute.base.clock import SYSTEM, Clock
from parachute.base.database import Database
from parachute.base.unfinished import remove_unfinished
from parachute.changes import store as change_store
from parachute.chat.network.store import create_host_decisions
from parachute.chat.repositories.store import create_repository_decisions
from parachute.chat.runs import store as run_store
from parachute.chat.sessions import migrations
from parachute.chat.workspaces.store import create_workspaces
from parachute.config.settings.home import Home
from parachute.config.settings.models import Settings
from parachute.config.vault.place import MARK, VaultPlace
from parachute.config.vault.service import Vault
from parachute.config.vault.watch import VaultWatch
from parachute.connectors.chats.store import add_earlier_ids, create_chats
from parachute.connectors.deliveries.store import create_deliveries
from parachute.connectors.notices.store import create_notices
from parachute.connectors.pairing.store import create_pairing
from parachute.connectors.updates.store import create_updates
from parachute.events.bus import store as event_store
from parachute.llm.gateway.limits import create_spending_limits
from parachute.llm.gateway.store import add_subjects, add_subscription_tokens, add_unpriced, create_usage
from parachute.modules.registry.service import Modules
from parachute.ops.forget import ordering
from parachute.ops.recovery.service import Recovery
from parachute.sandbox.egress.internet import Connect, Resolve
from parachute.security.audit.service import Audit
from parachute.security.keys.service import Keys
from parachute.security.mcp_clients.service import McpClients
from parachute.server.composition.lifecycle import Lifecycle
from parachute.supervisor.credentials import Credentials

_PAGE_SIZE = 1024
"""Bytes; a turn changes a handful of small rows, and every changed page is written whole. Lists of very many sessions
are slower with small pages, so that theirs are twice as large."""
_MESSENGER_TABLES = (
    create_updates,
    create_chats,
    create_pairing,
    create_deliveries,
    create_notices,
    add_earlier_ids,
)


class Installation(Struct, frozen=True, kw_only=True):
    """Everything known before anything is opened; by `clock` every part of the server waits, expires and turns its days.

    `resolve` and `connect` stand for the name server and the network, which without them are the system's.
    """

    home: Home
    settings: Settings
    credentials: Credentials
    keys: Keys
    mcp_clients: McpClients
    modules: Modules
    clock: Clock = SYSTEM
    resolve: Resolve | None = None
    connect: Connect | None = None


class Storage(Struct, frozen=True, kw_only=True):
    """Open databases; `replaced` are the names of those that were damaged or gone and begin anew."""

    vault: Vault
    audit: Audit
    recovery: Recovery
    sessions: Database
    runs: Database
    events: Database
    suggestions: Database
    trust: Database
    changes: Database
    messengers: Database
    watch: VaultWatch
    replaced: frozenset[str]


async def open_storage(installation: Installation, lifecycle: Lifecycle) -> Storage:
    """Open the databases, whatever became of them; error: ParachuteError."""
    home, keys = installation.home, installation.keys
    vault = Vault(installation.settings.vault)
    place = VaultPlace(home.root, vault.root)
    place.check()
    vault.prepare()
    if (home.root / ordering.ORDER).exists():
        from parachute.ops.forget import starting  # hardly ever

        await starting.finish(home, vault.root)
    collecting = asyncio.create_task(
        asyncio.to_thread(remove_unfinished, _written(home, vault), time.time()), name="unfinished files"
    )
    lifecycle.finishing(collecting.cancel)
    audit = await lifecycle.start(_audit(installation, vault))
    sessions = Database(vault.state / "sessions.db", migrations.ALL, page_size=2 * _PAGE_SIZE)
    runs = Database(vault.state / "runs.db", run_store.ALL, page_size=run_store.PAGE_SIZE)
    events = Database(vault.state / "events.db", (*event_store.ALL, *transcription_store.ALL))
    suggestions = Database(vault.state / "suggestions.db", suggestion_store.ALL)
    trust_tables = (
        create_usage,
        *migrations.TRUST,
        create_workspaces,
        create_host_decisions,
        create_repository_decisions,
        add_subscription_tokens,
        add_subjects,
        create_spending_limits,
        add_unpriced,
    )
    trust = Database(home.trust_database, trust_tables, page_size=_PAGE_SIZE)
    changes = Database(home.changes_database, change_store.ALL)
    messengers = Database(home.messengers_database, _MESSENGER_TABLES, page_size=_PAGE_SIZE)
    databases = [sessions, runs, events, suggestions, trust, changes, messengers]
    recovery = Recovery(home.root, installation.clock)
    lifecycle.closing(recovery.close)
    for database in databases:
        lifecycle.closing(database.close)
    replaced = await recovery.open(databases)
    if await asyncio.to_thread(place.settle):
        recovery.say_another(vault.state / MARK)
    watch = await lifecycle.start(VaultWatch(place, partial(_lose_vault, home), installation.clock))
    recovery.start()
    recovery.watch_keys(keys.store.path, are_gone=keys.are_gone)
    return Storage(
        vault=vault,
        audit=audit,
        recovery=recovery,
        sessions=sessions,
        runs=runs,
        events=events,
        suggestions=suggestions,
        trust=trust,
        changes=changes,
        messengers=messengers,
        watch=watch,
        replaced=frozenset(replaced),
    )


def _audit(installation: Installation, vault: Vault) -> Audit:
    kept = installation.settings.audit
    return Audit(
        vault.state / "audit",
        installation.home.audit_seals,
        clock=installation.clock,
        keep_days=kept.keep_days,
        keep_megabytes=kept.keep_megabytes,
    )


async def _lose_vault(home: Home) -> None:
    from parachute.server.without_vault import end_at_once  # hardly ever

    await end_at_once(home)


def _written(home: Home, vault: Vault) -> list[Path]:
    """Folders in which only this computer's own programs write files by way of another name."""
    return [home.root, vault.state, *(vault.root / name for name in ("Daily", "Brain", "Chat"))]
