"""Parts of large packages that the server's process does not import before they are needed."""

import os
import sys
import warnings
from importlib import import_module
from importlib.util import find_spec, module_from_spec
from typing import Any


def leave_out() -> None:
    """Save a fifth of the server's start and of its memory; call it before any of these packages is imported."""
    # Otherwise pydantic reads the descriptions of all installed packages to find those that extend it: none does.
    os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"
    from pydantic import BaseModel
    from pydantic.warnings import UnsupportedFieldAttributeWarning

    # A validator is built when it is first needed: most models of FastAPI's own schema, and of MCP, never are.
    BaseModel.model_config["defer_build"] = True
    # FastAPI silences it while it declares its parameters, which now are built after that.
    warnings.filterwarnings("ignore", category=UnsupportedFieldAttributeWarning)
    # FastAPI asks of every type whether it is one of pydantic 1, which it takes for absent when it cannot be imported.
    sys.modules.setdefault("pydantic.v1", None)  # type: ignore[arg-type]
    # Uvicorn configures logging with them, which it does not do here; Starlette writes a page of errors for debugging.
    for name in ("logging.config", "configparser", "html"):
        late_module(name)
    # It carries traces from one program to another: FastAPI makes none here.
    late_module("opentelemetry.propagate")
    # They bring its command line, a reloader and multiprocessing.
    late_module("uvicorn", Config="uvicorn.config", Server="uvicorn.server")
    late_module("uvicorn.main", Server="uvicorn.server")
    # These bring clients, servers for the network, their authorization and its cryptography; the SDK only uses messages and
    # the plain server.
    late_module("mcp")
    late_module("mcp.server", Server="mcp.server.lowlevel.server")
    # The SDK checks arguments with it, of tools that are defined by its means: ours are not.
    late_module("jsonschema")


def late_module(name: str, **places: str) -> None:
    """Let a module run only when a name is asked of it; the parts of a package can be imported without.

    `places` are names for which it need not run, with the modules that have them. One that was imported before stays.
    """
    if name in sys.modules:
        return
    spec = find_spec(name)
    assert spec is not None
    assert spec.loader is not None
    loader = spec.loader
    module = module_from_spec(spec)

    def find(attribute: str) -> Any:
        if place := places.get(attribute):
            return getattr(import_module(place), attribute)
        if attribute == "__path__":  # every import asks a module whether it is a package
            raise AttributeError(attribute)
        if module.__dict__.pop("__getattr__", None) is not None:
            loader.exec_module(module)
        return getattr(module, attribute)

    module.__dict__["__getattr__"] = find
    sys.modules[name] = module
    parent, _, last = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], last, module)
