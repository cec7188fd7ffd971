"""The wing `files`: the vault for the owner's devices."""

from parachute.automation.tasks.inbox import TasksSource
from parachute.automation.tasks.service import Tasks
from parachute.files.arriving import ArrivingFiles
from parachute.files.conflicts.inbox import ConflictsSource
from parachute.files.conflicts.store import ConflictStore
from parachute.files.pages.service import WebPages
from parachute.files.search import FileSearch
from parachute.files.service import VaultFiles
from parachute.files.sync.arriving import ArrivingVersions
from parachute.files.sync.service import VaultSync
from parachute.sandbox.egress.certificates import Certificates
from parachute.server.composition.chat import ChatServices
from parachute.server.composition.events import EventServices
from parachute.server.composition.lifecycle import Lifecycle
from parachute.server.composition.llm import ModelServices
from parachute.server.composition.sandbox import SandboxServices
from parachute.server.composition.storage import Installation, Storage


async def build_files(
    installation: Installation,
    storage: Storage,
    events: EventServices,
    llm: ModelServices,
    sandbox: SandboxServices,
    chat: ChatServices,
    lifecycle: Lifecycle,
) -> tuple[VaultFiles, ArrivingFiles, FileSearch, VaultSync, ArrivingVersions, WebPages]:
    """Build what reads, writes and searches the vault for devices."""
    files = VaultFiles(
        storage.vault, installation.settings.changes, chat.changes, chat.agents.origins.moved, storage.audit
    )
    kept = installation.home.documents
    pictures = installation.settings.search.pictures
    search = FileSearch(storage.vault, llm.meaning, events.file_watcher, kept, installation.clock, pictures=pictures)
    arriving = ArrivingFiles(storage.vault, files)
    conflicts = ConflictStore(storage.vault, installation.clock)
    inbox, watcher = events.inbox, events.file_watcher
    inbox.add(ConflictsSource(storage.vault, files, conflicts, watcher, inbox.changed, installation.clock))
    sync = VaultSync(storage.vault, files, conflicts, watcher, inbox.changed)
    pages = WebPages(
        storage.vault.root, files, chat.changes.lineage, sandbox.egress, Certificates(), installation.clock
    )
    await lifecycle.start(files)
    await lifecycle.start(search.indexing)
    return files, arriving, search, sync, ArrivingVersions(storage.vault, sync), pages


def build_tasks(installation: Installation, storage: Storage, events: EventServices, files: VaultFiles) -> Tasks:
    """Build what finds the tasks in these files, and brings them into the inbox."""
    inbox, clock = events.inbox, installation.clock
    tasks = Tasks(storage.vault, installation.home.root, files, events.file_watcher, clock, inbox.changed)
    inbox.add(TasksSource(tasks, clock))
    return tasks
