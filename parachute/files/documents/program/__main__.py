"""The process itself: `python -m parachute.files.documents.program KIND`."""

import os
import sys
from importlib import import_module

from parachute.files.documents.program import limits
from parachute.files.documents.program.text import REFUSED, STARTED, Full, Text, Unreadable

_KINDS = ("pdf", "docx", "odt", "epub", "html", "page", "mail", "calendar", "picture")


def main() -> int:
    """Read the standard input as a document of a kind, and write its text."""
    kind = sys.argv[1]
    sys.stdout.buffer.write(STARTED)
    sys.stdout.buffer.flush()
    limits.lower()
    if kind not in _KINDS:
        return 1
    text, reason = Text(), ""
    try:
        with os.fdopen(0, "rb", closefd=False) as file:
            import_module(f"parachute.files.documents.program.{kind}").read(file, text)
    except Full:
        pass
    except Unreadable as error:
        reason = error.reason
    except MemoryError:
        return 1
    except Exception:  # whatever a library says of a file that is not what its name says
        reason = "damaged"
    if text.is_empty:
        sys.stdout.write(reason or "no_text")
        return REFUSED
    sys.stdout.buffer.write(str(text).encode(errors="replace"))
    return 0


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)  # what a library has still to tidy up goes with the process
