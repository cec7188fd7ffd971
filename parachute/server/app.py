"""The application: middleware and routes; its start builds every wing."""

import contextlib
from collections.abc import AsyncIterator
from typing import Any

from fastapi import FastAPI

from parachute import __version__
from parachute.base.addresses import is_loopback
from parachute.base.clock import SYSTEM, Clock
from parachute.base.disk_errors import machine_error
from parachute.base.errors import ParachuteError
from parachute.base.services import ServiceRegistry
from parachute.config.settings.home import Home
from parachute.config.settings.models import Settings
from parachute.modules.registry.service import Modules
from parachute.modules.runtime.openapi import paths
from parachute.modules.runtime.proxy import ALIASES, OWN, ModuleProxy
from parachute.modules.runtime.service import Hosts
from parachute.sandbox.egress.internet import Connect, Resolve
from parachute.security.audit.decisions import Decisions
from parachute.security.audit.middleware import AuditMiddleware
from parachute.security.keys.browser_sessions import BrowserSessions
from parachute.security.keys.cli_token import CliToken
from parachute.security.keys.service import Keys
from parachute.security.mcp_clients.service import McpClients
from parachute.server.api_description import described
from parachute.server.composition.lifecycle import Lifecycle
from parachute.server.composition.storage import Installation
from parachute.server.composition.wings import build_wings
from parachute.server.routes import ROUTES
from parachute.server.status.api import router as status_routes
from parachute.server.status.panic_api import router as panic_routes
from parachute.supervisor.credentials import Credentials
from parachute.web.access.access import AccessMiddleware
from parachute.web.first_boot.service import FirstBoot
from parachute.web.http.body_limit import LARGEST_KEPT, BodyLimitMiddleware
from parachute.web.http.errors import install_error_handlers
from parachute.web.http.late_routes import LateRoutes
from parachute.web.http.startup import StartupMiddleware
from parachute.web.pairing.service import Pairing

_BODY_LIMIT = 2 * 1024 * 1024
"""Bytes; 100,000 characters of a message are up to 1.2 MB when every one is escaped."""

_MESSAGE_LIMIT = LARGEST_KEPT
"""Bytes of a message with its attachments, which travel as base64."""

_TEXT_LIMIT = 13 * 1024 * 1024
"""Bytes; a text file of 2 MB whose every character is escaped."""

_FILE_LIMIT = 1 << 40
"""Bytes of a file for the vault, which is written as it comes while the disk has room."""

_UPLOAD_LIMIT = 512 * 1024 * 1024
"""Bytes that a module may be sent, such as a long recording: they are passed on, never held."""

_EXPORT_LIMIT = 64 * 1024 * 1024 * 1024
"""Bytes of an export, which has to be an end of; whether there is room for it is asked first."""

_FORM_LIMIT = 16 * 1024
"""Bytes of what clients that nobody knows register and ask."""

_LIMITS = {
    "/oauth": _FORM_LIMIT,
    "/api": _UPLOAD_LIMIT,
    **{f"/api/{name}": _BODY_LIMIT for name in OWN - ALIASES.keys()},
    "/api/write": _TEXT_LIMIT,
    "/api/files/upload": _FILE_LIMIT,
    "/api/files/sync": _FILE_LIMIT,
    # Two texts, of which each letter may be six.
    "/api/files/sync/merge": 8 * _BODY_LIMIT,
    # Only the message itself; other bodies of a conversation have the limit of everything else.
    "/api/chat": _MESSAGE_LIMIT,
    "/api/chat/": _BODY_LIMIT,
    # Exports are written to the disk as they come.
    "/api/import": _UPLOAD_LIMIT,
    "/api/imports": _EXPORT_LIMIT,
}


class _Application(FastAPI):
    """The application: `installation` is what its start builds the services from, `late_routes` reads most routes when they are asked for.

    Routes and middleware know of nothing but `app.state.services`.
    """

    def __init__(self, installation: Installation, services: ServiceRegistry) -> None:
        super().__init__(
            title="Parachute Computer",
            version=__version__,
            lifespan=_lifespan,
            docs_url=None,
            redoc_url=None,
            # Nothing leaves this computer, whatever the environment says.
            telemetry={"tracing": False, "metrics": False, "logs": False, "auto_configure": False},
        )
        self.installation = installation
        self.services = self.state.services = services
        # Panic is not among the late routes: reading those takes descriptors, and there may be none when agents have to be stopped.
        self.router.routes.extend([*status_routes.routes, *panic_routes.routes])
        self.late_routes = LateRoutes(self, ROUTES, self.router.default, early="chat")
        self.router.default = self.late_routes

    def openapi(self) -> dict[str, Any]:
        self.late_routes.read()
        schema = super().openapi()
        hosts = self.services.find(Hosts)
        offered = paths(hosts.routes()) if hosts is not None else {}
        # What modules offer changes; FastAPI keeps what it has made.
        return described({**schema, "paths": {**schema["paths"], **offered}})


def create(
    home: Home,
    settings: Settings,
    credentials: Credentials,
    clock: Clock = SYSTEM,
    resolve: Resolve | None = None,
    connect: Connect | None = None,
) -> FastAPI:
    """The application for one installation; error: ParachuteError if it would be open to strangers."""
    keys, modules = Keys(home.root, clock=clock), Modules(home, settings.vault, projects=settings.project_folders)
    first_boot = FirstBoot(home.root, keys)
    browsers = BrowserSessions(home.root, keys, clock=clock)
    mcp_clients = McpClients(home.root, clock)
    pairing = Pairing(keys, browsers, first_boot, clock, is_kit=lambda typed: _is_kit(home, typed))
    services = ServiceRegistry(home, settings, credentials, keys, browsers, pairing, modules, first_boot, mcp_clients)
    installation = Installation(
        home=home,
        settings=settings,
        credentials=credentials,
        keys=keys,
        mcp_clients=mcp_clients,
        modules=modules,
        clock=clock,
        resolve=resolve,
        connect=connect,
    )
    app = _Application(installation, services)
    install_error_handlers(app)
    # The last one added is the outermost: nothing is read or recorded before it is known who asks. The first one keeps
    # requests for modules from being compared with every route of the server.
    app.add_middleware(ModuleProxy, services=services)
    app.add_middleware(AuditMiddleware, services=services, own=OWN - ALIASES.keys())
    app.add_middleware(BodyLimitMiddleware, limit=_BODY_LIMIT, limits=_LIMITS)
    app.add_middleware(StartupMiddleware, services=services)
    app.add_middleware(
        AccessMiddleware,
        keys=keys,
        cli_token=CliToken(home.root),
        browsers=browsers,
        mcp_clients=mcp_clients,
        auth_mode=settings.auth_mode,
        bind=settings.host,
        hostnames=settings.hostnames,
        origins=settings.origins,
        trusted_proxies=settings.trusted_proxies,
        awaits_set_up=_awaits_set_up(first_boot, settings.host),
        refused=lambda address: _record_refusal(services, address),
    )
    return app


def _record_refusal(services: ServiceRegistry, address: str) -> None:
    if decisions := services.find(Decisions):
        decisions.record(f"from {address}", "wrong_key")


def _awaits_set_up(first_boot: FirstBoot, host: str) -> bool:
    try:
        return not is_loopback(host) and first_boot.is_open
    except ParachuteError:
        return False  # then the start fails where others could reach a computer without keys


def _is_kit(home: Home, typed: str) -> bool:
    from parachute.ops.backup.kit.service import confirms  # with all of restic's, hardly ever

    return confirms(home, typed)


@contextlib.asynccontextmanager
async def _lifespan(app: _Application) -> AsyncIterator[None]:
    try:
        async with contextlib.AsyncExitStack() as stack:
            lifecycle = Lifecycle(stack)
            await build_wings(app.installation, app.services, lifecycle)
            await lifecycle.start(app.late_routes)
            yield
    except (ParachuteError, OSError, RuntimeError, MemoryError) as error:
        if known := error if isinstance(error, ParachuteError) else machine_error(error):
            app.services.add_as(ParachuteError, known)
        raise
