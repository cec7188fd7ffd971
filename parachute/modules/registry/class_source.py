"""The class of a module as its source says it, read without importing anything of it."""

import ast
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from msgspec import Struct, field

from parachute.base.errors import ParachuteError
from parachute.core.agents import AgentConfig, SandboxConfig, agent
from parachute.modules.manifest.claims import UNKNOWN, Claims

_MAKERS: Mapping[str, Callable[..., Any]] = {"AgentConfig": AgentConfig, "SandboxConfig": SandboxConfig, "agent": agent}
_FIELDS = ("permissions", "agents", "provides", "optional_requires")


class ClassSource(Struct, frozen=True):
    """A class that inherits from Module: what it says of itself, and its methods by name, those of its bases included.

    The value of a method is None where it is made by something else than `def`. `is_whole`: every base is known.
    """

    claims: Claims
    methods: Mapping[str, ast.FunctionDef | ast.AsyncFunctionDef | None] = field(default_factory=dict)
    is_whole: bool = True


def class_source(entry: ast.Module, files: Iterable[ast.Module]) -> ClassSource | None:
    """Read the module's class from its file; None if there is not exactly one."""
    own = [node for node in entry.body if isinstance(node, ast.ClassDef)]
    found = [node for node in own if any(_last(base).endswith("Module") for base in node.bases)]
    inner = {_last(base) for node in own for base in node.bases}
    found = [node for node in found if node.name not in inner]
    if len(found) != 1:
        return None
    known = {node.name: node for tree in files for node in tree.body if isinstance(node, ast.ClassDef)}
    methods: dict[str, ast.FunctionDef | ast.AsyncFunctionDef | None] = {}
    values: dict[str, Any] = {}
    is_whole = _take(found[0], known, methods, values, set())
    return ClassSource(Claims(found[0].name, **values), methods, is_whole)


def defined(tree: ast.Module) -> set[str] | None:
    """The names that a file defines or imports at its top; None if only running it would tell."""
    names: set[str] = set()
    for node in tree.body:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                names.add(node.name)
            case ast.Import() | ast.ImportFrom():
                names |= {(each.asname or each.name).partition(".")[0] for each in node.names}
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                names.add(name)
            case ast.Expr(value=ast.Constant()):
                pass
            case _:
                return None
    return None if "*" in names else names


def _take(
    node: ast.ClassDef,
    known: Mapping[str, ast.ClassDef],
    methods: dict[str, Any],
    values: dict[str, Any],
    seen: set[str],
) -> bool:
    """Add what a class has and does not yet hold, then its bases in their order; False if one of those is not known."""
    seen.add(node.name)
    is_whole = not any(keyword.arg == "metaclass" for keyword in node.keywords) and not node.decorator_list
    for statement in node.body:
        match statement:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                methods.setdefault(statement.name, None if _is_changed(statement) else statement)
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
            ):
                methods.setdefault(name, None)
                if name in _FIELDS:
                    values.setdefault(name, _value(value, parts=True))
            case ast.Expr() | ast.Pass() | ast.AnnAssign() | ast.ClassDef() | ast.Import() | ast.ImportFrom():
                pass
            case _:
                is_whole = False
    for base in node.bases:
        name = _last(base)
        if name in known and name not in seen:
            is_whole = _take(known[name], known, methods, values, seen) and is_whole
        elif name not in ("Module", "Protocol", "object", "ABC") and name not in seen:
            is_whole = False
    return is_whole


def _is_changed(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(
        _last(each.func if isinstance(each, ast.Call) else each) not in ("mcp_tool", "event", "route")
        for each in node.decorator_list
    )


def _value(node: ast.expr, *, parts: bool = False) -> Any:
    """The value, UNKNOWN if it is not written there; with `parts` a dict may have values that are."""
    match node:
        case ast.Constant():
            return node.value
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            found = [_value(item) for item in items]
            return UNKNOWN if any(each is UNKNOWN for each in found) else found
        case ast.Dict(keys=keys, values=values):
            pairs = zip(keys, values, strict=True)
            named = {UNKNOWN if key is None else _key(key): _value(value) for key, value in pairs}
            return named if parts or UNKNOWN not in (*named, *named.values()) else UNKNOWN
        case ast.Call(func=function, args=[], keywords=keywords) if _last(function) in _MAKERS:
            fields = {str(keyword.arg): _value(keyword.value) for keyword in keywords}
            if "None" in fields or any(value is UNKNOWN for value in fields.values()):
                return UNKNOWN
            try:
                return _MAKERS[_last(function)](**fields)
            except (ParachuteError, TypeError):
                return UNKNOWN  # loading it says what is wrong
    return UNKNOWN


def _key(node: ast.expr) -> Any:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else UNKNOWN


def _last(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
