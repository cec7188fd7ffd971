"""Checks of a module without running it, on the files that one pass over its folder has read."""

import ast
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

from msgspec import Struct, field

from parachute.base.errors import InvalidInput, ParachuteError
from parachute.modules.agent_definitions.brought import BroughtAgent, agents_among, is_agent_file, problems_of
from parachute.modules.agent_definitions.definition import FILE_LIMIT
from parachute.modules.manifest.effects import without_effect
from parachute.modules.manifest.loading import BOUNDS, FILE_NAME, ManifestInvalid, no_manifest, parse
from parachute.modules.manifest.models import Manifest
from parachute.modules.registry.contradictions import contradictions
from parachute.modules.registry.names import check_name
from parachute.modules.registry.requirements import check_requirements
from parachute.modules.trees.hashing import Tree, read_tree
from parachute.modules.trees.models import Limits

_FILE_BYTES = 2 * 1024 * 1024


class ModuleInvalid(InvalidInput):
    """The files of a module cannot work together; the message names file and line."""

    key = "module_invalid"


class ModuleFiles(Struct, frozen=True):
    """The files of a module as they are checked, shown and installed: all from one pass over its folder."""

    tree: Tree
    manifest: Manifest
    agents: tuple[BroughtAgent, ...]

    @classmethod
    def read(cls, tree: Tree) -> "ModuleFiles":
        """Read manifest and agents; errors: NotFound, ManifestInvalid."""
        path = Path(FILE_NAME)
        if FILE_NAME not in tree.texts:
            raise no_manifest(path)
        manifest = parse(tree.texts[FILE_NAME], path)
        return cls(tree, manifest, agents_among(tree.texts, manifest.name))

    def check_installable(self) -> None:
        """Error: ModuleInvalid, NameNotAllowed or InvalidInput for the first problem."""
        for problem in self.problems():
            raise problem

    def problems(self) -> Iterator[InvalidInput]:
        """Everything for which the module cannot be installed; nothing of it is imported."""
        manifest, files = self.manifest, self.tree.files
        checks: tuple[Callable[[], None], ...] = (
            lambda: check_name(manifest.name),
            lambda: check_requirements(manifest.dependencies),
        )
        for check in checks:
            try:
                check()
            except InvalidInput as error:
                yield error
        missing = manifest.missing_files(files)
        if missing:
            yield ModuleInvalid(" ".join(missing), key="no_file")
        yield from self._code_problems()
        can_suggest = {target for agent in manifest.agents.values() for target in agent.can_suggest}
        if agents := problems_of(self.agents, files, manifest.permissions.write, tuple(sorted(can_suggest))):
            yield ModuleInvalid(" ".join(agents), "The page about scheduled agents describes every field.")

    def _code_problems(self) -> Iterator[ModuleInvalid]:
        parsed: dict[str, ast.Module] = {}
        for path, data in self.tree.texts.items():
            if path.endswith(".py"):
                try:
                    parsed[path] = _parsed(path, data)
                except ModuleInvalid as error:
                    yield error
        entry = self.manifest.module
        if entry not in self.tree.texts:
            if entry in self.tree.files:
                yield ModuleInvalid(f"{entry} is a link, and has to be a file.", key="no_file")
        elif entry in parsed:
            classes = [node for node in ast.walk(parsed[entry]) if isinstance(node, ast.ClassDef)]
            if not any(_name(base).endswith("Module") for node in classes for base in node.bases):
                yield ModuleInvalid(
                    f"{entry}: there is no class that inherits from Module.",
                    "Write: from parachute.core import Module, and class My(Module): ...",
                    key="no_class",
                )
            own = {path: tree for path, tree in parsed.items() if not path.startswith("tests/")}
            if entry in own and (found := contradictions(self.manifest, own)):
                yield ModuleInvalid(
                    " ".join(found),
                    "People read manifest.yaml before they install a module: it decides.",
                    key="contradiction",
                )


class Report(Struct):
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
        found = ModuleFiles.read(read_tree(folder, limits=Limits(), wanted=wanted))
    except ManifestInvalid as error:
        report.problems += error.problems
        return report
    except (ParachuteError, OSError) as error:
        report.problems.append(str(error))
        return report
    manifest = found.manifest
    report.name, report.version, report.hash = manifest.name, manifest.version, found.tree.hash
    report.without_effect += without_effect(manifest)
    report.problems += dict.fromkeys(problem.message for problem in found.problems())
    return report


def wanted(path: str) -> int:
    """The bytes to keep of a file of a module, for `read_tree`: one more than it may have, and 0 of most of them."""
    if path == FILE_NAME:
        return BOUNDS.size + 1
    if is_agent_file(path):
        return FILE_LIMIT + 1
    return _FILE_BYTES + 1 if path.endswith(".py") else 0


def _parsed(path: str, data: bytes) -> ast.Module:
    if len(data) > _FILE_BYTES:
        raise ModuleInvalid(f"{path} is larger than {_FILE_BYTES:,} bytes.", key="file_too_large")
    try:
        with warnings.catch_warnings():
            # An author's doubtful escape sequence is for the author's own tests to complain about.
            warnings.simplefilter("ignore")
            return ast.parse(data, path)
    except SyntaxError as error:
        raise ModuleInvalid(
            f"{path}, line {error.lineno or 1}: this is not Python ({error.msg}).", key="not_python"
        ) from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise ModuleInvalid(
            f"{path}: this is not Python ({str(error) or type(error).__name__}).", key="not_python"
        ) from error


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
