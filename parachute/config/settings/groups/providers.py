"""Further providers of models, by name."""

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from parachute.config.settings.groups.values import Address, Group

MAIN = "main"
"""The name of the provider that `provider`, `base_url` and `model` describe."""

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")


class NamedProvider(Group):
    """A provider that conversations choose by its name; its secret is in `credentials.json`."""

    kind: Literal["anthropic", "compatible", "offline"] = "compatible"
    base_url: Address | None = None
    model: str | None = None
    allowed_models: list[str] = ["*"]
    at_home: bool | None = None

    @model_validator(mode="after")
    def _whole(self) -> "NamedProvider":
        if (self.kind == "compatible") != (self.base_url is not None):
            raise ValueError("a `compatible` provider needs a base_url, and the others have none")
        if self.kind == "anthropic" and self.at_home:
            raise ValueError("Anthropic is not at home")
        return self


def checked_name(value: str) -> str:
    """A name that a provider can have; error: ValueError."""
    if not _NAME.fullmatch(value) or value == MAIN:
        raise ValueError(f"expected names of a-z, 0-9, - and _, other than {MAIN}, not {value[:60]!r}")
    return value


Providers = Annotated[dict[Annotated[str, AfterValidator(checked_name)], NamedProvider], Field(max_length=50)]
