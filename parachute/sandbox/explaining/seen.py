"""What a look from inside of a box found, believed as little as anything that comes out of a box."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError

from parachute.errors import Unavailable

_Text = Annotated[str, StringConstraints(max_length=5000)]


class Seen(BaseModel):
    """The answer of `parachute_runner.look`; outcomes of attempts are `done` or the name of an error."""

    model_config = ConfigDict(strict=True, frozen=True)

    user: list[int]
    status: dict[_Text, _Text]
    namespaces: dict[_Text, _Text]
    interfaces: list[_Text]
    places: dict[_Text, _Text]
    writes: dict[_Text, _Text]
    files: dict[_Text, list[int]]
    sizes: dict[_Text, int]
    reads: dict[_Text, _Text]
    connects: dict[_Text, _Text]
    resolves: dict[_Text, _Text]
    environment: list[_Text]
    group: dict[_Text, float | None]
    limits: dict[_Text, int]
    recipe: _Text

    @classmethod
    def read(cls, answer: bytes) -> "Seen":
        """The answer of a runner; error: Unavailable if it is none."""
        try:
            return cls.model_validate_json(answer)
        except ValidationError as error:
            raise Unavailable(
                "What the look inside the box found cannot be read.",
                "Restart the computer, so that the box is made anew: parachute restart",
            ) from error
