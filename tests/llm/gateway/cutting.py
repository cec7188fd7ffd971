"""Kills the choice of a provider at every step in which it changes a file: `python -m tests.llm.gateway.cutting HOME`.

Prints a JSON list, a case for each provider of before and each choice: at each step, which server gets which secret.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from parachute.base.errors import ParachuteError
from parachute.config.settings.home import Home
from parachute.config.settings.models import Settings
from parachute.config.settings.store import load
from parachute.llm.gateway.choice import ProviderChoice, write_choice
from parachute.llm.gateway.credentials import CredentialSource
from tests.support.crashing import at_every_step

from .asking import asked

ANTHROPIC = "https://api.anthropic.com"
SERVER, OLD_SERVER = "http://192.168.1.5:11434", "http://192.168.1.6:1234"
OLD_KEY, NEW_KEY = "sk-ant-api03-the-old-one", "sk-ant-api03-the-new-one"
OLD_WORD, NEW_WORD = "sk-of-the-old-server", "sk-of-the-new-server"
BELONGS = {OLD_KEY: ANTHROPIC, NEW_KEY: ANTHROPIC, OLD_WORD: OLD_SERVER, NEW_WORD: SERVER}

BEFORE: dict[str, tuple[dict[str, str], str]] = {
    "anthropic": ({"provider": "anthropic"}, OLD_KEY),
    "anthropic, written by hand": ({}, OLD_KEY),
    "compatible": ({"provider": "compatible", "base_url": OLD_SERVER}, OLD_WORD),
    "a server by its address": ({"base_url": OLD_SERVER}, OLD_WORD),
}
CHOICES = {
    "a server without a secret": ProviderChoice("compatible", None, SERVER),
    "a server": ProviderChoice("compatible", NEW_WORD, SERVER, "m"),
    "anthropic": ProviderChoice("anthropic", NEW_KEY),
    "offline": ProviderChoice("offline"),
}


def main() -> None:
    """Every choice after every provider."""
    home = Home(Path(sys.argv[1]))
    home.root.mkdir(mode=0o700)
    cases = [
        {"before": before, "choice": choice, "belongs": BELONGS, "steps": _steps(home, before, choice)}
        for before in BEFORE
        for choice in CHOICES
    ]
    json.dump(cases, sys.stdout)


def _steps(home: Home, before: str, choice: str) -> list[dict[str, Any]]:
    settings, secret = BEFORE[before]
    source = CredentialSource(home, {}, home.root / "nobody")

    def prepare() -> None:
        home.config.write_text(json.dumps(settings))
        home.credentials.write_text(json.dumps({"api_key": secret}))

    def choose(begin: Callable[[], None]) -> None:
        begin()
        write_choice(home, CHOICES[choice], source)

    def look() -> dict[str, Any]:
        # The next start reads what is there now; a gateway that runs has the settings of before meanwhile.
        return {"sent": [*_sent(home, load(home), source), *_sent(home, running, source)]}

    prepare()
    running = load(home)
    return at_every_step(prepare, choose, look)


def _sent(home: Home, settings: Settings, source: CredentialSource) -> list[tuple[str, str | None]]:
    try:
        return [asked(home, settings, source)]
    except ParachuteError:
        return []  # nothing is sent anywhere


if __name__ == "__main__":
    main()
