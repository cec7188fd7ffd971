"""Markdown as it is sent to Matrix: elements of the specification's list alone, and attributes that lead nowhere else."""

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parachute.connectors.platforms.matrix.markup import formatted

ALLOWED = {
    *("a", "blockquote", "br", "code", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre", "s"),
    *("strong", "table", "tbody", "td", "th", "thead", "tr", "ul"),
}
"""Elements made of Markdown; the specification allows all of them."""


class Seen(HTMLParser):
    """The elements of a text, with their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("**b** *i* ~~s~~ `c`", "<p><strong>b</strong> <em>i</em> <s>s</s> <code>c</code></p>"),
        ("one\ntwo", "<p>one<br />\ntwo</p>"),
        ("[a](https://x.test/?a=1&b=2)", '<p><a href="https://x.test/?a=1&amp;b=2">a</a></p>'),
        ("![cat](https://x.test/cat.png)", "<p>cat</p>"),
        ("<b onclick=x>b</b>", "<p>&lt;b onclick=x&gt;b&lt;/b&gt;</p>"),
        ("3. three", '<ol start="3">\n<li>three</li>\n</ol>'),
    ],
)
def test_what_is_shown(markdown: str, expected: str) -> None:
    assert formatted(markdown) == expected


@pytest.mark.parametrize(
    "address", ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "//evil.test", " JAVASCRIPT:x"]
)
def test_links_lead_to_the_web_and_to_people(address: str) -> None:
    assert not [tag for tag, _ in Seen(formatted(f"[a](<{address}>)")).found if tag == "a"]


@given(st.text(alphabet='ab <>"&|-*_~`#[]()!:\n123.=/\\', max_size=200))
def test_nothing_else_is_ever_made_of_a_text(text: str) -> None:
    for tag, attributes in Seen(formatted(text)).found:
        assert tag in ALLOWED
        allowed = {"a": {"href"}, "ol": {"start"}, "code": {"class"}}.get(tag, set())
        assert set(attributes) <= allowed
