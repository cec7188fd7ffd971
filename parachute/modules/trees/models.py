"""Limits of what is fetched, and its progress."""

from typing import Protocol

from msgspec import Struct


class Limits(Struct, frozen=True):
    """Limits of an installation; sizes in bytes."""

    files: int = 20_000
    source_bytes: int = 200 * 1024 * 1024
    """Of the module itself, without the history of its repository."""
    clone_bytes: int = 500 * 1024 * 1024
    """Of what git fetches, in packed form."""
    clone_seconds: float = 600
    packages_bytes: int = 2 * 1024 * 1024 * 1024
    packages_seconds: float = 1800
    wait_seconds: float = 600
    """For another installation to end."""


class Progress(Protocol):
    """Progress of an installation, for whoever watches."""

    def step(self, text: str) -> None:
        """One line that stays."""

    def detail(self, text: str) -> None:
        """A line that the next one replaces."""


class Silent:
    """A progress that nobody watches."""

    def step(self, text: str) -> None:
        """Say nothing."""

    def detail(self, text: str) -> None:
        """Say nothing."""
