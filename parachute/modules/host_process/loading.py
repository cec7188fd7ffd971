"""From verified files to a module that can be called."""

import importlib
import inspect
import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from types import ModuleType
from typing import Any

from parachute.base.errors import ParachuteError
from parachute.core.application import Application, Handler, Tool
from parachute.core.connection import Connection
from parachute.core.errors import ModuleError
from parachute.core.files import Files
from parachute.core.functions import with_module
from parachute.core.module import Module
from parachute.core.services import Core
from parachute.core.settings import Settings
from parachute.core.storage import Storage
from parachute.modules.host_process import sources
from parachute.modules.host_process.checks import check_application, check_class
from parachute.modules.manifest.loading import load as load_manifest
from parachute.modules.manifest.models import Manifest
from parachute.modules.trees.hashing import read_tree, verify
from parachute.supervisor.specifications.host import HostSpecification

STORAGE = "storage.db"


def verified(specification: HostSpecification) -> dict[Path, dict[str, str]]:
    """The SHA-256 of every file of each verified folder; error: HashDiffers, before anything of it was looked at."""
    found: dict[Path, dict[str, str]] = {}
    if not specification.dev:
        found[Path(specification.code)] = verify(Path(specification.code), specification.hash).hashes
    if specification.packages_hash is not None:
        packages = read_tree(Path(specification.packages), complete=True)
        if packages.hash != specification.packages_hash:
            raise ModuleError(
                f"{specification.packages} is not what was installed: its hash is {packages.hash}.",
                key="packages_changed",
            )
        found[Path(specification.packages)] = packages.hashes
    return found


def load(
    specification: HostSpecification,
    connection: Connection,
    digests: dict[Path, dict[str, str]],
    busy: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> Application:
    """Import the module and make its object; error: ParachuteError saying what the author has to change.

    Inside of a block of `busy` the process does not end, however long nobody asks it.
    """
    code = Path(specification.code)
    manifest = load_manifest(code)
    if manifest.name != specification.name:
        raise ModuleError(
            f"{code} holds the module {manifest.name}, and {specification.name} was to be started.", key="other_module"
        )
    if manifest.permissions.sessions == "create":
        # Exports are read in a stream, and from the next line on nothing is found of our libraries that is not loaded.
        importlib.import_module("ijson")
    process = os.getpid()
    package = sources.install(manifest.name, code, Path(specification.packages), digests)
    try:
        sources.open_package(package, code)
        file = importlib.import_module(f"{package}.{manifest.module.removesuffix('.py').replace('/', '.')}")
        found = _module_class(file, manifest)
        check_class(found, manifest)
        application = _application(found, file, package, manifest, _core(specification, manifest, connection, busy))
    except ParachuteError:
        raise
    except BaseException as error:  # SystemExit as well: a module that ends the process while it loads is broken
        raise _load_error(error, manifest) from error
    if os.getpid() != process:
        # The module has forked and come back here, where a second process would take requests from the first one.
        os._exit(1)
    check_application(application, manifest)
    return application


def _module_class(file: ModuleType, manifest: Manifest) -> type[Module]:
    found = [
        value
        for value in vars(file).values()
        if isinstance(value, type) and issubclass(value, Module) and value.__module__ == file.__name__
    ]
    # A class that others in the file inherit from is their common part.
    final = [value for value in found if not any(value in other.__mro__[1:] for other in found)]
    if len(final) != 1:
        names = ", ".join(value.__name__ for value in final) or "none"
        raise ModuleError(
            f"{manifest.module} must have exactly one class that inherits from Module; it has: {names}.",
            "Write `from parachute.core import Module` and `class MyModule(Module):`.",
            key="module_class_missing",
        )
    return final[0]


def _application(
    module_class: type[Module], file: ModuleType, package: str, manifest: Manifest, core: Core
) -> Application:
    module = module_class.attached(core)
    tools = [
        Tool.of(tool.name, with_module(_function(package, tool.handler), module), tool.description)
        for tool in manifest.mcp_tools
        if tool.handler
    ]
    handlers = [
        Handler.of(hook.event, with_module(_function(package, hook.handler), module))
        for hook in manifest.hooks
        if hook.handler
    ]
    protocols = {name: value for name, value in vars(file).items() if isinstance(value, type) and _is_protocol(value)}
    return Application(module, tools, handlers, protocols)


def _core(
    specification: HostSpecification,
    manifest: Manifest,
    connection: Connection,
    busy: Callable[[], AbstractContextManager[None]],
) -> Core:
    permissions = manifest.permissions
    return Core(
        manifest.name,
        connection,
        Files(Path(specification.vault), permissions.read, permissions.write),
        Storage(Path(specification.data) / STORAGE),
        Settings(manifest.defaults, connection),
        [entry.name for entry in manifest.optional_requires],
        permissions.mcp,
        busy,
    )


def _function(package: str, handler: str) -> Callable[..., Any]:
    file, _, name = handler.partition(":")
    function = getattr(importlib.import_module(f"{package}.{file}"), name, None)
    if not callable(function):
        raise ModuleError(
            f"manifest.yaml names the handler {handler}, and {file}.py has no function {name}.", key="handler_missing"
        )
    found: Callable[..., Any] = function
    return found


def _is_protocol(value: type) -> bool:
    return bool(getattr(value, "_is_protocol", False)) and not inspect.isbuiltin(value)


def _load_error(error: BaseException, manifest: Manifest) -> ModuleError:
    if isinstance(error, SystemExit):
        return ModuleError(f"{manifest.module} ended the process while it was imported (sys.exit).", key="module_exits")
    hint = None
    if isinstance(error, ModuleNotFoundError):
        hint = "Add the package to dependencies in manifest.yaml, and approve the module again."
    sys.excepthook(type(error), error, error.__traceback__)
    return ModuleError(
        f"{manifest.module} cannot be loaded: {type(error).__name__}: {error}", hint, key="module_not_loaded"
    )
