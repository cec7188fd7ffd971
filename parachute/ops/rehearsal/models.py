"""Checks of a rehearsal, and how it ended."""

from msgspec import Struct

from parachute.base.answers import Answer


class Check(Answer, frozen=True):
    """One thing that the new version had to do: a sentence about how it went, and in `detail` what to do next or what was said."""

    name: str
    ok: bool
    sentence: str
    detail: str | None = None


class Rehearsal(Struct, frozen=True):
    """Result of a rehearsal.

    `changes` says in sentences what the new version would change. `impossible` is the reason why nothing can be rehearsed on
    this machine: then nothing is known of the new version.
    """

    checks: tuple[Check, ...] = ()
    changes: tuple[str, ...] = ()
    impossible: str | None = None

    @property
    def ok(self) -> bool:
        """Return whether everything was tried, and went well."""
        return self.impossible is None and bool(self.checks) and all(check.ok for check in self.checks)
