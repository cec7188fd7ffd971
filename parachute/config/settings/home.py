"""The state directory `~/.parachute`: keys, credentials, approvals, sockets and logs of one installation."""

import os
from pathlib import Path

from msgspec import Struct

from parachute.base.files import private_folder


class Home(Struct, frozen=True):
    """Names of the files in `~/.parachute`; of it, only `caches`, `runtime-plugins` and sockets in `run` are ever mounted into a sandbox."""

    root: Path

    @classmethod
    def find(cls) -> "Home":
        """The folder that PARACHUTE_HOME names, or `~/.parachute`; it is made, for its owner only."""
        return cls(private_folder(cls.named().root))

    @classmethod
    def named(cls) -> "Home":
        """The same folder, as it is: not made, and not closed to others."""
        configured = os.environ.get("PARACHUTE_HOME")
        root = Path(configured).expanduser() if configured else Path.home() / ".parachute"
        return cls(root.absolute())

    @property
    def config(self) -> Path:
        return self.root / "config.yaml"

    @property
    def credentials(self) -> Path:
        return self.root / "credentials.json"

    @property
    def servers(self) -> Path:
        """The abilities of servers of models, as they showed them."""
        return self.root / "servers.json"

    @property
    def audit_seals(self) -> Path:
        return self.root / "audit-seals.json"

    @property
    def known_approvals(self) -> Path:
        """Approvals that the server knew when it looked last, so that those made by others leave a record."""
        return self.root / "audit-approvals.json"

    @property
    def trust_database(self) -> Path:
        return self.root / "trust.db"

    @property
    def changes_database(self) -> Path:
        return self.root / "changes.db"

    @property
    def messengers_database(self) -> Path:
        """Database of messengers: admitted chats, and messages that are not answered yet."""
        return self.root / "messengers.db"

    @property
    def changes(self) -> Path:
        """Contents that runs have replaced, and changes that wait."""
        return self.root / "changes"

    @property
    def logs(self) -> Path:
        return private_folder(self.root / "logs")

    @property
    def run(self) -> Path:
        """Sockets and process ids; everything in it may be removed while nothing runs."""
        return private_folder(self.root / "run")

    @property
    def pid_file(self) -> Path:
        return self.run / "supervisor.pid"

    @property
    def control_socket(self) -> Path:
        return self.run / "supervisor.sock"

    @property
    def sandboxes(self) -> Path:
        """Specifications of sandboxes, one 0600 file each, which the fixed unit template reads."""
        return private_folder(self.root / "sandboxes")

    @property
    def caches(self) -> Path:
        """Caches of package managers that sandboxes write; everything in it may be removed while none runs."""
        return private_folder(self.root / "caches")

    @property
    def runtime_plugins(self) -> Path:
        """Skills as agents' programs read them, a folder by the hash of its content; everything in it may be removed while none runs."""
        return self.root / "runtime-plugins"

    @property
    def meaning(self) -> Path:
        """The index of meanings, and what its model keeps; everything in it may be removed, and is made again."""
        return self.root / "meaning"

    @property
    def documents(self) -> Path:
        """The texts of documents in the vault; everything in it may be removed, and is read again."""
        return self.root / "documents"

    @property
    def sync(self) -> Path:
        """The memory of folders that this device keeps the same as the vault of another computer, each with its key."""
        return private_folder(self.root / "sync")

    @property
    def views(self) -> Path:
        """Changes by sandboxed agents to their projects, a folder per session, until they are applied."""
        return private_folder(self.root / "views")

    @property
    def sandbox_worked(self) -> Path:
        """Is there as soon as a sandbox has worked on this computer."""
        return self.root / "sandbox-worked"

    @property
    def views_worked(self) -> Path:
        """Is there as soon as an agent's view has worked on this computer."""
        return self.root / "views-worked"

    @property
    def installation(self) -> str:
        """Eight characters that distinguish two installations on one machine."""
        import hashlib  # it loads a large library, and starting a sandbox needs no such name

        return hashlib.sha256(os.fsencode(self.root)).hexdigest()[:8]
