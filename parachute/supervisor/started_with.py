"""Settings that came with the environment of the shell which started the computer."""

import os

_PREFIX = "PARACHUTE_"


def settings_of_environment() -> dict[str, str]:
    """Variables by their names, in capital letters; credentials are never among them."""
    return {name.upper(): value for name, value in os.environ.items() if name.upper().startswith(_PREFIX)}
