"""Names as people write them, made comparable: without case, accents and punctuation."""

import re
import unicodedata
from collections.abc import Iterator

# Vowels and accents of many scripts are signs of their own behind a letter, which Python counts among neither letters nor digits.
_MARKS = "".join(sign for sign in map(chr, range(0x300, 0x1E00)) if unicodedata.category(sign).startswith("M"))
_LETTERS = rf"(?:[^\W_]+[{_MARKS}]*)+"
# A sign that belongs to a name, as in C++ and C#, stays.
WORD = re.compile(rf"{_LETTERS}[+#]*")
LONGEST = 200

_SLUG_BYTES = 80


def fold(text: str) -> str:
    """The key under which a name is found: `Zoë-Marie` and `zoe marie` have the same one; a name of signs is its own key."""
    return " ".join(WORD.findall(_plain(text))) or unicodedata.normalize("NFKC", text).casefold().strip()


def words(text: str) -> Iterator[tuple[str, int, int]]:
    """Each word of a text (in NFC) as a part of a key, with its begin and its end."""
    for match in WORD.finditer(text):
        yield _plain(match[0]), match.start(), match.end()


def slug(name: str) -> str:
    """The name of a file for a name, without its ending; empty when the name has neither letters nor digits."""
    text = "-".join(re.findall(_LETTERS, unicodedata.normalize("NFC", _plain(name))))
    return text.encode()[:_SLUG_BYTES].decode(errors="ignore").strip("-")


def trigrams(key: str) -> set[str]:
    """All runs of three characters of a key, its words padded, so that beginnings count."""
    padded = f"  {key} "
    return {padded[i : i + 3] for i in range(len(padded) - 2)}


def distance(one: str, other: str, most: int) -> int:
    """The number of letters that have to be added, removed, changed or swapped to make one of the other; above `most` it is not exact."""
    far, width = most + 1, len(other) + 1
    if abs(len(one) - len(other)) > most:
        return far
    oldest: list[int] = []
    before: list[int] = []
    row = [min(j, far) for j in range(width)]
    for i, letter in enumerate(one, 1):
        oldest, before, row = before, row, [far] * width
        # Only what lies near the diagonal can still come to `most`.
        first, last = max(1, i - most), min(width - 1, i + most)
        row[0] = min(i, far)
        least = left = row[first - 1]
        for j in range(first, last + 1):
            cost = before[j - 1]
            if letter != other[j - 1]:
                # Not `min`: its call costs as much as everything else here.
                if before[j] < cost:
                    cost = before[j]
                if left < cost:
                    cost = left
                if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == other[j - 1] and oldest[j - 2] < cost:
                    cost = oldest[j - 2]
                cost += 1
            row[j] = left = cost
            if cost < least:
                least = cost
        if least > most:
            return far
    return row[-1]


def _plain(text: str) -> str:
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(sign for sign in decomposed if not unicodedata.combining(sign)).casefold()
