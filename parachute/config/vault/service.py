"""The folders of the vault, and paths inside it."""

from pathlib import Path

from msgspec import Struct

from parachute.base.errors import InvalidInput, Unavailable
from parachute.base.files import private_folder
from parachute.base.folders import Folder

_NAME_LIMIT, _PATH_LIMIT = 255, 4096  # bytes: linux/limits.h


class Vault(Struct, frozen=True):
    """A vault on this machine."""

    root: Path

    def prepare(self) -> None:
        """Make the folders that the computer itself needs; error: Unavailable if the vault cannot be written."""
        try:
            self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
            for folder in (self.state, self.transcripts, self.transcripts / "projects"):
                private_folder(folder)
            # Where each of them is opened later, its path is taken as it is.
            with Folder.open(self.state) as state:
                linked = [entry.name for entry in state.entries() if entry.is_symlink()]
        except OSError as error:
            raise Unavailable(
                f"The vault {self.root} cannot be used: {error.strerror}.",
                "`parachute vault set <path>` names another folder.",
                key="vault_unusable",
            ) from error
        if linked:
            raise Unavailable(
                f"{self.state / min(linked)} is a link; the computer keeps its data in the vault itself.",
                "Remove the link, or put what it leads to in its place.",
                key="not_a_folder",
            )

    def private_folder(self, *names: str) -> Path:
        """A folder of the computer's own below the vault, made if need be; error: Unavailable where a link leads elsewhere.

        The path is that of the vault without links.
        """
        root = self.root.resolve()
        return private_folder(root.joinpath(*names), below=root)

    @property
    def state(self) -> Path:
        """Databases, audit and attachments; never mounted into a sandbox."""
        return self.root / ".parachute"

    @property
    def transcripts(self) -> Path:
        """The transcripts, below `projects`; the agent's program keeps its configuration elsewhere."""
        return self.root / ".claude"

    def top_level_folders(self) -> list[Path]:
        """Folders directly in the vault that an agent may see: no links, no hidden ones."""
        return sorted(
            path
            for path in self.root.iterdir()
            if not path.name.startswith(".") and path.is_dir() and not path.is_symlink()
        )

    def relative(self, path: Path) -> str:
        """A path as it is stored: relative to the vault when inside, so that a vault can move."""
        try:
            return str(path.relative_to(self.root))
        except ValueError:
            return str(path)

    def absolute(self, stored: str) -> Path:
        """The path that `relative` stored; `~` stands for the user's home."""
        if "\0" in stored:
            raise InvalidInput("path: must not contain a zero byte.", key="path_zero_byte")
        if len(stored.encode(errors="replace")) >= _PATH_LIMIT or any(
            len(part.encode(errors="replace")) > _NAME_LIMIT for part in stored.split("/")
        ):
            raise InvalidInput(f"path: {stored[:80]!r}… is longer than the names of files can be.", key="path_too_long")
        try:
            path = Path(stored).expanduser()
        except RuntimeError as error:
            raise InvalidInput(f"path: {stored[:80]!r} names an unknown user.", key="path_unknown_user") from error
        return path if path.is_absolute() else self.root / path
