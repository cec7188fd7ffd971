"""One page of Apple Journal's export, taken apart: its pieces lie in `div`s, between which Apple closes what was never opened."""

import re
from dataclasses import dataclass, field
from html import escape
from html.parser import HTMLParser

_RULE = re.compile(r"span\.(s\d{1,4})\s*\{([^{}]{0,500})\}")
_KEPT = frozenset({"p", "ul", "ol", "li", "blockquote", "b", "strong", "i", "em", "br", "h1", "h2", "h3"})
_TEXTS = ("pageHeader", "title", "reflectionPrompt")
_UNSEEN = frozenset({"style", "script", "title", "head"})
_MOST_ITEMS, _DEEPEST = 500, 200


@dataclass(slots=True)
class Item:
    """Something that belongs to an entry: a picture, a place, a walk, a mood; `texts` are the words on it."""

    kind: str
    id: str
    sources: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)


class Page(HTMLParser):
    """`texts` has the words of the header, the title and the prompt, `body` the text as plain HTML."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.texts = dict.fromkeys(_TEXTS, "")
        self.items: list[Item] = []
        self._body: list[str] = []
        self._styles = {name: _marks(rule) for name, rule in _RULE.findall(html[:200_000])}
        self._open: list[str] = []
        self._spans: list[list[str]] = []
        self._unseen: str | None = None
        self._paragraph = ""
        self.feed(html)
        self.close()

    @property
    def body(self) -> str:
        """The text as HTML with nothing but plain marks."""
        return "".join(self._body)

    @property
    def _region(self) -> str:
        return next((each for each in reversed(self._open) if each), "")

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = {name: value or "" for name, value in attrs}
        if self._unseen or tag in _UNSEEN:
            self._unseen = self._unseen or tag
        elif tag == "div":
            self._begin(said)
        elif tag in ("img", "video", "source", "audio"):
            if self._region == "gridItem" and (source := said.get("src", "")) and len(self.items[-1].sources) < 8:
                self.items[-1].sources.append(source)
        elif self._is_body(tag, said):
            if tag == "span":
                self._spans.append(marks := self._styles.get(said.get("class", ""), []))
                self._body += [f"<{mark}>" for mark in marks]
            elif tag == "a":
                self._body.append(f'<a href="{escape(said.get("href", ""))}">')
            elif tag in _KEPT:
                self._body.append(f"<{tag}>")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if self._unseen:
            self._unseen = None if tag == self._unseen else self._unseen
        elif tag == "div":
            if self._open:
                self._open.pop()
        elif self._region in ("bodyText", ""):
            if tag == "span":
                self._body += [f"</{mark}>" for mark in reversed(self._spans.pop() if self._spans else [])]
            elif tag in _KEPT or tag == "a":
                self._body.append(f"</{tag}>")
            if tag == "p":
                self._paragraph = ""

    def handle_data(self, data: str) -> None:
        region = self._region
        if self._unseen:
            return
        if region in self.texts:
            self.texts[region] += data
        elif region == "gridItem":
            if text := " ".join(data.split()):
                self.items[-1].texts.append(text[:300])
        elif region == "bodyText" or (region == "" and self._paragraph):
            self._body.append(escape(data))

    def _begin(self, said: dict[str, str]) -> None:
        classes = said.get("class", "").split()
        region = next((each for each in classes if each in ("gridItem", "bodyText", *_TEXTS)), "")
        if region == "gridItem":
            kind = next((each.removeprefix("assetType_") for each in classes if each.startswith("assetType_")), "")
            if len(self.items) < _MOST_ITEMS:
                self.items.append(Item(kind, said.get("id", "")))
            else:
                region = "pageHeader"
        if len(self._open) < _DEEPEST:
            self._open.append(region)

    def _is_body(self, tag: str, said: dict[str, str]) -> bool:
        """Return whether a tag is one of the text; without its `div` a paragraph is, but for those around everything."""
        region = self._region
        if tag in ("p", "ul", "ol", "blockquote") and region == "":
            self._paragraph = "" if said.get("class") == "p1" else tag
        return region == "bodyText" or (region == "" and bool(self._paragraph))


def _marks(rule: str) -> list[str]:
    is_bold, is_italic = "bold" in rule, "italic" in rule
    return [mark for mark, is_on in (("b", is_bold), ("i", is_italic)) if is_on]
