"""Settings in the environment."""

from pathlib import Path

import pytest

from parachute.base.errors import InvalidInput
from parachute.llm.offline.settings import OfflineSettings


def test_what_is_said_counts() -> None:
    environment = {
        "PARACHUTE_OFFLINE_MODEL": "/models/big.gguf",
        "PARACHUTE_OFFLINE_IDLE_SECONDS": "1.5",
        "PARACHUTE_OFFLINE_CONTEXT_TOKENS": "8192",
        "PARACHUTE_OFFLINE_ANSWER_TOKENS": "1000",
    }
    assert OfflineSettings.from_environment(environment) == OfflineSettings(Path("/models/big.gguf"), 1.5, 8192, 1000)


def test_a_small_context_leaves_half_for_the_question() -> None:
    assert OfflineSettings.from_environment({"PARACHUTE_OFFLINE_CONTEXT_TOKENS": "512"}).answer_tokens == 256


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PARACHUTE_OFFLINE_IDLE_SECONDS", "0"),
        ("PARACHUTE_OFFLINE_IDLE_SECONDS", "nan"),
        ("PARACHUTE_OFFLINE_IDLE_SECONDS", "soon"),
        ("PARACHUTE_OFFLINE_CONTEXT_TOKENS", "100"),
        ("PARACHUTE_OFFLINE_CONTEXT_TOKENS", "1e9"),
        ("PARACHUTE_OFFLINE_ANSWER_TOKENS", "4000"),
    ],
)
def test_what_cannot_be_is_named(name: str, value: str) -> None:
    with pytest.raises(InvalidInput, match=name):
        OfflineSettings.from_environment({name: value})
