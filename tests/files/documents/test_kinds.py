"""Texts of good documents of each kind, as the real process reads them, with their pages and lines."""

from pathlib import Path

import pytest

from parachute.files.documents.kinds import kind_of
from parachute.files.documents.reading import NotRead, read
from tests.files.documents import writing
from tests.files.documents.writing import archive, docx_body, epub_members, odt_body

pytestmark = pytest.mark.process


async def _text(folder: Path, name: str, data: bytes) -> str:
    file = folder / name
    file.write_bytes(data)
    with file.open("rb") as opened:
        return await read(opened, kind_of(name) or "")


async def test_pages_of_a_pdf(tmp_path: Path) -> None:
    text = await _text(tmp_path, "a.PDF", writing.pdf(["First (page)\nsecond line", "Zweite: Übersicht", ""]))
    assert text.split("\f") == ["First (page)\nsecond line\n", "Zweite: Übersicht\n", ""]


async def test_pages_of_a_word_document(tmp_path: Path) -> None:
    text = await _text(tmp_path, "a.docx", writing.docx([["One", "two"], ["Three"], ["Four"]]))
    assert [page.split() for page in text.split("\f")] == [["One", "two"], ["Three"], ["Four"]]


async def test_breaks_that_the_writer_made_count_where_nothing_was_laid_out(tmp_path: Path) -> None:
    body = (
        '<w:p><w:pPr><w:tabs><w:tab w:pos="9"/></w:tabs></w:pPr><w:r><w:t>One</w:t><w:tab/><w:t>A</w:t></w:r></w:p>'
        '<w:p><w:r><w:br w:type="page"/><w:t>Two</w:t></w:r><w:del><w:r><w:delText>gone</w:delText></w:r></w:del></w:p>'
        "<w:p><w:pPr><w:pageBreakBefore/></w:pPr><w:r><w:t>Three</w:t></w:r></w:p>"
    )
    text = await _text(tmp_path, "a.docx", archive(docx_body(body)))
    assert [page.strip() for page in text.split("\f")] == ["One\tA", "Two", "Three"]


async def test_tables_and_footnotes_of_a_word_document(tmp_path: Path) -> None:
    body = (
        "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>left</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>right</w:t></w:r></w:p></w:tc></w:tr></w:tbl>"
        '<w:p><w:r><w:t>Text</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r><w:r><w:t> goes on</w:t></w:r></w:p>'
    )
    notes = f'<w:footnotes {writing.W}><w:footnote w:id="2"><w:p><w:r><w:t>a note</w:t></w:r></w:p></w:footnote></w:footnotes>'
    text = await _text(tmp_path, "a.docx", archive({**docx_body(body), "word/footnotes.xml": notes}))
    assert text.split("\n") == ["left", "right", "Text goes on", "a note", ""]


async def test_pages_of_an_odt(tmp_path: Path) -> None:
    text = await _text(tmp_path, "a.odt", writing.odt([["One", "two"], ["Three"]]))
    assert [page.split() for page in text.split("\f")] == [["One", "two"], ["Three"]]
    styles = '<style:style style:name="P1"><style:paragraph-properties fo:break-before="page"/></style:style>'
    body = '<text:h>One<text:s text:c="3"/>a<text:tab/>b</text:h><text:p text:style-name="P1">Two <text:span>words</text:span></text:p>'
    text = await _text(tmp_path, "b.odt", archive(odt_body(body, styles)))
    assert text.split("\f") == ["One a\tb\n", "Two words\n"]


async def test_chapters_of_an_epub(tmp_path: Path) -> None:
    text = await _text(tmp_path, "a.epub", writing.epub(["<h1>One</h1><p>first\nwords</p>", "<p>Two</p>"]))
    assert text.split("\f") == ["One\nfirst words\n", "Two"]


async def test_protected_book_says_so(tmp_path: Path) -> None:
    locks = '<e><CipherReference URI="OEBPS/text/c0.xhtml"/></e>'
    with pytest.raises(NotRead) as caught:
        await _text(tmp_path, "a.epub", archive({**epub_members(["x"]), "META-INF/encryption.xml": locks}))
    assert caught.value.reason == "encrypted"


async def test_lines_of_a_web_page_are_those_of_the_file(tmp_path: Path) -> None:
    page = "<html><title>Ships</title>\n<script>\nlet a = 'x';\n</script>\n<p>In the\n<b>har</b>bour<p>B&ouml;te &amp; more\n</html>"
    text = await _text(tmp_path, "a.html", page.encode())
    lines = text.split("\n")
    assert lines[0].strip() == "Ships"
    assert (lines[4], lines[5].strip()) == ("In the", "harbour\u2029Böte & more")


async def test_encodings_of_web_pages(tmp_path: Path) -> None:
    for data in (
        '<meta charset="iso-8859-1"><p>Böte'.encode("latin-1"),
        "<p>Böte".encode(),
        "<p>Böte".encode("cp1252"),
        "\ufeff<p>Böte".encode("utf-16-le"),
        b'<meta charset="hex"><p>B\xc3\xb6te',
    ):
        assert (await _text(tmp_path, "a.htm", data)).strip() == "Böte"


async def test_mail(tmp_path: Path) -> None:
    data = writing.mail("Böte für uns", "Hello\nthe boat is ready", "<p>Hello <b>there</b>", offer=b"%PDF")
    text = await _text(tmp_path, "a.eml", data)
    assert text.split("\n")[:3] == [
        "From: Kevin <kevin@ships.example>",
        "To: me@home.example",
        "Subject: Böte für uns",
    ]
    assert "the boat is ready\n" in text
    assert "there" not in text, "one form of the text is enough"
    assert "offer.pdf" in text
    assert "PDF-" not in text


async def test_mail_whose_plain_form_is_empty(tmp_path: Path) -> None:
    text = await _text(tmp_path, "a.eml", writing.mail("Boats", " \n", "<p>Hello <b>there</b>"))
    assert "Hello there" in text


async def test_calendar(tmp_path: Path) -> None:
    data = writing.calendar(
        "DTSTART;TZID=Europe/Berlin:20260503T180000\nSUMMARY:Boat \n trip\nDESCRIPTION:a\\, b\\nc",
        'SUMMARY:Later\nORGANIZER;CN="Kevin: ships":mailto:kevin@ships.example\nUID:secret',
    )
    lines = (await _text(tmp_path, "a.ics", data)).split("\n")
    assert lines[3:7] == ["2026-05-03 18:00", "Boat trip", "", "a, b\u2029c"]
    assert lines[9:12] == ["Later", "Kevin: ships kevin@ships.example", ""]


async def test_word_of_page_180_is_there(tmp_path: Path) -> None:
    pages = [f"page {number} " + "many words of a long book\n" * 30 for number in range(1, 200)]
    text = await _text(tmp_path, "long.pdf", writing.pdf(pages))
    assert "page 180 " in text.split("\f")[179]
