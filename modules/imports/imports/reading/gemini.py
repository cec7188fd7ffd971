"""Gemini's conversations in Google Takeout: activities, of which nothing says what belongs together, and those of Workspace.

An activity is what a person said once, with the answers to it. They are listed newest first, and those of a day are one
conversation here.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from imports.reading.attached import Attached
from imports.reading.conversation import (
    Conversation,
    Role,
    fields_of,
    items_of,
    moment,
    text_of,
)
from imports.reading.gemini_times import LINE, time_of
from imports.reading.html_text import markdown, plain, sources
from imports.reading.json_values import Readable
from parachute.core.sessions import digest

SOURCE = "gemini"
_NAMES = ("gemini", "bard")
_SAID = re.compile(r"(?:Prompted with:|Asked Gemini:|Asked Bard:|Prompted|Asked|Said|Branched|Answered)\s+")
_DONE = ("Created ", "Used ", "Gave ", "Selected ", "Added ", "Shared ", "Deleted ", "Edited ", "Renamed ", "Updated ")
_CELL, _CHUNK = b'<div class="outer-cell', 64 * 1024
_LONGEST = 8 * 1024 * 1024
_TITLE = re.compile(r'mdl-typography--title">([^<]{0,200})<')
_BODY = re.compile(r'<div class="content-cell[^"<>]{0,200}mdl-typography--body-1">')
_NEXT = re.compile(r'</div>\s{0,10}<div class="content-cell|<b>Products:</b>')
_BREAK = re.compile(r"<br\s{0,5}/?>")
_LINK = re.compile(r"""<a\s[^<>]{0,20}href=["']([^"'<>]{1,300})["'][^<>]{0,200}>""")
_FILE = re.compile(r"[^/:?#]{1,250}\.\w{1,10}")
_ABOUT = re.compile(r"\s*(?:Attached \d{1,4} files?|\d{1,4} generated images?)\.\s*")
_DAY, _SIZE = 10_000, 32 * 1024 * 1024
"""Activities of a day, and their characters."""


@dataclass(slots=True)
class _Activity:
    said: str
    answers: list[str]
    time: str | None
    files: list[str]
    drawn: list[str]
    """Names of the files that were given, and of the pictures that were made."""


class Days:
    """Makes conversations of activities as they come; each is whole when the next day has begun."""

    def __init__(self, attached: Attached) -> None:
        self.left_out = Counter[str]()
        self._attached = attached
        self._day: str | None = None
        self._held: list[_Activity] = []
        self._size = 0

    def add(self, record: dict[str, Any]) -> Iterator[Conversation]:
        """Take an activity of the JSON; the day before it is yielded when it is whole."""
        answers = [markdown(html) for html in _htmls(record)]
        files = [text_of(fields_of(each).get("url")) for each in items_of(record.get("subtitles"))]
        files += [text_of(record.get("imageFile")), *map(text_of, items_of(record.get("attachedFiles")))]
        drawn = [source for html in _htmls(record) for source in sources(html)]
        activity = _Activity(text_of(record.get("title")), answers, moment(record.get("time")), files, drawn)
        yield from self._add(activity)

    def cells(self, file: Readable) -> Iterator[Conversation]:
        """Take the activities of the HTML."""
        for cell in _cells(file):
            if cell is None:
                self.left_out["too_long"] += 1
            elif (title := _TITLE.search(cell)) and _is_gemini(title[1]):
                if activity := _of_cell(cell):
                    yield from self._add(activity)
                else:
                    self.left_out["malformed"] += 1

    def end(self) -> Iterator[Conversation]:
        """Yield what is held, when there are no more of them."""
        held, self._held, self._size = self._held, [], 0
        if held:
            day = self._day or "undated"
            found = Conversation(SOURCE, day, title=f"Gemini, {day}")
            for activity in reversed(held):
                self._say(found, activity)
            yield found
        self._day = None

    def _add(self, activity: _Activity) -> Iterator[Conversation]:
        said = _SAID.match(activity.said)
        if not said and (activity.said.startswith(_DONE) or not activity.answers):
            self.left_out["activities"] += 1
            return
        activity.said = activity.said[said.end() :] if said else activity.said
        day = activity.time[:10] if activity.time else self._day
        if day != self._day and self._held:
            yield from self.end()
        self._day = day
        self._size += len(activity.said) + sum(map(len, activity.answers))
        if len(self._held) >= _DAY or self._size > _SIZE:
            self.left_out["too_long"] += 1
        else:
            self._held.append(activity)

    def _say(self, found: Conversation, activity: _Activity) -> None:
        # Nothing else tells one from the other: nobody says two things at once.
        name = activity.time or f"{found.original}:{len(found.messages)}"
        self._add_message(found, "user", f"{name}:user", activity.said, activity.time, activity.files)
        for number, answer in enumerate(activity.answers):
            drawn = activity.drawn if number == 0 else []
            self._add_message(found, "assistant", f"{name}:assistant:{number}", answer, activity.time, drawn)

    def _add_message(
        self, found: Conversation, role: Role, key: str, text: str, time: str | None, names: list[str]
    ) -> None:
        found.path.append(key)
        files = {name: self._attached.find(name) for name in names if _FILE.fullmatch(name)}
        if missing := sum(each is None for each in files.values()):
            found.left_out["files" if role == "user" else "images"] += missing
        found.say(role, text, time, name=key, files=[each for each in files.values() if each])


def is_activity(value: Any) -> bool:
    """Return True for an activity of Gemini: every program of Google has them in this shape."""
    found = fields_of(value)
    products = [text_of(each) for each in items_of(found.get("products"))[:10]]
    return "title" in found and "time" in found and any(map(_is_gemini, [text_of(found.get("header")), *products]))


def is_one(value: Any) -> bool:
    """Return True for an object with the shape of a conversation, as accounts of Workspace have them."""
    return isinstance(value, dict) and isinstance(value.get("conversation_turns"), list)


def read(value: dict[str, Any], attached: Attached) -> Iterator[Conversation]:
    """The conversation of Workspace, whose turns are in order."""
    created = text_of(value.get("creation_time"))
    found = Conversation(
        SOURCE,
        created or _beginning(value),
        title=text_of(value.get("title")),
        created=moment(value.get("creation_time")),
        updated=moment(value.get("last_modification_time")),
    )
    for number, turn in enumerate(map(fields_of, value["conversation_turns"])):
        asked, answered = fields_of(turn.get("user_turn")), fields_of(turn.get("system_turn"))
        if items_of(answered.get("model_thoughts")):
            found.left_out["thoughts"] += 1
        role: Role = "user" if asked else "assistant"
        said, text = asked or answered, text_of(asked.get("prompt")) if asked else _answer(answered)
        key = f"{role}:{number}"
        found.path.append(key)
        names = [text_of(each) for each in items_of(said.get("images"))]
        files = [file for name in names if (file := attached.find(name))]
        if len(names) > len(files):
            found.left_out["images"] += len(names) - len(files)
        found.say(role, text, moment(said.get("turn_last_modified")), name=key, files=files)
    yield found


def _beginning(value: dict[str, Any]) -> str:
    """A name for a conversation without a time: two of one title are two, and none takes the place of the other."""
    asked = (text_of(fields_of(fields_of(turn).get("user_turn")).get("prompt")) for turn in value["conversation_turns"])
    return digest(f"{text_of(value.get('title'))}\0{next(filter(None, asked), '')}")


def _answer(turn: dict[str, Any]) -> str:
    parts = [fields_of(each) for each in items_of(turn.get("text"))]
    cards = [fields_of(card) for part in parts for card in items_of(part.get("cards"))]
    return "\n\n".join(
        filter(None, [text_of(each.get("data")) for each in parts] + [text_of(each.get("content")) for each in cards])
    )


def _is_gemini(name: str) -> bool:
    return any(each in name.lower() for each in _NAMES)


def _htmls(record: dict[str, Any]) -> list[str]:
    return [text_of(each.get("html")) for each in map(fields_of, items_of(record.get("safeHtmlItem")))]


def _cells(file: Readable) -> Iterator[str | None]:
    """The parts of a page that have an activity each; None for one that is too long."""
    held, is_first, is_long = b"", True, False
    while data := file.read(_CHUNK):
        *whole, held = (held + data).split(_CELL)
        for cell in whole:
            if not is_first:
                yield None if is_long else cell.decode(errors="replace")
            is_first = is_long = False
        if len(held) > _LONGEST or is_first:
            is_long, held = not is_first, held[-len(_CELL) :]
    if not is_first:
        yield None if is_long else held.decode(errors="replace")


def _of_cell(cell: str) -> _Activity | None:
    body = _BODY.search(cell)
    if body is None:
        return None
    end = _NEXT.search(cell, body.end())
    text = cell[body.end() : end.start() if end else len(cell)]
    place = 0
    said: list[str] = []
    for stop in [*(each.start() for each in _BREAK.finditer(text)), len(text)]:
        line = text[place:stop].replace("&nbsp;", " ").replace("\u202f", " ")
        if found := LINE.match(line[:200]):
            answer = line[found.end() :] + text[stop:]
            files = [link for each in said for link in _LINK.findall(each) if _FILE.fullmatch(link)]
            words = [plain(each) for each in said if not any(link in files for link in _LINK.findall(each))]
            words = [each for each in words if not _ABOUT.fullmatch(each)]
            shown, drawn = markdown(answer), sources(answer)
            return _Activity("\n".join(words).strip(), [shown] if shown or drawn else [], time_of(found), files, drawn)
        said.append(line)
        tag = _BREAK.match(text, stop)
        place = tag.end() if tag else stop
    return None
