"""Marks of sources in answers of ChatGPT, which its program shows as links: each becomes what was shown, or goes."""

import json
import re
from typing import Any

from imports.reading.conversation import TEXT_LIMIT, fields_of, items_of, text_of

_MARK = re.compile("\ue200([^\ue200\ue201]*)\ue201")
_OLD_MARK = re.compile("【[^【】]{1,100}】")
_CODES = re.compile("[\ue200-\ue206]")
_ADDRESS = re.compile(r"https?://[^\s<>()]{1,2000}")
_SOURCES = 100


def cited(text: str, metadata: dict[str, Any]) -> str:
    """A text with links in the place of its marks; the sources that are listed below it follow."""
    references = [fields_of(each) for each in items_of(metadata.get("content_references"))]
    shown = {mark: _shown(each) for each in references if (mark := text_of(each.get("matched_text")))}
    text = _cited_by_place(text, metadata) if not references else text
    # One pass over the text, whatever their number: what a link holds is no mark.
    left = TEXT_LIMIT

    def linked(found: re.Match[str]) -> str:
        nonlocal left
        left -= len(shown[found[0]])
        return shown[found[0]] if left >= 0 else ""

    text = _OLD_MARK.sub(lambda found: linked(found) if found[0] in shown else found[0], text)
    text = _MARK.sub(lambda found: linked(found) if found[0] in shown else _words(found[1]), text)
    listed = [item for each in references for item in items_of(each.get("sources"))]
    links = dict.fromkeys(link for each in listed[:_SOURCES] if (link := _link(each)) and _address(each) not in text)
    text = f"{text}\n\nSources:\n" + "\n".join(f"- {link}" for link in links) if links else text
    return _CODES.sub("", text)


def _shown(reference: dict[str, Any]) -> str:
    if alt := text_of(reference.get("alt")):
        return alt
    links = filter(None, map(_link, items_of(reference.get("items"))))
    return ", ".join(dict.fromkeys(links)) or _link(reference)


def _link(source: Any) -> str:
    address = _address(source)
    title = " ".join(text_of(fields_of(source).get("title")).split()).replace("[", "(").replace("]", ")")
    return f"[{title or address}]({address})" if address else ""


def _address(source: Any) -> str:
    found = _ADDRESS.fullmatch(text_of(fields_of(source).get("url")))
    return found[0] if found else ""


def _words(mark: str) -> str:
    """Words of a mark without its reference."""
    kind, *parts = mark.split("\ue202")
    if kind == "url" and parts:
        return parts[0]
    if kind == "entity" and parts:
        try:
            return text_of(json.loads(parts[0])[1])
        except (ValueError, LookupError, TypeError, RecursionError):
            return ""
    return ""


def _cited_by_place(text: str, metadata: dict[str, Any]) -> str:
    """As exports had it until 2024: where a mark begins and ends, and the page."""
    found = [fields_of(each) for each in items_of(metadata.get("citations"))[:_SOURCES]]
    places = [
        (start, end, _link(each.get("metadata")))
        for each in found
        if isinstance(start := each.get("start_ix"), int) and isinstance(end := each.get("end_ix"), int)
    ]
    for start, end, link in sorted(places, reverse=True):
        if 0 <= start < end and link and _OLD_MARK.fullmatch(text[start:end]):
            text = f"{text[:start]} ({link}){text[end:]}"
    return text
