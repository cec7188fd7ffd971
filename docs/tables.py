"""The tables of the documentation, made from the code; each stands in a page between two comments of its name."""

import ast
import inspect
import re
import shutil
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import typer
import typer.main
import yaml
from pydantic import BaseModel

from parachute.chat.agent_processes.program_tools import PROGRAM_TOOLS
from parachute.chat.runs.events import EVENTS as EVENTS_OF_CHATS
from parachute.chat.runs.events import optional
from parachute.chat.runs.failures import FAILURES
from parachute.cli.commands import modules
from parachute.cli.modules import STATES, UNIT_STATES
from parachute.config.settings.expectations import allowed_words
from parachute.config.settings.home import Home
from parachute.config.settings.models import Settings
from parachute.config.settings.rows import fields
from parachute.config.settings.topics import TOPICS as SETTING_TOPICS
from parachute.config.settings.topics import topic_of
from parachute.core.interfaces import KNOWN, methods_of
from parachute.events.bus.catalogue import ALL as OWN_EVENTS
from parachute.events.feed.models import ALL as TOPICS
from parachute.events.hooks.commands import shown_name
from parachute.events.hooks.configuration import FIRST_FILE
from parachute.modules.manifest.interface_rights import is_cores, is_writing
from parachute.server.app import create
from parachute.supervisor.credentials import Credentials
from parachute.web.access.routing import needed

ROOT = Path(__file__).resolve().parent.parent


def settings_table() -> str:
    """All settings with their defaults by topic, as Markdown."""
    found = setting_rows(Settings)
    titles = {".".join(path): field.title for path, field in fields(Settings)}
    parts = []
    for topic in SETTING_TOPICS:
        rows = [f"### {topic.title}", "", "| setting | | default | meaning |", "|---|---|---|---|"]
        rows += [
            f"| `{name}` | {titles[name]} | `{default}` | {meaning} |"
            for name, default, meaning in found
            if topic_of(name) == topic.key
        ]
        parts.append("\n".join(rows))
    return "\n\n".join(parts)


def setting_rows(model: type[BaseModel]) -> list[tuple[str, str, str]]:
    """(name, default, meaning) of every setting, inner ones with dotted names."""
    rows: list[tuple[str, str, str]] = []
    for path, field in fields(model):
        plain = [str(each) for each in field.default] if isinstance(field.default, list) else field.default
        default = "" if plain is None else str(plain).replace(str(Path.home()), "~")
        words = allowed_words(field)
        allowed = f" One of: {', '.join(words)}." if words and field.description else ""
        rows.append((".".join(path), default, (field.description or "") + allowed))
    return rows


def routes_table() -> str:
    """All routes with the scope that a key needs, what they take, and their first sentence, as Markdown."""
    groups: dict[str, list[Route]] = {}
    for route in routes():
        groups.setdefault(_group(route.path), []).append(route)
    return "\n\n".join(
        "\n".join(
            [
                f"### {name}",
                "",
                "| route | scope | takes | what it does |",
                "|---|---|---|---|",
                *(
                    f"| `{route.method} {route.path}` | {route.scope} | {route.takes} | {route.meaning} |"
                    for route in each
                ),
            ]
        )
        for name, each in sorted(groups.items())
    )


class Route(NamedTuple):
    """A route as the table shows it."""

    method: str
    path: str
    scope: str
    takes: str
    meaning: str


def routes() -> list[Route]:
    """Every route of the server; those of modules stand in their own pages."""
    document = create(Home(ROOT / "build"), Settings(), Credentials()).openapi()
    schemas = document["components"]["schemas"]
    return [
        Route(
            method.upper(),
            path,
            f"`{operation['x-scope']}`" if "x-scope" in operation else "none",
            _takes(operation, schemas),
            operation.get("description", "").partition("\n")[0],
        )
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
    ]


def _group(path: str) -> str:
    return path.removeprefix("/api").strip("/").partition("/")[0]


def _takes(operation: dict[str, Any], schemas: dict[str, Any]) -> str:
    """The query and the fields of the body; in brackets what may be left out."""
    parameters = [each for each in operation.get("parameters", ()) if each["in"] == "query"]
    shown = [_name(f"?{each['name']}", each.get("required", False)) for each in parameters]
    for content in operation.get("requestBody", {}).get("content", {}).values():
        for name in _references(content["schema"]):
            body = schemas[name]
            required = body.get("required", ())
            shown += [_name(field, field in required) for field in body.get("properties", ())]
    return " ".join(shown)


def _references(schema: dict[str, Any]) -> list[str]:
    choices = [schema, *schema.get("anyOf", ())]
    return [choice["$ref"].rpartition("/")[2] for choice in choices if "$ref" in choice]


def _name(name: str, required: bool) -> str:
    return f"`{name}`" if required else f"`[{name}]`"


def module_commands_table() -> str:
    """All commands about modules with what they do, as Markdown."""
    rows = ["| command | what it does |", "|---|---|"]
    rows += [f"| `parachute modules {usage}` | {meaning} |" for usage, meaning in module_commands()]
    return "\n".join(rows)


def module_commands() -> list[tuple[str, str]]:
    """(usage, description) of every command about modules."""
    return [
        (" ".join([name, *map(_parameter, command.params)]), (command.help or "").partition("\n")[0])
        for name, command in typer.main.get_group(modules.app).commands.items()
    ]


def module_states_table() -> str:
    """The words for what modules do, as Markdown."""
    rows = ["| word | meaning |", "|---|---|"]
    rows += [f"| `{word}` | {meaning} |" for word, meaning in [*UNIT_STATES.values(), *STATES.values()]]
    return "\n".join(rows)


def hook_events_table() -> str:
    """The events of the computer itself with what hooks are told, as Markdown."""
    rows = ["| event | when | `data` | script |", "|---|---|---|---|"]
    for event in OWN_EVENTS:
        fields = ", ".join(f"`{name}`" for name in event.example)
        rows.append(f"| `{event.name}` | {event.meaning} | {fields} | `{event.script}` |")
    return "\n".join(rows)


def chat_events_table() -> str:
    """The events of a chat with their fields, as Markdown; in brackets what may be left out."""
    rows = ["| type | fields | meaning |", "|---|---|---|"]
    for kind in EVENTS_OF_CHATS.values():
        fields = " ".join(_name(each, each not in optional(kind)) for each in kind.__struct_encode_fields__)
        end = "**Ends the stream.** " if kind.is_terminal else ""
        meaning = " ".join((kind.__doc__ or "").split())
        rows.append(f"| `{kind.type}` | {fields} | {end}{meaning} |")
    return "\n".join(rows)


def feed_topics_table() -> str:
    """Topics of the stream of changes, and who hears of each, as Markdown."""
    rows = ["| topic | for whom | what has changed |", "|---|---|---|"]
    for topic in TOPICS:
        need = needed("GET", topic.path)
        rows.append(f"| `{topic.name}` | `{need.module}:{need.capability}` | {topic.meaning} |")
    return "\n".join(rows)


def error_codes_table() -> str:
    """The codes of `typed_error` with what the app offers to do, as Markdown."""
    rows = ["| code | title | actions |", "|---|---|---|"]
    for code, (title, actions) in FAILURES.items():
        rows.append(f"| `{code}` | {title} | {', '.join(f'`{action}`' for action in actions)} |")
    return "\n".join(rows)


def program_tools_table() -> str:
    """The tools of the agent's program that conversations have, as Markdown."""
    rows = ["| tool | | needs | reason |", "|---|---|---|---|"]
    rows += [f"| `{tool.name}` | {tool.does} | {tool.needs} | {tool.why} |" for tool in PROGRAM_TOOLS]
    return "\n".join(rows)


def default_hooks_table() -> str:
    """The hooks that come with the computer, as Markdown."""
    rows = ["| hook | event | waited for | what it does |", "|---|---|---|---|"]
    for event, entries in yaml.safe_load(FIRST_FILE)["hooks"].items():
        for entry in entries:
            name, waits = shown_name(entry["command"]), "no" if entry.get("async") else "yes"
            rows.append(f"| `{name}` | `{event}` | {waits} | {entry['description']} |")
    return "\n".join(rows)


def nixos_options_table() -> str | None:
    """All options of the NixOS module, as Markdown; None without Nix, since nothing else can read them."""
    if not shutil.which("nix-instantiate"):
        return None
    sys.path.insert(0, str(ROOT))
    from tests.nix.evaluation import options
    from tests.nix.page import table

    return table(options())


def packages_table() -> str:
    """Wings with their docstrings, and their packages, in the order in which they may import each other, as Markdown."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    order = {each["containers"][0]: each["layers"] for each in contracts if each.get("exhaustive")}
    rows = ["| wing | holds | packages |", "|---|---|---|"]
    for wing in order["parachute"]:
        inner = sorted(path.parent.name for path in (ROOT / "parachute" / wing).glob("*/__init__.py"))
        layers = order.get(f"parachute.{wing}", inner)
        packages = [name.strip() for layer in layers for name in layer.split("|") if name.strip() in inner]
        rows.append(f"| `parachute.{wing}` | {_docstring(wing)} | {', '.join(f'`{name}`' for name in packages)} |")
    return "\n".join(rows)


def _docstring(package: str) -> str:
    """The first sentence or line of a package, which is not imported for it."""
    text = ast.get_docstring(ast.parse((ROOT / "parachute" / package / "__init__.py").read_text())) or ""
    return text.split("\n")[0].rstrip(".")


def interfaces_table() -> str:
    """The methods of the interfaces that modules publish, and which of them write, as Markdown."""
    rows = ["| method | returns | writes | |", "|---|---|---|---|"]
    for interface, protocol in KNOWN.items():
        rows.append(f"| **`{interface}`** | | | {inspect.getdoc(protocol)} |".replace("\n", " "))
        for name, method in methods_of(protocol).items():
            signature = inspect.signature(method)
            named = [parameter for parameter in signature.parameters.values() if parameter.name != "self"]
            shown = str(signature.replace(parameters=named, return_annotation=signature.empty))
            returns = inspect.formatannotation(signature.return_annotation).replace("parachute.core.interfaces.", "")
            writes = "core alone" if is_cores(interface, name) else "yes" if is_writing(interface, name) else ""
            cells = (f"`{name}{shown}`", f"`{returns}`", writes, (inspect.getdoc(method) or "").split("\n")[0])
            rows.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    return "\n".join(rows)


TABLES: dict[str, Callable[[], str | None]] = {
    "packages": packages_table,
    "settings": settings_table,
    "routes": routes_table,
    "interfaces": interfaces_table,
    "module-commands": module_commands_table,
    "module-states": module_states_table,
    "hook-events": hook_events_table,
    "default-hooks": default_hooks_table,
    "program-tools": program_tools_table,
    "chat-events": chat_events_table,
    "error-codes": error_codes_table,
    "feed-topics": feed_topics_table,
    "nixos-options": nixos_options_table,
}

_PLACE = re.compile(r"<!-- ([a-z-]+) -->\n(?:.*?\n)?<!-- end of \1 -->", re.DOTALL)


def filled(text: str) -> str:
    """A page with its tables as they are now; a table that cannot be made here stays as it is."""

    def table(place: re.Match[str]) -> str:
        made = TABLES[place[1]]()
        return place[0] if made is None else f"<!-- {place[1]} -->\n\n{made}\n\n<!-- end of {place[1]} -->"

    return _PLACE.sub(table, text)


def _parameter(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return parameter.name.upper() if parameter.required else f"[{parameter.name.upper()}]"
    return f"[{parameter.opts[0]}]" if parameter.is_flag else f"[{parameter.opts[0]} {parameter.name.upper()}]"
