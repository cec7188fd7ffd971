"""The class that every module inherits from."""

from collections.abc import Awaitable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar, cast, overload

from parachute.base.errors import Conflict, NotAllowed
from parachute.core.agents import AgentConfig
from parachute.core.para_id import ParaId
from parachute.core.preview import Preview

if TYPE_CHECKING:
    from parachute.core.interfaces import BrainInterface, ConversationInterface, JournalInterface
    from parachute.core.services import Core

Self = TypeVar("Self", bound="Module")


class Module:
    """A module: its methods marked with @route, @mcp_tool and @event are called by the computer.

    What the class says about itself repeats manifest.yaml, which alone is what the user agreed to: name and version must be
    the same, permissions, agents and interfaces may be fewer there than in the manifest, never more.
    `self.core` is there from `__init__` on.
    """

    name: ClassVar[str] = ""
    version: ClassVar[str] = ""
    description: ClassVar[str] = ""
    permissions: ClassVar[Mapping[str, Any]] = {}
    agents: ClassVar[Mapping[str, AgentConfig | Mapping[str, Any]]] = {}
    provides: ClassVar[Sequence[str]] = ()
    optional_requires: ClassVar[Sequence[str]] = ()
    accepts: ClassVar[Mapping[str, type[Any]]] = {}
    """By action, the dataclass of the payloads that `apply_suggestion` takes: what does not fit is refused before it."""

    core: "Core"

    @classmethod
    def attached(cls: type[Self], core: "Core") -> Self:
        """A new module with its services; the computer calls this, not the author."""
        module = cls.__new__(cls)
        module.core = core
        # After the services, so that an author's own __init__ can use them.
        module.__init__()  # type: ignore[misc]
        return module

    def on_enable(self) -> Awaitable[None] | None:
        """Called once after the module was installed, updated or enabled; may be `async`."""

    def on_start(self) -> Awaitable[None] | None:
        """Called whenever the module's process starts, before its first request; may be `async`."""

    def on_stop(self) -> Awaitable[None] | None:
        """Called before the module's process ends; may be `async`."""

    def on_disable(self) -> Awaitable[None] | None:
        """Called when the user disables or removes the module; may be `async`."""

    def resolve_para_id(self, para_id: str) -> Any:
        """Return the thing that one of the module's para-ids stands for, as JSON, or None; may be `async`."""
        return None

    def apply_suggestion(
        self, action: str, target_id: str | None, payload: dict[str, Any], expected_version: str | int | None
    ) -> Any:
        """Make a change that another module, or an agent, proposed and the user approved; may be `async`.

        `action` is create, update, delete or link, `target_id` a para-id of this module. `expected_version` is the `version`
        that `resolve_para_id` gave when the change was proposed: raise Conflict if it is another one now. `payload` fits what the
        class `accepts` for the action; check what it means. What is returned is kept with the suggestion, as JSON can say it.

        With a further parameter `suggestion_id: str = ""` it gets the id by which `applied_suggestion` is asked later.
        """
        raise NotAllowed(f"The module {self.name} takes no suggestions.", key="no_suggestions")

    def check_suggestion(self, action: str, target_id: str | None, payload: dict[str, Any]) -> Awaitable[None] | None:
        """Raise what `apply_suggestion` would of a change that is proposed now, and change nothing; may be `async`.

        Whoever proposes it hears of it at once. `payload` has a form that the class `accepts`; without that this is not called.
        """
        return None

    def preview_suggestion(
        self, action: str, target_id: str | None, payload: dict[str, Any]
    ) -> Preview | Awaitable[Preview | None] | None:
        """Return what `apply_suggestion` would make of the thing as it is now, and change nothing; may be `async`.

        The user reads it before the decision; without it they read the payload. It is asked once more right before the change
        is made, and `keep` of that answer is what `undo_suggestion` gets.
        """
        return None

    def undo_suggestion(
        self, action: str, target_id: str | None, payload: dict[str, Any], keep: Any, result: Any
    ) -> Awaitable[None] | None:
        """Take a change back that was applied; may be `async`. `result` is what `apply_suggestion` returned.

        Raise Conflict if the thing is not as the change made it any more. What is as before already is no error: it may be
        called again after a kill.
        """
        raise Conflict(f"The module {self.name} does not support undo.", key="undo_not_supported")

    def applied_suggestion(
        self,
        suggestion_id: str,
        action: str,
        target_id: str | None,
        payload: dict[str, Any],
        expected_version: str | int | None,
    ) -> Any:
        """Return the result of a change that `apply_suggestion` had begun when the process was killed, None if it was not made.

        A module that writes `suggestion_id` together with the change can tell. Raise Conflict where nobody can: the user is told
        so, as for modules without this method. May be `async`.
        """
        raise Conflict(f"The module {self.name} cannot say what it had applied.", key="applied_unknown")

    def new_para_id(self) -> str:
        """A para-id of this module that nothing has yet, for something that others shall be able to refer to."""
        return str(ParaId.new(self.name))

    async def run_agent(self, agent: str, prompt: str) -> str:
        """Run one of the module's agents in its own sandbox, and return what it said."""
        return await self.core.run_agent(agent, prompt)

    def get_mcp_servers(self) -> list[str]:
        """The tools that the manifest's permissions allow to agents of this module, for `self.core.query`."""
        return list(self.core.mcp)

    @overload
    def get_interface(self, name: Literal["BrainInterface"]) -> "BrainInterface | None": ...
    @overload
    def get_interface(self, name: Literal["JournalInterface"]) -> "JournalInterface | None": ...
    @overload
    def get_interface(self, name: Literal["ConversationInterface"]) -> "ConversationInterface | None": ...
    @overload
    def get_interface(self, name: str) -> Any: ...
    def get_interface(self, name: str) -> Any:
        """Another module's interface, or None if nobody provides it; error: NotAllowed if the manifest does not name it."""
        return cast(Any, self.core.get_interface(name))
