"""Pictures that are pasted and dropped: the journal keeps them whole, screens and models get smaller copies."""

import base64
import json

import pytest
from playwright.sync_api import Page, expect

from tests.browser.console import furnishing
from tests.browser.console.conftest import MakePerson
from tests.browser.console.people import PHONE
from tests.support.computer import Computer
from tests.support.messages_api import MessagesAPI

pytestmark = pytest.mark.long

_DRAWN = """async () => {
  const canvas = new OffscreenCanvas(3000, 2000);
  const context = canvas.getContext("2d");
  for (let x = 0; x < 3000; x += 20) for (let y = 0; y < 2000; y += 20) {
    context.fillStyle = `rgb(${(x * y) % 256} ${x % 256} ${y % 256})`;
    context.fillRect(x, y, 20, 20);
  }
  const data = new Uint8Array(await (await canvas.convertToBlob({type: "image/jpeg", quality: 1})).arrayBuffer());
  let text = "";
  for (const byte of data) text += String.fromCharCode(byte);
  return btoa(text);
}"""

_GIVE = """(field, [kind, files]) => {
  const data = new DataTransfer();
  for (const {name, type, content} of files) data.items.add(new File([Uint8Array.from(atob(content), (each) => each.charCodeAt(0))], name, {type}));
  const options = {bubbles: true, cancelable: true};
  field.dispatchEvent(kind === "paste" ? new ClipboardEvent("paste", {...options, clipboardData: data}) : new DragEvent("drop", {...options, dataTransfer: data}));
}"""

PLACE = b"Exif\0\0GPS 38.7139,-9.1394"


@pytest.fixture(scope="module", autouse=True)
def furnished(computer: Computer) -> None:
    """The journal."""
    furnishing.install(computer, "daily")


def photo(page: Page) -> bytes:
    """A photo of six megapixels that says where it was taken."""
    drawn = base64.b64decode(page.evaluate(_DRAWN))
    return drawn[:2] + b"\xff\xe1" + (len(PLACE) + 2).to_bytes(2) + PLACE + drawn[2:]


def give(page: Page, label: str, kind: str, *files: tuple[str, str, bytes]) -> None:
    """Paste or drop files."""
    given = [{"name": name, "type": type_, "content": base64.b64encode(data).decode()} for name, type_, data in files]
    page.get_by_label(label, exact=True).evaluate(_GIVE, [kind, given])


def test_the_journal_keeps_a_picture_whole_and_shows_a_smaller_copy(
    make_person: MakePerson, computer: Computer, word: str
) -> None:
    page = make_person(PHONE).open("journal")
    data = photo(page)
    give(page, "New entry", "paste", (f"{word}.jpg", "image/jpeg", data))
    chosen = page.get_by_role("list", name="Pictures of the entry").get_by_role("listitem")
    expect(chosen).to_have_text([f"{word}.jpg"])
    give(page, "New entry", "drop", (f"{word}-2.jpg", "image/jpeg", data), (f"{word}.pdf", "application/pdf", b"%PDF"))
    expect(page.get_by_text("Only pictures can be added here.")).to_be_visible()
    expect(chosen).to_have_text([f"{word}.jpg", f"{word}-2.jpg"])
    page.get_by_role("button", name="Save").click()
    shown = page.get_by_role("img", name=f"{word}.jpg")
    expect(shown).to_have_js_property("naturalWidth", 1600)
    [whole] = computer.vault.glob(f"Daily/assets/20*/{word}.jpg")
    assert whole.read_bytes() == data
    [small] = computer.vault.glob(f"Daily/assets/.small/20*/{word}.jpg.jpg")
    assert small.stat().st_size < len(data) / 2
    assert PLACE not in small.read_bytes()


def test_a_model_gets_a_copy_that_says_nothing_of_its_place(
    make_person: MakePerson, model: MessagesAPI, word: str
) -> None:
    page = make_person(PHONE).open("chat")
    give(page, "Message", "paste", (f"{word}.jpg", "image/jpeg", photo(page)))
    expect(page.get_by_text(f"{word}.jpg")).to_be_visible()
    size = page.locator(".attached-picture").evaluate("(picture) => [picture.naturalWidth, picture.naturalHeight]")
    assert size == [1568, 1045]
    page.get_by_label("Message", exact=True).fill(f"Where is {word}?")
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_label("Agent", exact=True).get_by_text("Hello.")).to_be_visible()
    sent = json.dumps([request.body for request in model.conversation if word in json.dumps(request.body)])
    assert "/9j/" in sent
    assert base64.b64encode(PLACE[6:])[4:-4].decode() not in sent


def test_what_this_browser_cannot_read_is_said(make_person: MakePerson, computer: Computer, word: str) -> None:
    heic = (f"{word}.heic", "image/heic", b"\0\0\0\x18ftypheic" + bytes(400_000))
    page = make_person(PHONE).open("journal")
    give(page, "New entry", "drop", heic)
    expect(page.get_by_text("this browser cannot show HEIC pictures")).to_be_visible()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("img", name=f"{word}.heic")).to_be_attached()
    [whole] = computer.vault.glob(f"Daily/assets/20*/{word}.heic")
    assert whole.read_bytes() == heic[2]
    page.get_by_role("link", name="Chat", exact=True).first.click()
    give(page, "Message", "drop", heic)
    expect(page.get_by_text("is a HEIC picture, which this browser cannot read")).to_be_visible()
