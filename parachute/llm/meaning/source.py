"""The source of meanings: the model that is installed here, or a server of the owner's."""

from typing import TYPE_CHECKING

from parachute.base.errors import ParachuteError
from parachute.llm.meaning.encoder import check_installed

if TYPE_CHECKING:
    # The sandbox of the index has no library for settings.
    from parachute.config.settings.groups.local_models import MeaningSettings


class Source:
    """`error` says why there is none on this machine."""

    def __init__(self, *, is_server: bool = False) -> None:
        self.kind = "server" if is_server else "built-in"
        self.error: ParachuteError | None = None
        try:
            check_installed(is_server=is_server)
        except ParachuteError as error:
            self.error = error

    @classmethod
    def of_settings(cls, settings: "MeaningSettings") -> "Source":
        """The one that the settings name."""
        return cls(is_server=settings.server is not None)

    @property
    def problem(self) -> str | None:
        """The reason why there is none."""
        return None if self.error is None else str(self.error)
