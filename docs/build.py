"""Fills the tables of the pages in and builds the site in build/docs (`make docs`)."""

import html
import re
import shutil
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

from tables import ROOT, filled

TARGET = ROOT / "build" / "docs"
SCREENSHOTS = ROOT / "build" / "screenshots"
PICTURES = {
    "index": ("inbox-phone-light", "journal-phone-light", "suggestions-phone-light"),
    "console": ("inbox-desktop-light", "conversations-phone-light", "knowledge-phone-light", "journal-desktop-light"),
}
"""Pictures of the console below the heading of a page, where `make screenshots` has taken them."""

GROUPS = {
    "Start": ["index", "getting-started", "console", "first-boot", "pairing", "tls", "settings"],
    "Use": [
        "module-daily",
        "module-brain",
        "module-chat",
        "workspaces",
        "permissions",
        "contexts",
        "importing",
        "search",
        "tools",
        "agents",
        "skills",
        "plugins",
        "mcp-servers",
        "inbox",
        "undo",
        "files",
        "network",
        "git",
        "suggestions",
        "scheduled-agents",
        "hooks",
    ],
    "Extend": ["installing-modules", "modules", "api"],
    "Run": [
        "updating",
        "removing",
        "appliance",
        "nixos",
        "declared",
        "containers",
        "backup",
        "doctor",
        "maintenance",
        "audit",
        "costs",
        "panic",
    ],
    "Understand": ["security", "origins", "architecture", "glossary", "specification", "verified"],
}
"""The pages as the navigation shows them; each page stands here once."""

_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title} · Parachute Computer</title>
<link rel="stylesheet" href="site.css">
<nav>{navigation}</nav>
<main>{body}</main>
</html>
"""


def main() -> None:
    """Fill in every page in the repository, and render it."""
    pages = sources()
    for path in pages.values():
        text = path.read_text(encoding="utf-8")
        if (now := filled(text)) != text:
            path.write_text(now, encoding="utf-8")
    shutil.rmtree(TARGET, ignore_errors=True)
    TARGET.mkdir(parents=True)
    shutil.copy(ROOT / "docs" / "site.css", TARGET)
    if SCREENSHOTS.is_dir():
        shutil.copytree(SCREENSHOTS, TARGET / SCREENSHOTS.name)
    for name in pages:
        (TARGET / f"{name}.html").write_text(rendered(name, pages), encoding="utf-8")
    print(f"{len(pages)} pages in {TARGET.relative_to(ROOT)}/index.html")


def sources() -> dict[str, Path]:
    """Every page by the name that it has on the site."""
    pages = {"index": ROOT / "README.md", "specification": ROOT / "SPECIFICATION.md"}
    pages |= {path.stem: path for path in sorted((ROOT / "docs").glob("*.md"))}
    return pages | {f"module-{path.parent.name}": path for path in sorted((ROOT / "modules").glob("*/README.md"))}


def rendered(name: str, pages: dict[str, Path]) -> str:
    """One page as HTML; links between pages lead to those of the site."""
    titles = {each: _title(path) for each, path in pages.items()}
    navigation = "".join(
        f"<details{' open' if name in group else ''}><summary>{heading}</summary>"
        + "".join(_link(each, titles[each], is_current=each == name) for each in group)
        + "</details>"
        for heading, group in GROUPS.items()
    )
    renderer = MarkdownIt("commonmark").enable("table")
    tokens = renderer.parse(pages[name].read_text(encoding="utf-8"))
    names = {path.resolve(): each for each, path in pages.items()}
    for position, token in enumerate(tokens):
        if token.type == "heading_open":
            token.attrSet("id", anchor(tokens[position + 1].content))
        for part in token.children or ():
            if part.type == "link_open":
                _lead_to_site(part, pages[name], names)
    # A table may be wider than a phone: it scrolls by itself.
    body = renderer.renderer.render(tokens, renderer.options, {})
    body = body.replace("</h1>", f"</h1>{_pictures(name)}", 1)
    body = body.replace("<table>", '<div class="wide"><table>').replace("</table>", "</table></div>")
    return _PAGE.format(title=html.escape(titles[name]), navigation=navigation, body=body)


def anchor(heading: str) -> str:
    """The name by which a heading is linked to, as code hosts make it."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def _pictures(name: str) -> str:
    taken = [each for each in PICTURES.get(name, ()) if (SCREENSHOTS / f"{each}.png").is_file()]
    shown = "".join(f'<img src="{SCREENSHOTS.name}/{each}.png" alt="{each.replace("-", " ")}">' for each in taken)
    return f'<p class="pictures">{shown}</p>' if shown else ""


def _lead_to_site(link: Token, page: Path, names: dict[Path, str]) -> None:
    target, _, fragment = str(link.attrGet("href")).partition("#")
    if target and (found := names.get((page.parent / target).resolve())):
        link.attrSet("href", f"{found}.html" + (f"#{fragment}" if fragment else ""))


def _link(name: str, title: str, *, is_current: bool) -> str:
    current = ' aria-current="page"' if is_current else ""
    return f'<a href="{name}.html"{current}>{html.escape(title)}</a>'


def _title(path: Path) -> str:
    return path.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")


if __name__ == "__main__":
    main()
