"""The wing `files`: the vault for the owner's devices."""

from parachute.files.service import VaultFiles
from parachute.server.composition.chat import ChatServices
from parachute.server.composition.lifecycle import Lifecycle
from parachute.server.composition.storage import Installation, Storage


async def build_files(
    installation: Installation, storage: Storage, chat: ChatServices, lifecycle: Lifecycle
) -> VaultFiles:
    """Build what reads and writes the vault for devices."""
    files = VaultFiles(storage.vault, installation.settings.changes, chat.changes, storage.audit)
    return await lifecycle.start(files)
