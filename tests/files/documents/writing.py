"""Small documents of each kind, written by hand: what a reader has to find in them is known to the letter."""

import io
import zipfile
import zlib
from collections.abc import Iterable, Mapping, Sequence
from email.message import EmailMessage

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_ODF = "urn:oasis:names:tc:opendocument:xmlns"
ODT_NAMES = f'xmlns:office="{_ODF}:office:1.0" xmlns:text="{_ODF}:text:1.0" xmlns:style="{_ODF}:style:1.0" ' + (
    f'xmlns:table="{_ODF}:table:1.0" xmlns:fo="{_ODF}:xsl-fo-compatible:1.0"'
)
RELATIONS = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r" '
    'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="{}"/></Relationships>'
)
CONTAINER = (
    '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container" version="1.0"><rootfiles>'
    '<rootfile full-path="{}" media-type="application/oebps-package+xml"/></rootfiles></container>'
)


def pdf_of(objects: Mapping[int, bytes], trailer: bytes = b"") -> bytes:
    """A PDF file of objects by their numbers; 1 is the catalog."""
    out = bytearray(b"%PDF-1.7\n")
    places = {}
    for number, content in objects.items():
        places[number] = len(out)
        out += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    begin, most = len(out), max(objects) + 1
    out += b"xref\n0 %d\n0000000000 65535 f \n" % most
    for number in range(1, most):
        out += b"%010d 00000 n \n" % places[number] if number in places else b"0000000000 65535 f \n"
    out += b"trailer\n<< /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF\n" % (most, trailer, begin)
    return bytes(out)


def stream(data: bytes, more: bytes = b"") -> bytes:
    """A stream of a PDF file, compressed."""
    packed = zlib.compress(data, 9)
    return b"<< /Length %d /Filter /FlateDecode %s >>\nstream\n%s\nendstream" % (len(packed), more, packed)


def pdf(pages: Sequence[str], trailer: bytes = b"", more: Mapping[int, bytes] | None = None) -> bytes:
    """A PDF file with a line or more of text on each page."""
    font = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
    numbers = range(4, 4 + 2 * len(pages), 2)
    kids = b" ".join(b"%d 0 R" % number for number in numbers)
    objects = {
        1: b"<< /Type /Catalog /Pages 2 0 R >>",
        2: b"<< /Type /Pages /Kids [%s] /Count %d >>" % (kids, len(pages)),
        3: font,
    }
    for number, page in zip(numbers, pages, strict=True):
        objects[number] = (
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >> "
            b"/Contents %d 0 R >>" % (number + 1)
        )
        lines = b" T* ".join(
            b"(%s) Tj" % line.encode("cp1252").replace(b"\\", rb"\\").replace(b"(", rb"\(").replace(b")", rb"\)")
            for line in page.split("\n")
        )
        objects[number + 1] = stream(b"BT /F1 12 Tf 14 TL 50 780 Td %s ET" % lines)
    return pdf_of({**objects, **(more or {})}, trailer)


def archive(members: Mapping[str, str | bytes | Iterable[bytes]], *, first: str | None = None) -> bytes:
    """A ZIP file; `first` is the kind that some of these have as their first member."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made:
        if first:
            made.writestr("mimetype", first, zipfile.ZIP_STORED)
        for name, content in members.items():
            if isinstance(content, str | bytes):
                made.writestr(name, content)
                continue
            with made.open(name, "w", force_zip64=True) as member:
                for piece in content:
                    member.write(piece)
    return file.getvalue()


def docx_body(body: str) -> dict[str, str | bytes]:
    """The members of a DOCX file with this body."""
    return {
        "_rels/.rels": RELATIONS.format("word/document.xml"),
        "word/document.xml": f'<?xml version="1.0"?><w:document {W}><w:body>{body}</w:body></w:document>',
    }


def docx(pages: Sequence[Sequence[str]]) -> bytes:
    """A DOCX file with the paragraphs of each page, as a program that has laid it out saves it."""
    body = ""
    for number, page in enumerate(pages):
        # The writer's own break stands before the page that it begins.
        body += '<w:p><w:r><w:br w:type="page"/></w:r></w:p>' if number else ""
        for place, paragraph in enumerate(page):
            mark = "<w:lastRenderedPageBreak/>" if number and not place else ""
            body += f"<w:p><w:r>{mark}<w:t>{paragraph}</w:t></w:r></w:p>"
    return archive(docx_body(body))


def odt_body(body: str, styles: str = "") -> dict[str, str | bytes]:
    """The members of an ODT file with this text."""
    return {
        "content.xml": f"<office:document-content {ODT_NAMES}><office:automatic-styles>{styles}</office:automatic-styles>"
        f"<office:body><office:text>{body}</office:text></office:body></office:document-content>",
    }


def odt(pages: Sequence[Sequence[str]]) -> bytes:
    """An ODT file with the paragraphs of each page."""
    body = "<text:soft-page-break/>".join("".join(f"<text:p>{each}</text:p>" for each in page) for page in pages)
    return archive(odt_body(body), first="application/vnd.oasis.opendocument.text")


def epub_members(chapters: Sequence[str]) -> dict[str, str | bytes]:
    """The members of an EPUB file."""
    items = "".join(f'<item id="c{n}" href="text/c{n}.xhtml" media-type="x"/>' for n in range(len(chapters)))
    order = "".join(f'<itemref idref="c{n}"/>' for n in range(len(chapters)))
    package = (
        f'<package xmlns="http://www.idpf.org/2007/opf"><manifest>{items}</manifest><spine>{order}</spine></package>'
    )
    written = {f"OEBPS/text/c{n}.xhtml": f"<html><body>{text}</body></html>" for n, text in enumerate(chapters)}
    return {"META-INF/container.xml": CONTAINER.format("OEBPS/content.opf"), "OEBPS/content.opf": package, **written}


def epub(chapters: Sequence[str]) -> bytes:
    """An EPUB file with a file for each chapter."""
    return archive(epub_members(chapters), first="application/epub+zip")


def mail(subject: str, text: str, html: str = "", **attached: bytes) -> bytes:
    """A mail, in two forms with `html`, and with files."""
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "Kevin <kevin@ships.example>", "me@home.example", subject
    message.set_content(text)
    if html:
        message.add_alternative(html, subtype="html")
    for name, data in attached.items():
        message.add_attachment(data, maintype="application", subtype="pdf", filename=f"{name}.pdf")
    return message.as_bytes()


def calendar(*events: str) -> bytes:
    """A calendar whose events have these properties."""
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0"]
    for event in events:
        lines += ["BEGIN:VEVENT", *event.split("\n"), "END:VEVENT"]
    return "\r\n".join([*lines, "END:VCALENDAR", ""]).encode()
