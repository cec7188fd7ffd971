"""Pages of the web as notes of the vault: loaded from the host that the owner named, and read in a confined process."""

import asyncio
import hashlib
import html
import json
import re
import tempfile
import unicodedata
from collections.abc import AsyncIterator
from pathlib import Path
from typing import IO

from parachute.base.answers import Answer
from parachute.base.clock import SYSTEM, Clock
from parachute.base.errors import Conflict, InvalidInput
from parachute.changes.lineage import Lineage
from parachute.files.documents import reading
from parachute.files.documents.program.text import escaped
from parachute.files.models import Expected, WrittenFile
from parachute.files.service import VaultFiles
from parachute.sandbox.egress.certificates import Certificates
from parachute.sandbox.egress.service import Egress
from parachute.security.keys.models import Caller
from parachute.security.origin import Origin

FOLDER = "Inbox"
"""The folder of the vault for what has no place yet."""

_AT_ONCE = 2
_NAMES = 20
_LONGEST_NAME = 60
_SECONDS = 60.0
_UNWANTED = re.compile(r'[\\/:*?"<>|#^\[\]]+')


class SavedPage(Answer, frozen=True):
    """A page that was saved: its note and the number that takes it back; with `leads_to` nothing was, and the page is at that host."""

    url: str
    title: str
    path: str | None = None
    change: int | None = None
    leads_to: str | None = None


class WebPages:
    """Saves pages; who names an address has allowed its host for this one time, and no other host is asked."""

    def __init__(
        self,
        root: Path,
        files: VaultFiles,
        lineage: Lineage,
        egress: Egress,
        certificates: Certificates,
        clock: Clock = SYSTEM,
    ) -> None:
        self._root = root
        self._files = files
        self._lineage = lineage
        self._egress = egress
        self._certificates = certificates
        self._clock = clock
        self._turns = asyncio.Semaphore(_AT_ONCE)

    async def save(self, url: str, caller: Caller) -> SavedPage:
        """Write what a page says into a new note; errors: InvalidInput, Refused, Unavailable, those of writing."""
        # The HTTP client is imported when it is needed.
        from parachute.files.pages.fetching import fetch

        async with self._turns:
            page = await fetch(url, self._egress, self._certificates)
            if page.leads_to is not None:
                return SavedPage(url, "", leads_to=page.leads_to)
            title, text = await _read(page.url, page.charset, _marked(page.content) if page.is_text else page.content)
        if not text.strip():
            raise InvalidInput("url: the page says nothing without its programs.", key="page_empty")
        written = await self._write(page.url, title, text, caller)
        return SavedPage(page.url, title, written.path, written.change)

    async def _write(self, url: str, title: str, text: str, caller: Caller) -> WrittenFile:
        day = self._clock.now().astimezone().date().isoformat()
        named = f"# {escaped(title)}\n\n" if title and not text.startswith("# ") else ""
        # JSON is YAML, whatever a title holds.
        head = f"---\nsource: {json.dumps(url)}\ntitle: {json.dumps(title, ensure_ascii=False)}\nsaved: {day}\norigin: web\n---\n\n"
        content = f"{head}{named}{text.strip()}\n".encode(errors="replace")
        digest = hashlib.sha256(content).hexdigest()
        name = f"{FOLDER}/{day} {plain_name(title) or plain_name(url.partition('://')[2].partition('/')[0])}"
        for number in range(1, _NAMES + 1):
            path = f"{name} {number}.md" if number > 1 else f"{name}.md"
            # Before it is there: nobody reads it as the owner's in between.
            await self._lineage.wrote(self._root, [path], Origin.WEB, [(digest, len(content))])
            try:
                return await self._files.upload(path, _whole(content), len(content), Expected(is_new=True), caller)
            except Conflict:
                continue
        raise Conflict("There are too many notes of this name.", "Rename some of them.", key="name_taken")


def plain_name(title: str) -> str:
    """Return a title as the name of a file: no folder, nothing hidden, and no more than fits."""
    text = "".join(
        " " if unicodedata.category(each)[0] in "CZ" else each for each in unicodedata.normalize("NFC", title)
    )
    return " ".join(_UNWANTED.sub(" ", text).split())[:_LONGEST_NAME].strip(" .")


async def _read(url: str, charset: str, content: bytes) -> tuple[str, str]:
    """Read a page in a process of its own; its title and its Markdown. Errors: InvalidInput, Unavailable."""
    head = f'<base href="{html.escape(url)}">'
    if re.fullmatch(r"[\w.:-]+", charset):
        head = f'<meta charset="{charset}">{head}'
    with await asyncio.to_thread(_opened, head.encode("ascii", "replace") + content) as file:
        try:
            text = await reading.read(file, "page", _SECONDS)
        except reading.NotRead as error:
            if error.reason == "no_text":
                return "", ""
            raise InvalidInput("url: the page cannot be read.", key="page_unreadable") from error
    title, _, rest = text.partition("\n")
    return title.strip()[:300], rest


def _marked(content: bytes) -> bytes:
    """Return plain text as a page that shows it as it is, read where it holds up nobody."""
    return b"<pre>" + content.replace(b"&", b"&amp;").replace(b"<", b"&lt;") + b"</pre>"


def _opened(content: bytes) -> IO[bytes]:
    file = tempfile.TemporaryFile()  # noqa: SIM115 - whoever asked closes it
    file.write(content)
    file.seek(0)
    return file


async def _whole(content: bytes) -> AsyncIterator[bytes]:
    yield content
