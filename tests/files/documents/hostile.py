"""Files that harm who reads them carelessly, each by the name of what it does."""

import io
import random
import struct
import zipfile
from collections.abc import Callable, Iterator

from tests.files.documents.writing import (
    CONTAINER,
    ODT_NAMES,
    RELATIONS,
    W,
    archive,
    docx,
    docx_body,
    epub_members,
    odt_body,
    pdf,
    pdf_of,
    stream,
)

SECRET = "root:x:0:0"
_MEGABYTE = 1 << 20
_LAUGHS = "<!DOCTYPE x [<!ENTITY a 'ha ha ha ha '>" + "".join(
    f"<!ENTITY {name} '{f'&{before};' * 20}'>" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


def _zeros(megabytes: int, piece: bytes = b" ") -> Iterator[bytes]:
    for _ in range(megabytes):
        yield piece * (_MEGABYTE // len(piece))


def _random(size: int) -> bytes:
    return random.Random(1).randbytes(size)


def _many_members() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as made:
        for number in range(30_000):
            made.writestr(str(number), "")
    return file.getvalue()


def _locked_member() -> bytes:
    data = bytearray(docx([["secret"]]))
    for sign, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = -1
        while (at := data.find(sign, at + 1)) >= 0:
            struct.pack_into("<H", data, at + place, 1)
    return bytes(data)


def _wrong_sizes() -> bytes:
    """An archive that says of each member that it is of four gigabytes."""
    data = bytearray(docx([["short"]]))
    at = -1
    while (at := data.find(b"PK\x01\x02", at + 1)) >= 0:
        struct.pack_into("<I", data, at + 24, 0xFFFFFFF0)
    return bytes(data)


def _nested_mails(depth: int) -> bytes:
    head = b"From: a@b\r\nSubject: inside\r\nContent-Type: message/rfc822\r\n\r\n"
    return head * depth + b"From: a@b\r\n\r\nthe end"


def _nested_parts(depth: int) -> bytes:
    out = b"From: a@b\r\nSubject: parts\r\n"
    for number in range(depth):
        out += b'Content-Type: multipart/mixed; boundary="b%d"\r\n\r\n--b%d\r\n' % (number, number)
    return out


def _pages(count: bytes, kids: bytes) -> bytes:
    return pdf_of(
        {
            1: b"<< /Type /Catalog /Pages 2 0 R >>",
            2: b"<< /Type /Pages /Kids [%s] /Count %s >>" % (kids, count),
            3: b"<< /Type /Pages /Parent 2 0 R /Kids [2 0 R 3 0 R] /Count 9 >>",
        }
    )


_LOCK = b"/Encrypt << /Filter /Standard /V 1 /R 2 /Length 40 /P -4 /O <%s> /U <%s> >> /ID [<00> <00>]" % (
    b"41" * 32,
    b"42" * 32,
)
_FORM = b"/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /A 9 0 R >> >>"
_ENTITY = '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>'

HOSTILE: dict[str, Callable[[], bytes]] = {
    "empty.pdf": lambda: b"",
    "cut.pdf": lambda: pdf(["a page", "another"])[:300],
    "noise.pdf": lambda: b"%PDF-1.7\n" + _random(_MEGABYTE),
    "pages_in_a_circle.pdf": lambda: _pages(b"9", b"3 0 R"),
    "pages_without_end.pdf": lambda: _pages(b"2147483647", b""),
    "negative_pages.pdf": lambda: _pages(b"-5", b"3 0 R"),
    "bomb.pdf": lambda: pdf(["x"], more={5: stream(b"(a) Tj " * (64 * _MEGABYTE // 7))}),
    "bomb_in_a_bomb.pdf": lambda: pdf(
        ["x"], more={5: stream(stream(b" " * (128 * _MEGABYTE)), b"/Filter [/FlateDecode /FlateDecode]")}
    ),
    "deep.pdf": lambda: pdf(["x"], more={9: b"[" * 500_000}),
    "form_of_itself.pdf": lambda: pdf(["x"], more={5: stream(b"/A Do"), 9: stream(b"/A Do", _FORM)}),
    "table_of_itself.pdf": lambda: pdf(["x"], trailer=b"/Prev 9"),
    "locked.pdf": lambda: pdf(["secret"], trailer=_LOCK),
    "document.pdf": lambda: docx([["a document with the name of another kind"]]),
    "bomb.docx": lambda: archive({**docx_body(""), "word/document.xml": _zeros(256)}),
    "bomb_of_text.docx": lambda: archive(
        docx_body("<w:p><w:r><w:t>" + "boat " * (12 * _MEGABYTE) + "</w:t></w:r></w:p>")
    ),
    "laughs.docx": lambda: archive(
        {**docx_body(""), "word/document.xml": f"{_LAUGHS}]><w:document {W}><w:t>&i;</w:t></w:document>"}
    ),
    "entity.docx": lambda: archive(
        {**docx_body(""), "word/document.xml": f"{_ENTITY}<w:document {W}><w:p><w:t>&e;</w:t></w:p></w:document>"}
    ),
    "deep.docx": lambda: archive(docx_body("<w:p>" * 1_000_000)),
    "cut.docx": lambda: docx([["a page"] * 100])[:400],
    "outside.docx": lambda: archive(
        {"_rels/.rels": RELATIONS.format("../../../../etc/passwd"), "../../../../etc/passwd": SECRET}
    ),
    "old.docx": lambda: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + _random(4096),
    "locked.docx": _locked_member,
    "wrong_sizes.docx": _wrong_sizes,
    "many_members.docx": _many_members,
    "cells.odt": lambda: archive(
        odt_body(
            '<table:table><table:table-row table:number-rows-repeated="1000000"><table:table-cell '
            'table:number-columns-repeated="1000000000"><text:p>cell</text:p></table:table-cell></table:table-row></table:table>'
        )
    ),
    "spaces.odt": lambda: archive(odt_body('<text:p>a<text:s text:c="2000000000"/>b</text:p>')),
    "entities.odt": lambda: archive(
        {
            "content.xml": f"<!DOCTYPE x [<!ENTITY a '{'a' * 50_000}'>]><office:document-content {ODT_NAMES}>"
            f"{'&a;' * 50_000}</office:document-content>"
        }
    ),
    "locked.odt": lambda: archive(
        {
            "META-INF/manifest.xml": '<m xmlns="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"><encryption-data/></m>',
            "content.xml": _random(1000),
        }
    ),
    "same_chapter.epub": lambda: archive(
        {
            **epub_members(["x"]),
            "OEBPS/content.opf": '<package><manifest><item id="c" href="text/c0.xhtml"/></manifest><spine>'
            + '<itemref idref="c"/>' * 1_000_000
            + "</spine></package>",
            "OEBPS/text/c0.xhtml": b"<p>again and again</p>" * 4_000,
        }
    ),
    "outside.epub": lambda: archive(
        {
            "META-INF/container.xml": CONTAINER.format("../../../../etc/passwd"),
            "../../../../etc/passwd": SECRET,
        }
    ),
    "no_container.epub": lambda: archive({"a": "b"}),
    "deep.html": lambda: b"<div><b>" * 500_000,
    "open.html": lambda: b"<a href='" + b"x" * (7 * _MEGABYTE),
    "brackets.html": lambda: b"<![<!--<a<" * 300_000,
    "references.html": lambda: b"&#x41;&amp;&a" * 500_000,
    "slow_encoding.html": lambda: b'<meta charset="punycode">' + b"a-" + b"zz9" * 2_000_000,
    "nested.eml": lambda: _nested_mails(20_000),
    "nested_parts.eml": lambda: _nested_parts(5_000),
    "long_header.eml": lambda: b"From: " + b"=?utf-8?q?a?= <a@b>, " * 100_000 + b"\r\n\r\ntext",
    "long_line.ics": lambda: b"BEGIN:VCALENDAR\r\nSUMMARY:a\r\n" + b" a\r\n" * 3_000_000,
    "quotes.ics": lambda: b'BEGIN:VCALENDAR\r\nSUMMARY;X="' * 200_000,
}
