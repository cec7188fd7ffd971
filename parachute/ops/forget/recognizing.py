"""Words that must not be removed from records: numbers, dates, ids, and what the records themselves are made of."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

import parachute
from parachute.base.errors import InvalidInput

_FEWEST_DIGITS = 7
_YEAR, _MONTH, _DAY = r"(?:19|20)\d\d", r"(?:0?[1-9]|1[0-2])", r"(?:0?[1-9]|[12]\d|3[01])"
_TIME = r"T?\d\d?:\d\d(?::\d\d(?:[.,]\d+)?)?|T?\d\d(?:[\W_]*\d\d){1,2}"
_ZONE = r"(?:[\W_]*(?:Z|[+-]\d\d:?\d\d))?"
_DATE = (
    rf"{_YEAR}[\W_]*(?:0[1-9]|1[0-2])[\W_]*(?:0[1-9]|[12]\d|3[01])|{_YEAR}[\W_]+{_MONTH}[\W_]+{_DAY}"
    rf"|{_DAY}[\W_]+{_MONTH}[\W_]+{_YEAR}|{_MONTH}[\W_]+{_DAY}[\W_]+{_YEAR}|{_YEAR}[\W_]+{_MONTH}"
)
_MOMENT = re.compile(
    rf"[\W_]*(?:(?:{_DATE})(?:[\W_]*(?:{_TIME})(?:[.,]\d+)?{_ZONE})?|(?:\d\d?:\d\d(?::\d\d(?:[.,]\d+)?)?){_ZONE})[\W_]*",
    re.IGNORECASE,
)
_ID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_OURS = re.compile(rf"{_ID}|para:.*|(?=.*[a-f])(?=.*\d)(?:[0-9a-f]{{8}}|[0-9a-f]{{12}}|[0-9a-f]{{16}})", re.IGNORECASE)
"""Ids as this computer makes them; a longer number of this kind may be a secret, which a person may want to be rid of."""
_STAMP = r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?"
_WHOLE = re.compile(rf"(?<![0-9a-z])(?:{_ID}|{_STAMP})(?![0-9a-z])".encode(), re.IGNORECASE)
_AROUND = 200
_TEXT = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)


def check(text: str) -> None:
    """Error: InvalidInput for what reads as a number, a date, a time, or an id: every record has such."""
    digits = sum(each.isdigit() for each in text)
    is_number = not any(each.isalpha() for each in text)
    if (is_number and digits < _FEWEST_DIGITS) or _is_literal(text) or _MOMENT.fullmatch(text) or _OURS.fullmatch(text):
        raise InvalidInput(
            "words: every record has numbers, dates and ids.",
            "Name more words, such as the whole sentence, or a number of at least seven digits.",
            key="words_of_records",
        )


def check_not_ours(text: str, modules: Sequence[Path]) -> None:
    """Error: InvalidInput for words of which records are made, and names of modules: nothing could read the records any more."""
    parts = text.lower().split()
    if not all(re.fullmatch(r"[\w.-]+", part, re.ASCII) for part in parts):
        return
    words, name = "[_-]".join(map(re.escape, parts)), "_".join(map(re.escape, parts))
    named = re.compile(
        rf"""["'][\w./:-]*(?<![a-z0-9]){words}(?![a-z0-9])[\w./:-]*["']"""
        rf"|\b(?:\w*_)?{name}(?:_\w*)? ?(?:[:=(]|text|integer|real|blob)"
    )
    names = {path.name.lower() for folder in modules if folder.is_dir() for path in folder.iterdir()}
    if names & {"-".join(parts), "_".join(parts)} or any(named.search(source) for source in _sources(modules, parts)):
        raise InvalidInput(
            f"words: the computer's own records are made of the word {text!r}.",
            "Name more words, such as the whole sentence or the full name.",
            key="words_of_records",
        )


def is_part(data: bytes, start: int, end: int) -> bool:
    """Return whether this is a part of an id, a hash or a moment, which a person never wrote as words."""
    begin = max(0, start - _AROUND)
    around = data[begin : end + _AROUND]
    found = (match.span() for match in _WHOLE.finditer(around))
    return any(a <= start - begin and end - begin <= b and b - a > end - start for a, b in found)


def in_texts(data: bytes, spans: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Of these places those that may be written over: in JSON, also JSON by lines, no number and no sign between texts."""
    whole = _texts(data) if spans else None
    for start, end in spans:
        begin, texts = 0, whole
        if texts is None:
            begin = data.rfind(b"\n", 0, start) + 1
            stop = data.find(b"\n", end)
            texts = _texts(data[begin : stop if stop >= 0 else len(data)])
        if texts is None:
            yield start, end
            continue
        place = bisect_right(texts, (start - begin, len(data))) - 1
        if place >= 0 and texts[place][0] < start - begin and end - begin < texts[place][1]:
            yield start, end


def is_json(data: bytes) -> bool:
    """Return whether this is one object or list, and no text that happens to read as JSON."""
    return data.lstrip()[:1] in (b"{", b"[") and _texts(data) is not None


def _texts(data: bytes) -> list[tuple[int, int]] | None:
    try:
        msgspec.json.decode(data)
    except (ValueError, RecursionError):
        return None
    return [match.span() for match in _TEXT.finditer(data)]


def _is_literal(text: str) -> bool:
    """Say whether it is one of JSON, with letters."""
    try:
        float(text)
    except ValueError:
        return text.lower() in ("true", "false", "null")
    return any(each.isalpha() for each in text)


def _sources(modules: Sequence[Path], parts: Sequence[str]) -> Iterator[str]:
    for folder in (Path(parachute.__file__).parent, *filter(Path.is_dir, modules)):
        for file in folder.rglob("*.py"):
            text = file.read_text(errors="ignore").lower() if "site-packages" not in file.parts else ""
            if all(part in text for part in parts):
                yield text
