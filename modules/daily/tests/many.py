"""A journal with many entries, the same each time, for measuring."""

import datetime
import random
from pathlib import Path

_A_DAY = 20
_WORDS = 60
_PARTS = (
    "an",
    "ber",
    "cor",
    "da",
    "el",
    "fin",
    "gar",
    "ho",
    "is",
    "jun",
    "kal",
    "lor",
    "mi",
    "nor",
    "ost",
    "per",
    "ras",
)
chance = random.Random(7)  # noqa: S311 - the same vault each time


def write_vault(vault: Path, count: int, last: datetime.date, *, chinese: bool = False) -> list[str]:
    """Entries of sixty words, twenty a day, the newest on `last`; the words that occur in them, the usual ones first.

    In Chinese each word is a letter, and six of them stand together.
    """
    words = list(dict.fromkeys("".join(chance.choices(_PARTS, k=chance.randint(2, 3))) for _ in range(4_000)))
    words = [chr(0x4E00 + 5 * number) for number in range(len(words))] if chinese else words
    # As in a language: few words occur in most entries, and most words in few.
    weights = [1 / (rank + 2) for rank in range(len(words))]
    folder = vault / "Daily" / "journals"
    folder.mkdir(parents=True, exist_ok=True)
    for day in range(-(-count // _A_DAY)):
        date = last - datetime.timedelta(days=day)
        heads, texts = [], []
        for place in range(min(_A_DAY, count - day * _A_DAY)):
            key, time = f"daily:{day * _A_DAY + place:012d}", f"{place + 2:02d}:30"
            heads.append(f"  {key}:\n    type: text\n    created: {time}\n")
            texts.append(f"# para:{key} {time}\n\n{_text(chance.choices(words, weights, k=_WORDS), chinese)}\n\n---\n")
        path = folder / f"{date:%Y-%m-%d}.md"
        path.write_text(f"---\ndate: {date:%Y-%m-%d}\nentries:\n{''.join(heads)}---\n\n" + "\n".join(texts))
    return words


def _text(words: list[str], chinese: bool) -> str:
    return "。".join("".join(words[place : place + 6]) for place in range(0, _WORDS, 6)) if chinese else " ".join(words)
