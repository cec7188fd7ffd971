"""Parts of large packages that the server's process does not import before they are needed."""

import os
import sys
import warnings

from parachute.base.late_modules import late_module


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
    # Libraries import them for what is rare or does not happen here: configuring logging, pages of errors for debugging,
    # reading installed packages, names of hosts that are not ASCII.
    for name in ("configparser", "csv", "html", "http.cookies", "idna", "logging.config", "zipfile"):
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
