"""Contradictions between a module's code and its manifest, found without importing it.

The host compares the loaded module with its manifest as well, but only at the first request.
"""

import ast
from collections.abc import Iterable, Iterator, Mapping

from parachute.core.interfaces import KNOWN, differs, methods_of
from parachute.modules.manifest.claims import problems as problems_of_claims
from parachute.modules.manifest.models import Manifest, handler_file
from parachute.modules.registry.class_source import ClassSource, class_source, defined

_MARKS = {"mcp_tool": ("tool", "mcp_tools"), "event": ("event", "hooks")}


def contradictions(manifest: Manifest, files: Mapping[str, ast.Module]) -> list[str]:
    """A sentence for each thing in which code and manifest differ: fields of the class, interfaces, tools, events, handlers.

    `files` are all by path, that of the class among them. What a program would have to be run for, such as a computed name,
    is left to the host.
    """
    entry = files[manifest.module]
    problems: list[str] = []
    for field, stated in (("name", manifest.name), ("version", manifest.version)):
        problems += [
            f"{manifest.module}, line {line}: the class has the {field} {written!r}, and manifest.yaml says {stated!r}."
            for written, line in _class_values(entry, field)
            if written != stated
        ]
    if (found := class_source(entry, files.values())) is not None:
        problems += problems_of_claims(found.claims, manifest)
        problems += _interfaces(manifest, found, entry)
    problems += _handlers(manifest, files)
    marked = _marked(files.values())
    for mark, promised, handled in (
        ("mcp_tool", {tool.name for tool in manifest.mcp_tools}, {t.name for t in manifest.mcp_tools if t.handler}),
        ("event", {hook.event for hook in manifest.hooks}, {hook.event for hook in manifest.hooks if hook.handler}),
    ):
        what, where = _MARKS[mark]
        names = marked[mark]
        if names is None:
            continue
        problems += [
            f"The code has the {what} {name}, and manifest.yaml does not name it under {where}."
            for name in sorted(names - promised)
        ]
        problems += [
            f"manifest.yaml names the {what} {name} under {where}, and the code has no function for it."
            for name in sorted(promised - handled - names)
        ]
    return problems


def _interfaces(manifest: Manifest, own: ClassSource, entry: ast.Module) -> Iterator[str]:
    """Differences between the class and the interfaces that the manifest promises, in the words of the host."""
    known_here = defined(entry)
    for name in (provided.name for provided in manifest.provides):
        if name not in KNOWN:
            if known_here is not None and name not in known_here:
                yield f"manifest.yaml provides {name}, and {manifest.module} has no class {name}(Protocol) that says what it is."
            continue
        for method, wanted in methods_of(KNOWN[name]).items():
            function = own.methods.get(method)
            if function is None:
                if own.is_whole and method not in own.methods:
                    yield f"{manifest.name} provides {name}, and its class has no method {method}."
                continue
            arguments = function.args
            names = [each.arg for each in (*arguments.args[1:], *arguments.kwonlyargs)]
            plain = arguments.args[1 : len(arguments.args) - len(arguments.defaults)]
            keyed = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
            required = [each.arg for each in plain] + [each.arg for each, default in keyed if default is None]
            if wrong := differs(wanted, names, required, rest=arguments.kwarg is not None):
                yield f"{manifest.name}.{method} {wrong}, as {name} says."


def _handlers(manifest: Manifest, files: Mapping[str, ast.Module]) -> Iterator[str]:
    named = [*(tool.handler for tool in manifest.mcp_tools), *(hook.handler for hook in manifest.hooks)]
    for handler in dict.fromkeys(each for each in named if each):
        file, name = handler_file(handler), handler.partition(":")[2]
        names = defined(files[file]) if file in files else None
        if names is not None and name not in names:
            yield f"manifest.yaml names the handler {handler}, and {file} has no function {name}."


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
