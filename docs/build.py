"""Builds the documentation into build/docs; its tables come from the code (`make docs`)."""

import html
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import typer
import typer.main
import yaml
from markdown_it import MarkdownIt
from pydantic import BaseModel

from parachute.app import create
from parachute.cli.commands import modules
from parachute.cli.module_states import STATES, UNIT_STATES
from parachute.hooks.commands import shown_name
from parachute.hooks.configuration import FIRST_FILE
from parachute.hooks.models import EVENTS, MEANINGS, SCRIPTS
from parachute.settings.home import Home
from parachute.settings.models import Settings
from parachute.supervisor.credentials import Credentials

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "build" / "docs"

_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 50rem; margin: 2rem auto; padding: 0 1rem; color: #222; }}
table {{ border-collapse: collapse; width: 100%; }} th, td {{ text-align: left; vertical-align: top; padding: .3rem .6rem; border-bottom: 1px solid #ddd; }}
code, pre {{ font-family: ui-monospace, monospace; font-size: .9em; background: #f5f5f5; }} pre {{ padding: .8rem; overflow-x: auto; }}
nav a {{ margin-right: 1rem; }}
</style>
<nav>{navigation}</nav>
{body}
</html>
"""


def main() -> None:
    """Render every page."""
    shutil.rmtree(TARGET, ignore_errors=True)
    TARGET.mkdir(parents=True)
    pages = {"index": ROOT / "README.md", "specification": ROOT / "SPECIFICATION.md"}
    pages |= {path.stem: path for path in sorted((ROOT / "docs").glob("*.md"))}
    pages |= {f"module-{path.parent.name}": path for path in sorted((ROOT / "modules").glob("*/README.md"))}
    renderer = MarkdownIt("commonmark").enable("table")
    titles = {name: _title(path) for name, path in pages.items()}
    navigation = "".join(f'<a href="{name}.html">{html.escape(title)}</a>' for name, title in titles.items())
    for name, path in pages.items():
        text = path.read_text(encoding="utf-8")
        for place, table in TABLES.items():
            if place in text:
                text = text.replace(place, table())
        text = re.sub(r"\((?:docs/)?([\w-]+)\.md\)", lambda match: f"({match[1].lower()}.html)", text)
        text = re.sub(r"\((?:\.\./)?modules/([\w-]+)/README\.md\)", r"(module-\1.html)", text)
        page = _PAGE.format(title=html.escape(titles[name]), navigation=navigation, body=renderer.render(text))
        (TARGET / f"{name}.html").write_text(page, encoding="utf-8")
    print(f"{len(pages)} pages in {TARGET.relative_to(ROOT)}/index.html")


def settings_table() -> str:
    """All settings with their defaults, as Markdown."""
    rows = ["| setting | default | meaning |", "|---|---|---|"]
    rows += [f"| `{name}` | `{default}` | {meaning} |" for name, default, meaning in setting_rows(Settings)]
    return "\n".join(rows)


def setting_rows(model: type[BaseModel], prefix: str = "") -> list[tuple[str, str, str]]:
    """(name, default, description) of every setting, inner ones with dotted names."""
    rows: list[tuple[str, str, str]] = []
    for name, field in model.model_fields.items():
        if isinstance(field.default, BaseModel):
            rows += setting_rows(type(field.default), f"{prefix}{name}.")
        else:
            plain = [str(each) for each in field.default] if isinstance(field.default, list) else field.default
            default = "" if plain is None else str(plain).replace(str(Path.home()), "~")
            rows.append((prefix + name, default, field.description or ""))
    return rows


def routes_table() -> str:
    """All routes with their first sentence, as Markdown."""
    rows = ["| route | what it does |", "|---|---|"]
    rows += [f"| `{method} {path}` | {meaning} |" for method, path, meaning in routes()]
    return "\n".join(rows)


def routes() -> list[tuple[str, str, str]]:
    """(method, path, description) of every route."""
    paths = create(Home(ROOT / "build"), Settings(), Credentials()).openapi()["paths"]
    return [
        (method.upper(), path, operation.get("description", "").partition("\n")[0])
        for path, operations in paths.items()
        for method, operation in operations.items()
    ]


def module_commands_table() -> str:
    """All commands about modules with what they do, as Markdown."""
    rows = ["| command | what it does |", "|---|---|"]
    rows += [f"| `parachute modules {usage}` | {meaning} |" for usage, meaning in module_commands()]
    return "\n".join(rows)


def module_commands() -> list[tuple[str, str]]:
    """(usage, description) of every command about modules."""
    app = typer.Typer()
    app.callback()(lambda: None)
    modules.register(app)
    group = typer.main.get_command(app)
    assert isinstance(group, typer.main.TyperGroup)
    inner = group.commands["modules"]
    assert isinstance(inner, typer.main.TyperGroup)
    return [
        (" ".join([name, *map(_parameter, command.params)]), (command.help or "").partition("\n")[0])
        for name, command in inner.commands.items()
    ]


def module_states_table() -> str:
    """The words for what modules do, as Markdown."""
    rows = ["| word | meaning |", "|---|---|"]
    rows += [f"| `{word}` | {meaning} |" for word, meaning in [*UNIT_STATES.values(), *STATES.values()]]
    return "\n".join(rows)


def hook_events_table() -> str:
    """The events of the computer itself with what hooks are told, as Markdown."""
    rows = ["| event | when | `data` | script |", "|---|---|---|---|"]
    scripts = {event: name for name, event in SCRIPTS.items()}
    for event, example in EVENTS.items():
        fields = ", ".join(f"`{name}`" for name in example)
        rows.append(f"| `{event}` | {MEANINGS[event]} | {fields} | `{scripts[event]}` |")
    return "\n".join(rows)


def default_hooks_table() -> str:
    """The hooks that come with the computer, as Markdown."""
    rows = ["| hook | event | waited for | what it does |", "|---|---|---|---|"]
    for event, entries in yaml.safe_load(FIRST_FILE)["hooks"].items():
        for entry in entries:
            name, waits = shown_name(entry["command"]), "no" if entry.get("async") else "yes"
            rows.append(f"| `{name}` | `{event}` | {waits} | {entry['description']} |")
    return "\n".join(rows)


def nixos_options_table() -> str:
    """All options of the NixOS module, as Markdown; only Nix can read them."""
    if not shutil.which("nix-instantiate"):
        return "*Nix was not installed where this page was built, which it takes to list them: see `nixos/`.*"
    sys.path.insert(0, str(ROOT))
    from tests.nix.evaluation import options
    from tests.nix.page import table

    return table(options())


TABLES = {
    "<!-- settings -->": settings_table,
    "<!-- routes -->": routes_table,
    "<!-- module-commands -->": module_commands_table,
    "<!-- module-states -->": module_states_table,
    "<!-- hook-events -->": hook_events_table,
    "<!-- default-hooks -->": default_hooks_table,
    "<!-- nixos-options -->": nixos_options_table,
}


def _parameter(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return parameter.name.upper() if parameter.required else f"[{parameter.name.upper()}]"
    return f"[{parameter.opts[0]}]" if parameter.is_flag else f"[{parameter.opts[0]} {parameter.name.upper()}]"


def _title(path: Path) -> str:
    return path.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")


if __name__ == "__main__":
    main()
