"""The text of messages: code and tables that are copied, check boxes, footnotes, formulas, and diagrams that reach nothing."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.console.accessibility import violations
from tests.browser.console.conftest import MakePerson, at_both_sizes
from tests.browser.console.people import Person
from tests.support.messages_api import MessagesAPI, text

pytestmark = pytest.mark.long

FLOW = "```mermaid\nflowchart LR\n  A[Start] --> B[End]\n```\n"
HOSTILE = """```mermaid
%%{init: {"securityLevel": "loose", "htmlLabels": true, "themeCSS": "@import url(http://192.0.2.1/x.css);"}}%%
flowchart LR
  A["<img src=x onerror=alert(1)><script>alert(2)</script>"] --> B[End]
  C@{ img: "http://192.0.2.1/x.png", label: "away" }
  click A href "javascript:alert(3)"
```
"""
_FRAME = "iframe.diagram-frame"
_TRIES = """async () => {
  const tried = {};
  for (const [name, attempt] of Object.entries({
    page: () => parent.document.title,
    storage: () => localStorage.length,
    cookies: () => document.cookie,
    api: () => fetch('/api/health'),
  })) {
    try { await attempt(); tried[name] = 'reached'; } catch { tried[name] = 'refused'; }
  }
  return { origin, ...tried };
}"""


def answered(person: Person, model: MessagesAPI, answer: str) -> Page:
    """The page of a conversation with this answer."""
    model.script(text(answer))
    page = person.open("chat")
    page.get_by_label("Message", exact=True).fill("Show it.")
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("button", name="Stop", exact=True)).to_have_count(0)
    return page


def clipboard(page: Page, kind: str) -> str:
    """The content of the clipboard, in one of its forms."""
    read = "async (kind) => (await (await navigator.clipboard.read())[0].getType(kind)).text()"
    return str(page.evaluate(read, kind))


@at_both_sizes
def test_code_and_tables_are_copied(person: Person, model: MessagesAPI) -> None:
    person.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = answered(
        person, model, "```python\nprint(1)\n```\n\n| Port | Miles |\n|-|-:|\n| Wedel | 3 |\n| *Cux* | 60 |\n"
    )
    answer = page.get_by_label("Agent", exact=True)
    expect(answer.get_by_text("python", exact=True)).to_be_visible()
    answer.get_by_role("button", name="Copy the code").click()
    expect(page.get_by_text("Copied.")).to_be_visible()
    assert clipboard(page, "text/plain") == "print(1)\n"
    expect(answer.get_by_role("cell", name="60")).to_have_css("text-align", "right")
    answer.get_by_role("button", name="Copy the table").click()
    expect(page.get_by_text("Copied.")).to_have_count(2)
    assert clipboard(page, "text/plain") == "Port\tMiles\nWedel\t3\nCux\t60"
    assert "<em>Cux</em>" in clipboard(page, "text/html")


def test_check_boxes_and_footnotes(make_person: MakePerson, model: MessagesAPI) -> None:
    person = make_person(bypass_csp=True)
    page = answered(person, model, "- [x] pack\n- [ ] sail\n\n5. five\n\nA claim.[^1]\n\n[^1]: Its *source*.\n")
    answer = page.get_by_label("Agent", exact=True)
    expect(answer.get_by_role("checkbox", name="Done")).to_be_checked()
    expect(answer.get_by_role("checkbox", name="Open")).to_be_disabled()
    expect(answer.locator("ol[start='5']")).to_have_count(1)
    address = page.url
    answer.get_by_role("link", name="Footnote 1", exact=True).click()
    back = answer.get_by_role("link", name="Back to the text of footnote 1")
    expect(back).to_be_focused()
    back.click()
    expect(answer.get_by_role("link", name="Footnote 1", exact=True)).to_be_focused()
    assert page.url == address
    assert violations(page) == []


def test_formulas_are_drawn_and_what_is_none_stays_as_it_is(make_person: MakePerson, model: MessagesAPI) -> None:
    words = r"""Inline $a^2$ and \(b\), for $5 and $10, \[draft\], $\unknown{x}$.

$$
\frac{1}{2}
$$

- in a list:
  \[
  \begin{pmatrix}1&2\end{pmatrix}
  \]
"""
    page = answered(make_person(), model, words)
    answer = page.get_by_label("Agent", exact=True)
    expect(answer.locator("math")).to_have_count(4)
    expect(answer.locator("math[display=block]")).to_have_count(2)
    expect(answer.locator("math mfrac")).to_be_visible()
    expect(answer.locator("code.formula")).to_have_text(r"\unknown{x}")
    expect(answer.get_by_text("for $5 and $10, [draft],")).to_be_visible()


def test_a_formula_covers_nothing_but_its_own_text(make_person: MakePerson, model: MessagesAPI) -> None:
    page = answered(make_person(), model, r"A bar: $\smash{\rule{20em}{10em}}$.")
    bar = page.get_by_label("Agent", exact=True).locator("mspace")
    expect(bar).to_have_count(1)
    covered = "(bar) => document.elementFromPoint(bar.getBoundingClientRect().x + 9, bar.getBoundingClientRect().y + 9)"
    assert bar.evaluate(f"(bar) => ({covered})(bar) !== bar")
    assert bar.evaluate("(bar) => bar.getBoundingClientRect().y > 0")


def test_a_diagram_is_drawn_and_its_text_is_at_hand(make_person: MakePerson, model: MessagesAPI) -> None:
    person = make_person(color_scheme="light")
    page = answered(person, model, FLOW)
    answer = page.get_by_label("Agent", exact=True)
    picture = answer.get_by_role("img", name="Diagram")
    expect(picture).to_be_visible()
    assert picture.evaluate("(shown) => shown.decode().then(() => shown.naturalWidth)") > 100
    light = picture.get_attribute("src") or ""
    assert "Start" in light
    answer.get_by_role("button", name="Show the source").click()
    expect(answer.get_by_text("A[Start] --> B[End]")).to_be_visible()
    answer.get_by_role("button", name="Show the diagram").click()
    answer.get_by_role("button", name="Show Diagram large").click()
    expect(page.get_by_role("dialog").get_by_role("img", name="Diagram")).to_be_visible()
    page.keyboard.press("Escape")
    page.emulate_media(color_scheme="dark")
    expect(picture).not_to_have_attribute("src", light)


def test_a_text_that_is_no_diagram_stays(make_person: MakePerson, model: MessagesAPI) -> None:
    page = answered(make_person(), model, "```mermaid\nno diagram\n```\n\n" + FLOW)
    answer = page.get_by_label("Agent", exact=True)
    expect(answer.get_by_role("img", name="Diagram")).to_have_count(1)
    expect(answer.get_by_text("no diagram")).to_be_visible()


def test_a_hostile_diagram_reaches_nothing(make_person: MakePerson, model: MessagesAPI) -> None:
    person = make_person()
    heard: list[str] = []
    person.page.on("requestfinished", lambda request: heard.append(request.url))
    person.page.on("requestfailed", lambda request: heard.append(f"{request.failure} {request.url}"))
    person.page.on("dialog", lambda _: heard.append("a dialog of the browser"))
    page = answered(person, model, HOSTILE + "\n" + FLOW)
    # The harmless one is drawn after the other, whose picture is refused.
    expect(page.get_by_label("Agent", exact=True).get_by_role("img", name="Diagram")).to_have_count(1)
    expect(page.get_by_text("click A href")).to_be_visible()
    theirs = [url for url in heard if person.computer.url not in url and not url.startswith(("data:", "blob:"))]
    assert theirs == ["csp http://192.0.2.1/x.png"]
    assert page.locator(_FRAME).get_attribute("sandbox") == "allow-scripts"
    drawing = next(frame for frame in page.frames if "diagrams-" in frame.url)
    refused = dict.fromkeys(("page", "storage", "cookies", "api"), "refused")
    assert drawing.evaluate(_TRIES) == {"origin": "null", **refused}
    assert page.locator(".log svg:not(.icon), .log script").count() == 0
    # What its scripts were refused above is written into the log of the browser.
    person.problems.clear()


def test_nothing_of_it_is_loaded_for_other_words(make_person: MakePerson, model: MessagesAPI) -> None:
    person = make_person()
    heard: list[str] = []
    person.page.on("request", lambda request: heard.append(request.url))
    page = answered(person, model, "Only **words** and `code`.")
    expect(page.get_by_label("Agent", exact=True).get_by_text("words")).to_be_visible()
    assert [url for url in heard if "temml" in url or "diagrams-" in url] == []
