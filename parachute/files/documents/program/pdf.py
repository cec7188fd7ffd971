"""PDF: the text of each page, by PDFium."""

import re
from typing import IO

from parachute.files.documents.program.text import PAGE, Text, Unreadable

_MOST_PAGES = 10_000
_PASSWORD = 4
"""FPDF_ERR_PASSWORD of PDFium's `fpdfview.h`."""

_DIVIDED = re.compile("[\x02\xad\ufffe]\r?\n?")
"""A word that goes on in the next line."""


def read(file: IO[bytes], text: Text) -> None:
    """Read all pages; one that is damaged is an empty page."""
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(file)
    except pypdfium2.PdfiumError as error:
        raise Unreadable("encrypted" if error.err_code == _PASSWORD else "damaged") from error
    for number in range(min(len(document), _MOST_PAGES)):
        if number:
            text.add(PAGE)
        try:
            page = document[number]
            found = page.get_textpage()
            written = found.get_text_range()
            found.close()
            page.close()
        except pypdfium2.PdfiumError:
            continue
        text.add(_DIVIDED.sub("", written).replace("\r\n", "\n").replace("\f", " "))
        text.end_line()
