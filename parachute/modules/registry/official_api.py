"""Installing over the API the modules that came with this computer; all others are staged first."""

import asyncio
from typing import Annotated, Literal

from fastapi import APIRouter
from msgspec.structs import asdict
from pydantic import BaseModel, ConfigDict, Field

from parachute.base.answers import Answer
from parachute.base.errors import InvalidInput, NotFound, ParachuteError
from parachute.modules.registry.api import LiveDependency, ModulesDependency
from parachute.modules.registry.consent import Review
from parachute.modules.registry.models import ModuleStatus, State
from parachute.modules.registry.service import Modules
from parachute.modules.trees.sources import official_names

router = APIRouter(prefix="/api/modules", tags=["modules"])

_SCHEME = "parachute://"


class Wanted(BaseModel):
    """An official module, `parachute://brain`, and the hash of the content whose consent the caller saw."""

    model_config = ConfigDict(extra="forbid", strict=True)

    source: Annotated[str, Field(max_length=200)]
    hash: str = Field(pattern=r"^sha256:[0-9a-f]{64}$")


class OfficialModule(Answer, frozen=True):
    """An official module that is installed; or with its `problem` one that cannot be."""

    name: str
    source: str
    installed: bool
    problem: str | None = None


class OfficialOffer(Review, frozen=True):
    """An official module that can be installed."""

    description: str
    installed: Literal[False] = False


class OfficialModules(Answer, frozen=True):
    """The modules that came with this computer."""

    modules: tuple[OfficialOffer | OfficialModule, ...]


@router.get("/official")
def official_modules(service: ModulesDependency) -> OfficialModules:
    """The modules that came with this computer: which are installed, and of the others what they may do."""
    return OfficialModules(tuple(_offer(service, name) for name in official_names()))


@router.post("/install")
async def install(body: Wanted, service: ModulesDependency, live: LiveDependency) -> ModuleStatus:
    """Install an official module, if it is still what the caller saw; that is the consent to what it may do."""
    name = await asyncio.to_thread(_install, service, body)
    await service.changed(name)
    return await live.one(service, name)


def _offer(service: Modules, name: str) -> OfficialOffer | OfficialModule:
    source = _SCHEME + name
    if _is_installed(service, name):
        return OfficialModule(name, source, True)
    try:
        with service.installing(source) as installation:
            question = installation.question
    except ParachuteError as error:
        # The others can be installed all the same.
        return OfficialModule(name, source, False, str(error))
    return OfficialOffer(**asdict(question.review()), description=question.asked.description)


def _is_installed(service: Modules, name: str) -> bool:
    try:
        return service.status(name).state is not State.NOT_INSTALLED
    except NotFound:
        return False


def _install(service: Modules, wanted: Wanted) -> str:
    if not wanted.source.startswith(_SCHEME):
        raise InvalidInput(
            "source: in one step only modules are installed that came with this computer, such as parachute://brain.",
            "Stage another one, and approve what is shown: POST /api/modules/staged. Or at the computer's command line: parachute modules install SOURCE",
            key="not_official",
        )
    with service.installing(wanted.source) as installation:
        installation.check_seen(wanted.hash)
        if not installation.is_unchanged:
            installation.finish()
        return installation.module.name
