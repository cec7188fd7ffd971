"""The emergency kit as a text: what a new computer needs to open the backups, one line each, so that it fits into a QR code."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from parachute.base.errors import InvalidInput
from parachute.ops.backup.access import SECRETS, Access

TITLE = "Parachute backup kit 1"
_PLACE, _PASSWORD, _ID = "place", "password", "id"
_LONGEST = 8000
_LATER = re.compile(r"Parachute backup kit \d+")

Need = Literal["ssh_key", "rclone", "google"]

_NEEDS: Mapping[str, Need] = {"sftp": "ssh_key", "rclone": "rclone", "gs": "google"}
"""Needs of a place that a page cannot hold: files of the computer that uses it."""


@dataclass(frozen=True, slots=True)
class Kit:
    """The place of the backups, the password that opens them, the place's own credentials, and the repository's fingerprint."""

    repository: str
    password: str = field(repr=False)
    variables: Mapping[str, str] = field(default_factory=dict, repr=False)
    identity: str | None = None

    @classmethod
    def of(cls, access: Access, password: str, identity: str) -> "Kit":
        """The kit of a repository: of its credentials what can be typed, and no file of this computer."""
        variables = {name: value for name, value in access.variables.items() if name in SECRETS}
        return cls(access.repository, password, variables, identity)

    @property
    def text(self) -> str:
        """The kit as a QR code has it."""
        lines = {_PLACE: self.repository, _PASSWORD: self.password, **({_ID: self.identity} if self.identity else {})}
        return "\n".join([TITLE, *(f"{name}: {value}" for name, value in {**lines, **self.variables}.items())])

    @property
    def needs(self) -> Need | None:
        """Return the place's need that no kit holds: `ssh_key`, `rclone` or `google`; None if the kit is enough."""
        return _NEEDS.get(self.repository.partition(":")[0])


def parse(text: str) -> Kit:
    """The kit in a text that was scanned or typed; error: InvalidInput, which says nothing of what stands there."""
    lines = [line.strip() for line in text[:_LONGEST].splitlines() if line.strip()]
    if len(text) > _LONGEST or not lines or lines[0] != TITLE:
        if lines and lines[0] != TITLE and _LATER.fullmatch(lines[0]):
            raise InvalidInput(
                "This emergency kit is of a later version.", "Update this computer first.", key="kit_too_new"
            )
        raise InvalidInput("This is not an emergency kit.", f"Its text begins with “{TITLE}”.", key="no_kit")
    found: dict[str, str] = {}
    for number, line in enumerate(lines[1:], 2):
        name, colon, value = line.partition(":")
        if not colon or name not in {_PLACE, _PASSWORD, _ID, *SECRETS} or name in found or not value.strip():
            raise InvalidInput(
                f"Line {number} of the emergency kit cannot be read.",
                "Scan it again, or type the password.",
                key="kit_line_unreadable",
            )
        found[name] = value.strip()
    if not found.keys() >= {_PLACE, _PASSWORD}:
        raise InvalidInput(
            "The emergency kit is not complete.", "Scan it again, or type the password.", key="kit_incomplete"
        )
    variables = {name: value for name, value in found.items() if name in SECRETS}
    return Kit(found[_PLACE], found[_PASSWORD], variables, found.get(_ID))


def fingerprint(identity: str) -> str:
    """The beginning of a repository's id, as people compare it: XXXX-XXXX-XXXX-XXXX."""
    return "-".join(identity[start : start + 4] for start in range(0, 16, 4))
