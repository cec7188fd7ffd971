"""Importing a module's code: only from its source as it was verified, and without hiding anything of Python."""

import hashlib
import importlib
import os
import sys
from collections.abc import Mapping, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader, FileFinder, ModuleSpec, SourceFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType

PREFIX = "parachute_module_"

_OURS = ("yaml", "_yaml", "msgspec", "uvicorn", "h11", "click", "httptools", "ijson")


def package_name(name: str) -> str:
    """The package in which the files of a module live, whatever they are called."""
    return PREFIX + name.replace("-", "_")


class ChangedSource(ImportError):
    """A file is not what it was when the folder was verified."""


class _SourceLoader(SourceFileLoader):
    """Compiles the source each time: a file with compiled code could say something else than its source."""

    digests: Mapping[Path, Mapping[str, str]] = {}

    def get_code(self, fullname: str) -> CodeType:
        path = Path(self.get_filename(fullname))
        data = self.get_data(str(path))
        self._check(path, data)
        return self.source_to_code(data, str(path))

    def _check(self, path: Path, data: bytes) -> None:
        real = path.resolve()
        for folder, digests in self.digests.items():
            if real.is_relative_to(folder):
                if digests.get(str(real.relative_to(folder))) != hashlib.sha256(data).hexdigest():
                    raise ChangedSource(f"{path} was changed after it was verified.")
                return


class ModuleFinder(MetaPathFinder):
    """Finds the module's own files, under their plain names too, after everything that belongs to Python.

    `import tools` and `from . import tools` give the same object. A file called json.py is reached by the second way only.
    """

    def __init__(self, package: str, code: Path) -> None:
        self._package = package
        self._code = code

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The way to import a plain name of the module's own, or None."""
        first, _, rest = fullname.partition(".")
        if first in ("parachute", self._package):
            return None
        if rest:
            parent = sys.modules.get(fullname.rpartition(".")[0])
            if parent is None or not parent.__name__.startswith(f"{self._package}."):
                return None
            return ModuleSpec(fullname, _Alias(f"{parent.__name__}.{fullname.rpartition('.')[2]}"))
        if first in sys.stdlib_module_names or not self._has(first):
            return None
        return ModuleSpec(fullname, _Alias(f"{self._package}.{first}"))

    def _has(self, name: str) -> bool:
        folder = self._code / name
        return (
            (self._code / f"{name}.py").is_file()
            or folder.is_dir()
            or any((self._code / f"{name}{suffix}").is_file() for suffix in EXTENSION_SUFFIXES)
        )


class _Alias(Loader):
    """Gives an imported module a second name."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._spec: ModuleSpec | None = None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = importlib.import_module(self._name)
        self._spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        # The import system has just written the second name's specification over its own; relative imports need that.
        module.__spec__ = self._spec


def install(name: str, code: Path, packages: Path, digests: Mapping[Path, Mapping[str, str]]) -> str:
    """Make the module's code importable, and return the name of its package.

    Afterwards Python finds its standard library, `parachute`, and what the module brings: nothing else that happens to be
    installed for this computer. `digests` holds, for each verified folder, the SHA-256 of every file.
    """
    sys.dont_write_bytecode = True
    code, packages = code.resolve(), packages.resolve()
    _SourceLoader.digests = {folder.resolve(): files for folder, files in digests.items()}

    def finder(path: str) -> FileFinder:
        if not any(Path(path).resolve().is_relative_to(folder) for folder in (code, packages)):
            raise ImportError
        # No loader for compiled files: they are never read.
        return FileFinder(path, (ExtensionFileLoader, list(EXTENSION_SUFFIXES)), (_SourceLoader, [".py"]))

    sys.path_hooks.insert(0, finder)
    sys.path[:] = [entry for entry in sys.path if _is_standard(entry)]
    if packages.is_dir():
        sys.path.append(str(packages))
        _step_aside(packages)
    sys.path_importer_cache.clear()
    package = package_name(name)
    sys.meta_path.insert(0, ModuleFinder(package, code))
    sys.meta_path.append(_OtherModules())
    return package


def open_package(package: str, code: Path) -> None:
    """Make the package of the module, and run its `__init__.py` if it has one."""
    initial = code / "__init__.py"
    if initial.is_file():
        spec = spec_from_file_location(
            package, initial, loader=_SourceLoader(package, str(initial)), submodule_search_locations=[str(code)]
        )
    else:
        spec = ModuleSpec(package, None, is_package=True)
        spec.submodule_search_locations = [str(code)]
    assert spec is not None
    module = module_from_spec(spec)
    sys.modules[package] = module
    if spec.loader is not None:
        spec.loader.exec_module(module)


def _is_standard(entry: str) -> bool:
    """True for entries of the search path that belong to Python's own library."""
    library = Path(os.__file__).parent
    path = Path(entry)
    return path == library or path.name == "lib-dynload" or (path.suffix == ".zip" and path.parent == library.parent)


def _step_aside(packages: Path) -> None:
    """Forget those of our own libraries of which the module brings its own; what we use of ours, we hold already."""
    for name in _OURS:
        if (packages / name).exists() or (packages / f"{name}.py").exists():
            for loaded in [entry for entry in sys.modules if entry == name or entry.startswith(f"{name}.")]:
                del sys.modules[loaded]


class _OtherModules(MetaPathFinder):
    """Explains to authors why another module cannot be imported; it is asked when nobody has found the name."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not fullname.startswith("parachute.modules."):
            return None
        module = fullname.split(".")[2]
        raise ImportError(
            f"{fullname} cannot be imported: each module runs in a process of its own. Ask for what it provides instead, such as "
            f'`self.get_interface("JournalInterface")` for daily, `"ConversationInterface"` for chat or `"BrainInterface"` for '
            f"brain, name that under optional_requires in manifest.yaml, and call its methods with `await`; or call {module}'s "
            f"MCP tools from an agent, or react to its events.",
            name=fullname,
        )
