"""Breaking lines between words, while text comes in pieces."""

import re
import shutil
import unicodedata

_PARTS = re.compile(r"\n|[^\S\n]+|\S+")


class Wrapper:
    """Gives text back with line breaks where a word would not fit; the last word is held until its end is known."""

    def __init__(self, width: int | None = None) -> None:
        self._width = width or shutil.get_terminal_size().columns
        self._column = 0
        self._space = ""
        self._word = ""

    def feed(self, text: str) -> str:
        """Add text; returns all of it that can be shown by now."""
        shown = []
        for part in _PARTS.findall(text):
            if part == "\n":
                shown += [self.rest(), part]
                self._column = 0
            elif part.isspace():
                shown.append(self.rest())
                self._space = part
            else:
                self._word += part
        return "".join(shown)

    def rest(self) -> str:
        """The word that was held."""
        if not self._word:
            # A space at the end of a line is not missed, nor is one before a break.
            self._column, shown = self._column + len(self._space), self._space
            self._space = ""
            return shown
        width = sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in self._word)
        is_break = self._column > 0 and self._column + len(self._space) + width > self._width
        shown = ("\n" if is_break else self._space) + self._word
        self._column = width if is_break else self._column + len(self._space) + width
        self._space = self._word = ""
        return shown
