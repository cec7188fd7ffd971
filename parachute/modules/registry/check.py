"""Checks of a module without running it."""

import ast
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from parachute.base.errors import InvalidInput, ParachuteError
from parachute.base.folders import Folder
from parachute.modules.agent_definitions.brought import problems_of
from parachute.modules.manifest.effects import without_effect
from parachute.modules.manifest.loading import ManifestInvalid, load
from parachute.modules.manifest.models import Manifest
from parachute.modules.registry.contradictions import contradictions
from parachute.modules.registry.hashing import tree_hash
from parachute.modules.registry.models import Limits
from parachute.modules.registry.names import check_name
from parachute.modules.registry.requirements import check_requirements
from parachute.modules.registry.tree import check_tree, walk

_FILE_BYTES = 2 * 1024 * 1024


class ModuleInvalid(InvalidInput):
    """The files of a module cannot work together; the message names file and line."""

    key = "module_invalid"


@dataclass(slots=True)
class Report:
    """The result of checking a folder; `problems` is empty if the module can be installed, `hash` is what gets approved."""

    folder: Path
    name: str | None = None
    version: str | None = None
    hash: str | None = None
    problems: list[str] = field(default_factory=list)
    without_effect: list[str] = field(default_factory=list)
    """Requests of the manifest without effect; the module can be installed all the same."""


def check_folder(folder: Path) -> Report:
    """Check everything at once, so that a person sees every mistake; nothing of the module is imported."""
    report = Report(folder)
    if not folder.is_dir():
        report.problems.append(f"The folder {folder} does not exist.")
        return report
    try:
        check_tree(folder, Limits())
        manifest, digest = load(folder), tree_hash(folder)
    except ManifestInvalid as error:
        report.problems += error.problems
        return report
    except (ParachuteError, OSError) as error:
        report.problems.append(str(error))
        return report
    report.name, report.version, report.hash = manifest.name, manifest.version, digest
    report.without_effect += without_effect(manifest)
    checks: tuple[Callable[[], None], ...] = (
        lambda: check_name(manifest.name),
        lambda: check_requirements(tuple(manifest.dependencies)),
        lambda: check_entry(folder, manifest),
        lambda: check_code(folder, manifest),
    )
    for check in checks:
        try:
            check()
        except InvalidInput as error:
            if error.message not in report.problems:
                report.problems.append(error.message)
    report.problems += _agent_problems(folder, manifest)
    return report


def check_entry(folder: Path, manifest: Manifest) -> None:
    """Error: ModuleInvalid if a file that the manifest names is not there, or no class inherits from Module."""
    if missing := manifest.missing_files(folder):
        raise ModuleInvalid(" ".join(missing), key="no_file")
    tree = _parsed(folder, manifest.module)
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    if not any(_name(base) == "Module" or _name(base).endswith("Module") for node in classes for base in node.bases):
        raise ModuleInvalid(
            f"{manifest.module}: there is no class that inherits from Module.",
            "Write: from parachute.core import Module, and class My(Module): ...",
            key="no_class",
        )


def check_agents(folder: Path, manifest: Manifest) -> None:
    """Error: ModuleInvalid if an agent that works once a day could never run; the message names each with its line."""
    if problems := _agent_problems(folder, manifest):
        raise ModuleInvalid(" ".join(problems), "The page about scheduled agents describes every field.")


def check_code(folder: Path, manifest: Manifest) -> None:
    """Error: ModuleInvalid for the first file that is not Python, and for code that contradicts the manifest."""
    files = {
        relative: _parsed(folder, relative)
        for entry, relative in walk(folder)
        if relative.endswith(".py") and entry.is_file(follow_symlinks=False)
    }
    own = {relative: tree for relative, tree in files.items() if not relative.startswith("tests/")}
    if manifest.module in own and (problems := contradictions(manifest, own)):
        raise ModuleInvalid(" ".join(problems), "People read manifest.yaml before they install a module: it decides.")


def _agent_problems(folder: Path, manifest: Manifest) -> tuple[str, ...]:
    can_suggest = {target for agent in manifest.agents.values() for target in agent.can_suggest}
    return problems_of(folder, manifest.name, manifest.permissions.write, tuple(sorted(can_suggest)))


def _parsed(folder: Path, relative: str) -> ast.Module:
    try:
        with Folder.open(folder) as root:
            source = root.read(relative, _FILE_BYTES)
        with warnings.catch_warnings():
            # An author's doubtful escape sequence is for the author's own tests to complain about.
            warnings.simplefilter("ignore")
            return ast.parse(source, relative)
    except SyntaxError as error:
        raise ModuleInvalid(
            f"{relative}, line {error.lineno or 1}: this is not Python ({error.msg}).", key="not_python"
        ) from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise ModuleInvalid(f"{relative}: this is not Python ({str(error) or type(error).__name__}).") from error
    except FileNotFoundError as error:
        raise ModuleInvalid(f"{relative}: the file named in the manifest does not exist.") from error
    except OSError as error:
        raise ModuleInvalid(f"{relative} cannot be read: {error.strerror}.") from error


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
