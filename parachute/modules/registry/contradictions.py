"""Contradictions between a module's code and its manifest, found without importing it.

The host compares the loaded module with its manifest as well, but only at the first request.
"""

import ast
from collections.abc import Iterable

from parachute.modules.manifest.models import Manifest

_MARKS = {"mcp_tool": ("tool", "mcp_tools"), "event": ("event", "hooks")}


def contradictions(manifest: Manifest, entry: ast.Module, files: Iterable[ast.Module]) -> list[str]:
    """A sentence for each name, version, tool and event in which code and manifest differ.

    `entry` is the file with the class, `files` are all. What a program would have to be run for, such as a computed name, is
    left to the host.
    """
    problems = []
    for field, stated in (("name", manifest.name), ("version", manifest.version)):
        problems += [
            f"{manifest.module}, line {line}: the class has the {field} {written!r}, and manifest.yaml says {stated!r}."
            for written, line in _class_values(entry, field)
            if written != stated
        ]
    marked = _marked(files)
    for mark, promised, handled in (
        ("mcp_tool", {tool.name for tool in manifest.mcp_tools}, {t.name for t in manifest.mcp_tools if t.handler}),
        ("event", {hook.event for hook in manifest.hooks}, {hook.event for hook in manifest.hooks if hook.handler}),
    ):
        what, where = _MARKS[mark]
        found = marked[mark]
        if found is None:
            continue
        problems += [
            f"The code has the {what} {name}, and manifest.yaml does not name it under {where}."
            for name in sorted(found - promised)
        ]
        problems += [
            f"manifest.yaml names the {what} {name} under {where}, and the code has no function for it."
            for name in sorted(promised - handled - found)
        ]
    return problems


def _class_values(tree: ast.Module, name: str) -> Iterable[tuple[str, int]]:
    for node in ast.walk(tree):
        is_module = isinstance(node, ast.ClassDef) and any(ast.unparse(base).endswith("Module") for base in node.bases)
        for statement in node.body if is_module and isinstance(node, ast.ClassDef) else ():
            match statement:
                case ast.Assign(targets=[ast.Name(id=target)], value=ast.Constant(value=str(value))) if target == name:
                    yield value, statement.lineno


def _marked(files: Iterable[ast.Module]) -> dict[str, set[str] | None]:
    """The names in each kind of decorator; None where one of them is no plain text."""
    found: dict[str, set[str] | None] = {mark: set() for mark in _MARKS}
    for tree in files:
        for node in ast.walk(tree):
            for decorator in getattr(node, "decorator_list", ()):
                _take(decorator, found)
    return found


def _take(decorator: ast.expr, found: dict[str, set[str] | None]) -> None:
    match decorator:
        case ast.Call(func=ast.Name(id=mark) | ast.Attribute(attr=mark), args=[name, *_]) if mark in found:
            names = found[mark]
            if names is not None and isinstance(name, ast.Constant) and isinstance(name.value, str):
                names.add(name.value)
            else:
                found[mark] = None
