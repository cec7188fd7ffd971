"""Markdown as Telegram shows it."""

import pytest

from parachute.connectors.platforms.splitting import units
from parachute.connectors.platforms.telegram.markup import part, parts
from tests.support.telegram_api import parsed


@pytest.mark.parametrize(
    ("markdown", "html"),
    [
        ("# A **big** title", "<b>A big title</b>"),
        ("**b** *i* ~~s~~ `c < d`", "<b>b</b> <i>i</i> <s>s</s> <code>c &lt; d</code>"),
        ("- one\n- two\n  1. a\n  2. b\n\nend", "• one\n• two\n   1. a\n   2. b\n\nend"),
        ("3. three\n4. four", "3. three\n4. four"),
        ("> quote\n>> deeper", "<blockquote>quote\n\ndeeper</blockquote>"),
        ("```c++\na<b>c\n```", '<pre><code class="language-c++">a&lt;b&gt;c</code></pre>'),
        ('```"><script>\nx\n```', "<pre>x</pre>"),
        ("[l](https://e.org/?a=1&b=2)", '<a href="https://e.org/?a=1&amp;b=2">l</a>'),
        ("[l](file:///etc/passwd) [l](ftp://e.org)", "[l](file:///etc/passwd) l"),
        ("<script>alert(1)</script> & co", "&lt;script&gt;alert(1)&lt;/script&gt; &amp; co"),
        ("| a | bb |\n|---|---|\n| 1 | 2 |", "<pre>a | bb\n--+---\n1 | 2</pre>"),
        ("![map](https://e.org/x.png)", "map"),
        ("a\nb\n\n\n\nc", "a\nb\n\nc"),
    ],
)
def test_it_is_html_of_telegram(markdown: str, html: str) -> None:
    rendered = part(markdown)
    assert rendered.html == html
    assert parsed(rendered.html) == rendered.plain.strip()


@pytest.mark.parametrize("markdown", ["", "   \n\n", "[](https://e.org)", "<!---->" * 0])
def test_what_shows_nothing_is_no_message(markdown: str) -> None:
    assert parts(markdown, 4096) == []


def test_parts_are_measured_as_they_are_shown() -> None:
    text = "\n\n".join(f"**{n}** [link](https://example.org/{'x' * 200}) 😀😀" for n in range(400))
    found = parts(text, 4096)
    assert all(units(each.plain) <= 4096 for each in found)
    assert len(found) < 3
    assert all(parsed(each.html) == each.plain.strip() for each in found)
