"""Numbers in the environment of a small process, which has no library for settings."""

import math
from collections.abc import Mapping

from parachute.base.errors import InvalidInput


def number_in(environment: Mapping[str, str], name: str, lowest: float, highest: float, default: float) -> float:
    """The number of a variable, or `default` where it is empty; error: InvalidInput."""
    text = environment.get(name)
    if not text:
        return default
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not lowest <= number <= highest:
        raise InvalidInput(
            f"{name} is {text!r}, and a number from {lowest:g} to {highest:g} is allowed.", key="variable_not_a_number"
        )
    return number
