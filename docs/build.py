"""Fills the tables of the pages in and builds the site in build/docs (`make docs`)."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tables import ROOT, filled

SOURCE = ROOT / "build" / "docs-source"
TARGET = ROOT / "build" / "docs"
SCREENSHOTS = ROOT / "build" / "screenshots"
PICTURES = {
    "index": ("inbox-phone-light", "journal-phone-light", "suggestions-phone-light"),
    "console": ("inbox-desktop-light", "conversations-phone-light", "knowledge-phone-light", "journal-desktop-light"),
}
"""Pictures of the console below the heading of a page, where `make screenshots` has taken them."""

GROUPS = {
    "Guide": ["index", "tutorial", "phone", "console", "importing", "undo", "forgetting", "backup", "questions"],
    "Use": [
        "getting-started",
        "module-daily",
        "module-brain",
        "module-chat",
        "models",
        "workspaces",
        "permissions",
        "contexts",
        "voice",
        "waiting",
        "sharing",
        "search",
        "tools",
        "agents",
        "plugins",
        "mcp-servers",
        "mcp-clients",
        "inbox",
        "notices",
        "messengers",
        "files",
        "sync",
        "network",
        "suggestions",
        "scheduled-agents",
        "reminders",
        "hooks",
        "recipes",
    ],
    "Run": [
        "doors",
        "settings",
        "pairing",
        "tls",
        "updating",
        "doctor",
        "costs",
        "appliance",
        "image",
        "nixos",
        "containers",
    ],
    "Extend": ["installing-modules", "afternoon", "modules", "module-imports", "api"],
    "Understand": ["security", "origins", "architecture", "glossary", "specification", "verified"],
}
"""The pages as the navigation shows them; each page stands here once."""

_LINK = re.compile(r"\]\(([^()#\s]+)((?:#[^()\s]*)?)\)")
_LIST = re.compile(r"(?:[-*]|\d+\.) ")
_FENCE = re.compile(r"```(\w+) (\S.*)")


def main() -> None:
    """Fill in every page in the repository, and build the site of them."""
    pages = sources()
    for path in pages.values():
        text = path.read_text(encoding="utf-8")
        if (now := filled(text)) != text:
            path.write_text(now, encoding="utf-8")
    shutil.rmtree(SOURCE, ignore_errors=True)
    (SOURCE / "pages").mkdir(parents=True)
    if SCREENSHOTS.is_dir():
        shutil.copytree(SCREENSHOTS, SOURCE / "pages" / SCREENSHOTS.name)
    for name in pages:
        (SOURCE / "pages" / f"{name}.md").write_text(page(name, pages), encoding="utf-8")
    (SOURCE / "pages" / "site.css").write_text((ROOT / "docs" / "site.css").read_text())
    (SOURCE / "zensical.toml").write_text(configuration(pages), encoding="utf-8")
    subprocess.run([sys.executable, "-m", "zensical", "build", "--clean", "--strict"], cwd=SOURCE, check=True)
    shutil.rmtree(TARGET, ignore_errors=True)
    (SOURCE / "site").rename(TARGET)
    target = TARGET.relative_to(ROOT)
    print(f"{len(pages)} pages in {target}/index.html; with its search: python3 -m http.server --directory {target}")


def sources() -> dict[str, Path]:
    """Every page by the name that it has on the site."""
    pages = {"index": ROOT / "README.md", "specification": ROOT / "SPECIFICATION.md"}
    pages |= {path.stem: path for path in sorted((ROOT / "docs").glob("*.md"))}
    return pages | {f"module-{path.parent.name}": path for path in sorted((ROOT / "modules").glob("*/README.md"))}


def page(name: str, pages: dict[str, Path]) -> str:
    """A page as the site takes it: links lead to pages of the site, and pictures follow the heading."""
    names = {path.resolve(): each for each, path in pages.items()}
    folder = pages[name].parent

    def lead(link: re.Match[str]) -> str:
        found = names.get((folder / link[1]).resolve())
        return f"]({found}.md{link[2]})" if found else link[0]

    lines: list[str] = []
    is_code = False
    for line in pages[name].read_text(encoding="utf-8").splitlines():
        is_code ^= line.startswith("```")
        # The file of which it is the content.
        line = _FENCE.sub(r'``` {.\1 title="\2"}', line)
        # The site's Markdown, older than CommonMark, wants a line between a text and its list.
        if (
            not is_code
            and _LIST.match(line)
            and lines
            and lines[-1]
            and not _LIST.match(lines[-1])
            and lines[-1][0] != " "
        ):
            lines.append("")
        lines.append(line if is_code else _LINK.sub(lead, line))
    lines[1:1] = pictures(name)
    return "\n".join(lines) + "\n"


def pictures(name: str) -> list[str]:
    """The pictures of a page that were taken."""
    taken = [each for each in PICTURES.get(name, ()) if (SCREENSHOTS / f"{each}.png").is_file()]
    shown = (f"![{each.replace('-', ' ')}]({SCREENSHOTS.name}/{each}.png)" for each in taken)
    return ["", f'<div class="pictures" markdown="1">{"".join(shown)}</div>'] if taken else []


def configuration(pages: dict[str, Path]) -> str:
    """The settings of the site, which asks nothing of other hosts.

    Not the plugin `offline`, with which the search would also work from the disk: it loads a script from a host of packages.
    """
    titles = {name: path.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ") for name, path in pages.items()}
    navigation = [{heading: [{titles[name]: f"{name}.md"} for name in group]} for heading, group in GROUPS.items()]
    return f"""
[project]
site_name = "Parachute Computer"
docs_dir = "pages"
site_dir = "site"
use_directory_urls = false
extra_css = ["site.css"]
nav = {_toml(navigation)}

[project.theme]
font = false
language = "en"
features = ["navigation.sections", "navigation.top", "toc.follow", "content.code.copy", "search.highlight"]

[[project.theme.palette]]
media = "(prefers-color-scheme: light)"
scheme = "default"
toggle = {{ icon = "lucide/sun", name = "Dark" }}

[[project.theme.palette]]
media = "(prefers-color-scheme: dark)"
scheme = "slate"
toggle = {{ icon = "lucide/moon", name = "Light" }}

[project.plugins.search]

[project.markdown_extensions.tables]
[project.markdown_extensions.md_in_html]
[project.markdown_extensions.attr_list]
[project.markdown_extensions.pymdownx.superfences]
[project.markdown_extensions.pymdownx.highlight]
[project.markdown_extensions.toc]
permalink = true
slugify = {{ object = "pymdownx.slugs.slugify", kwds = {{ case = "lower" }} }}
"""


def _toml(value: object) -> str:
    """Lists, tables and texts in one line of TOML."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {_toml(each)}" for key, each in value.items()) + "}"
    return "[" + ", ".join(map(_toml, value)) + "]" if isinstance(value, list) else json.dumps(value)


def anchor(heading: str) -> str:
    """The name by which a heading is linked to, as code hosts make it."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


if __name__ == "__main__":
    main()
