"""The base of every group of settings, and the kinds of values that several take."""

import re
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict

from parachute.base.errors import InvalidInput

LARGEST_MEGABYTES = 1 << 24
"""16 TB: what is counted in bytes, and given to the system, stays far from 64 bits."""

LONGEST_MINUTES = 100 * 366 * 24 * 60
"""A hundred years: as good as for ever, and the system's clocks can still count it."""

MOST_DOLLARS = 10**9
MOST_TOKENS = 10**12
"""The largest limits of spending, which hold nobody back."""


def _expanded(path: Path) -> Path:
    if path == Path() or "\0" in str(path):
        raise ValueError("expected the name of a file or folder")
    try:
        return path.expanduser().absolute()
    except RuntimeError as error:
        raise ValueError("expected a path; this one begins with an unknown user") from error


def _address(value: str) -> str:
    parts = urlsplit(value)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise ValueError("expected an address such as http://127.0.0.1:11434")
    return value


def _off(value: object) -> object:
    # YAML reads this word as false.
    return "off" if value is False else value


def _time(value: object) -> object:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 24 * 60:
        # YAML takes 21:30 without quotes for a number of base 60.
        value = f"{value // 60:02}:{value % 60:02}"
    if value is not None and not (isinstance(value, str) and re.fullmatch(r"([01][0-9]|2[0-3]):[0-5][0-9]", value)):
        raise ValueError("expected a time of the day, such as 06:30")
    return value


def host(value: str) -> str:
    """A name of a host, or one such as `*.example.org`; error: ValueError."""
    # Not at the top: most of what reads settings needs nothing of the library for modules.
    from parachute.core.agents import host_name

    try:
        return host_name(value, "hosts")
    except InvalidInput as error:
        raise ValueError(error.message) from error


ExpandedPath = Annotated[Path, AfterValidator(_expanded)]
Address = Annotated[str, AfterValidator(_address)]
Host = Annotated[str, AfterValidator(host)]
TimeOfDay = BeforeValidator(_time)
Off = BeforeValidator(_off)


class Group(BaseModel):
    """Settings that belong together; unknown names are errors."""

    model_config = ConfigDict(extra="forbid")
