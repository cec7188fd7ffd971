"""An export of someone who has talked much, the same each time: many conversations in files of a hundred, as ChatGPT writes them."""

import io
import json
import random
import zipfile
from collections.abc import Iterable, Iterator
from typing import Any

from .exports import node, tree

A_FILE = 100
_WORDS = [f"{first}{second}" for first in "abcdefghijklmnop" for second in ("an", "ber", "cor", "dal", "eli", "fin")]


def export(numbers: Iterable[int], *, messages: int = 6, words: int = 200) -> bytes:
    """An archive with the conversations of these numbers, each of so many messages, and of every tenth another answer."""
    wanted = list(numbers)
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for place in range(0, len(wanted), A_FILE):
            talks = [_talk(number, messages, words) for number in wanted[place : place + A_FILE]]
            archive.writestr(f"conversations-{place // A_FILE:03}.json", json.dumps(talks))
        archive.writestr("user.json", "{}")
    return made.getvalue()


def texts(number: int, *, messages: int = 6, words: int = 200) -> list[str]:
    """The messages of a conversation that is shown."""
    chance = random.Random(number)
    return [f"n{number}-{place} {' '.join(chance.choices(_WORDS, k=words))}" for place in range(messages)]


def _talk(number: int, messages: int, words: int) -> dict[str, Any]:
    return tree(
        *_nodes(number, texts(number, messages=messages, words=words)), name=f"many-{number}", title=f"Talk {number}"
    )


def _nodes(number: int, said: list[str]) -> Iterator[dict[str, Any]]:
    for place, text in enumerate(said):
        above, role = f"{number}-{place - 1}" if place else None, "assistant" if place % 2 else "user"
        if place == 1 and number % 10 == 0:
            yield node(f"{number}-other", above, role, f"other {text}")
        yield node(f"{number}-{place}", above, role, text)
