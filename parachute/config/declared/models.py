"""The declared configuration as data."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from parachute.base.errors import Conflict, ParachuteError

_WHERE = "Change it where that file comes from (on NixOS in `services.parachute`), and switch to the new configuration."


class DeclarationInvalid(ParachuteError):
    """The declaration cannot be understood or trusted, so nothing starts; `message` names the file and the key."""

    status = 503
    key = "declaration_invalid"


class Declared(Conflict):
    """Something cannot be changed here, since the system's configuration declares it."""

    key = "declared"


class DeclaredModule(Struct, frozen=True):
    """A module that shall be there; `hash` has the form `sha256:<64 hex digits>`.

    Without a hash the source is an official one, and approved is what came with this program.
    """

    name: str
    source: str
    enable: bool = True
    hash: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)


class Declaration(Struct, frozen=True):
    """Everything that is declared for the user of this process; `path` is None where nothing is.

    `settings` have the shape of `config.yaml`; `workspaces` hold by slug what a person could say about one.
    """

    path: Path | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    modules: Mapping[str, DeclaredModule] = field(default_factory=dict)
    workspaces: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def invalid(self, key: str, problem: str) -> DeclarationInvalid:
        """The error for what a key says; `problem` is a sentence without its full stop."""
        return invalid(self.path, f"{key}: {problem}")

    def refusal(self, what: str, key: str) -> Declared:
        """The error for an attempt to change `what`, which `key` declares."""
        return Declared(
            f"{what} is declared by the system's configuration ({key} in {self.path}) and cannot be changed here.",
            _WHERE,
        )


NOTHING = Declaration()


def invalid(path: Path | None, problem: str) -> DeclarationInvalid:
    """The error for the whole file."""
    return DeclarationInvalid(f"{path}: {problem}.", "Nothing starts until this is fixed.")
