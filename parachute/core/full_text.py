r"""Words in any script for SQLite's full-text search, whose tokenizer takes a run of Chinese, Japanese, Thai or Korean for one word.

What an index stores of such a run is its overlapping pairs of letters, and a question is divided likewise, so that every word in a
run is found. Everything else is stored as it is, and divided by the tokenizer. `readable` gives back what was written.
"""

import re
import unicodedata
from collections.abc import Sequence
from itertools import pairwise

_LETTERS = (
    "\u0e01-\u0e30\u0e32\u0e33\u0e40-\u0e46\u0e50-\u0e59\u0e81-\u0eb0\u0eb2\u0eb3\u0ebd-\u0ec6\u0ed0-\u0edf"  # Thai, Lao
    "\u1000-\u102a\u103f-\u1049\u1050-\u1055\u105a-\u105d\u1061\u1065\u1066\u106e-\u1070\u1075-\u1081\u108e\u1090-\u1099"  # Burmese
    "\u1780-\u17b3\u17d7\u17dc\u17e0-\u17e9"  # Khmer
    "\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"  # Japanese
    "\u3105-\u312f\u31a0-\u31bf\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff\uac00-\ud7a3"  # Chinese, Korean
)
_MARKS = (
    "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u102b-\u103e\u1056-\u1059\u105e-\u1060\u1062-\u1064\u1067-\u106d"
    "\u1071-\u1074\u1082-\u108d\u108f\u109a-\u109d\u17b4-\u17d3\u17dd"
)
_WIDE_OR_NARROW = "\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\uff66-\uff9f"
"""Letters and numbers that differ from others in nothing but their width."""
_PARTS = "\u1100-\u11ff"
"""Of Korean syllables, as names of files from macOS are written."""

_PAIR, _EDGE = "\x1f", "\x1e"
"""Before a letter that is stored a second time, and at both ends of a run; the tokenizer takes both for spaces."""
# The tokenizer takes marks above and below a letter for spaces, and signs of private use for letters.
_PRIVATE = "\ue000-\ue9ff"
_STORED_MARKS = {code: code + 0xD200 for code in range(0x0E00, 0x1800)}
_WRITTEN_MARKS = {stored: code for code, stored in _STORED_MARKS.items()}

# Compiled when they are used: so many letters take time, and many programs that start use none.
_WRITTEN = f"[{_LETTERS}][{_MARKS}]*"
_STORED = f"[{_LETTERS}][{_PRIVATE}]*"
_RUN = f"(?:{_WRITTEN})+"
_LETTER = f"[{_LETTERS}][{_MARKS}{_PRIVATE}]*"
_MARKS_OF_A_LETTER = re.compile(f"[{_MARKS}]+")
_STORED_DIFFERENTLY = f"[{_LETTERS}{_WIDE_OR_NARROW}{_PARTS}{_PAIR}{_EDGE}]"
_READ_DIFFERENTLY = re.compile(f"[{_PRIVATE}{_PAIR}{_EDGE}]")
_STORED_LETTER = re.compile(f"[\u0e00-\u17ff][{_PRIVATE}]+")
_WIDTHS = re.compile(f"[{_WIDE_OR_NARROW}]+")
_WORD = rf"{_RUN}|[^\W{_LETTERS}]+"
_TOKEN = re.compile(r"[^\W_\u19b0-\u19c0\u19c8\u19c9\u1cf2\u1cf3]+")
"""As the tokenizer divides words, which takes some signs of New Tai Lue and Vedic for no letters."""
_MOST_PARTS = 32
_SPACES = {ord(_PAIR): " ", ord(_EDGE): " "}


def searchable(text: str) -> str:
    """Return a text as an index stores it."""
    if not re.search(_STORED_DIFFERENTLY, text):
        return text
    return re.sub(_RUN, _stored_run, _usual(text.translate(_SPACES)))


def readable(text: str) -> str:
    """Return what was written from what an index stores, or from a part of that, in which words may stand in `**`."""
    if not _READ_DIFFERENTLY.search(text):
        return text
    text = re.sub(rf"\*\*{_PAIR}\*\*{_STORED}", "", text)
    text = re.sub(rf"({_STORED}){_PAIR}\*\*\1", r"**\1", text)
    text = re.sub(f"{_PAIR}{_STORED}", "", text).translate({ord(_PAIR): None, ord(_EDGE): None})
    return _STORED_LETTER.sub(lambda match: match[0].translate(_WRITTEN_MARKS), text)


def words(question: str) -> list[str]:
    """Return the words of a question; a run of a script without spaces is one."""
    return re.findall(_WORD, _usual(question))


def is_run(word: str) -> bool:
    """True for letters of a script without spaces: one of them may be a word."""
    return bool(re.match(_LETTER, word))


def quoted(word: str, *, is_unfinished: bool = False, phrases: bool = True) -> str:
    """Return a word as a full-text query asks for it, empty if the tokenizer sees no letters in it.

    Without `phrases`, for an index that does not know places, all parts of a word are asked for.
    """
    parts = _parts(word)
    # A letter alone is the first one of a pair.
    end = "*" if is_unfinished or (len(parts) == 1 and bool(re.fullmatch(_LETTER, word))) else ""
    if phrases or len(parts) < 2:
        return f'"{" ".join(parts)}"{end}' if parts else ""
    return "(" + " AND ".join(f'"{part}"' for part in parts) + end + ")"


def any_of(words: Sequence[str], last: str = "") -> str:
    """Return a full-text query for some of the words, or, of a run, for some of its pairs; `last` stands for the last one."""
    return " OR ".join(alternatives(words, last))


def alternatives(words: Sequence[str], last: str = "") -> list[str]:
    """Return what `any_of` asks for, each by itself."""
    whole = words[:-1] if last else words
    found = [[f'"{pair}"' for pair in _parts(word)] if _is_long(word) else [quoted(word)] for word in whole]
    found.append([last])
    return list(dict.fromkeys(each for parts in found for each in parts if each))[:_MOST_PARTS]


def _is_long(word: str) -> bool:
    return is_run(word) and not re.fullmatch(_LETTER, word)


def _parts(word: str) -> list[str]:
    """Return what the tokenizer makes of a word as it is stored."""
    if not is_run(word):
        return _TOKEN.findall(word)
    letters = re.findall(_LETTER, _with_stored_marks(word))
    return [first + second for first, second in pairwise(letters)][:_MOST_PARTS] or letters


def _stored_run(match: re.Match[str]) -> str:
    letters = re.findall(_LETTER, _with_stored_marks(match[0]))
    pairs = [first + second for first, second in pairwise(letters)]
    return f"{_EDGE}{_PAIR.join([*pairs, letters[-1]])}{_EDGE}"


def _with_stored_marks(text: str) -> str:
    return _MARKS_OF_A_LETTER.sub(lambda match: match[0].translate(_STORED_MARKS), text)


def _usual(text: str) -> str:
    """Return a text with each letter in one form: composed, and of the usual width."""
    return _WIDTHS.sub(lambda match: unicodedata.normalize("NFKC", match[0]), unicodedata.normalize("NFC", text))
