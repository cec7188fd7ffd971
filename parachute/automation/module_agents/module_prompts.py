"""The prompts of a person's conversations: those of a module, or the person's own in their place."""

import errno

from msgspec import Struct

from parachute.automation.module_agents.prompt import prompt_file
from parachute.base.errors import InvalidInput, NotFound, ParachuteError
from parachute.base.folders import Folder
from parachute.chat.prompts.service import Kind
from parachute.config.vault.service import Vault
from parachute.modules.registry.models import Trust
from parachute.modules.runtime.models import ApprovedModule
from parachute.modules.runtime.service import Hosts
from parachute.security.approved_prompts import ApprovedPrompts

_FILE = "prompt.md"
_LIMIT = 64 * 1024
_DIRECT = "trusted"


class ModulePrompt(Struct, frozen=True):
    """The user's prompt in place of a module's, if there is one, and the module's own."""

    content: str | None
    default: str | None


class ModulePrompts:
    """Prompts of modules. Every method waits for the disk: call it outside of an event loop."""

    def __init__(self, hosts: Hosts, vault: Vault, approved: ApprovedPrompts) -> None:
        self._hosts = hosts
        self._vault = vault
        self._approved = approved

    def kind(self, name: str) -> Kind | None:
        """The prompt of a kind of conversation (`default`, `workspace`, `trusted`), None where no module brings one.

        If several do, it is that of the first to start: providers of interfaces come before those who use them. The `trusted`
        one is the module's own unless the person's was approved, since others write to the vault, too.
        """
        module = self._provider(name)
        if module is None:
            return None
        try:
            own, path = self._own(module.name), self._shown_path(module.name)
            is_waiting = own is not None and name == _DIRECT and not self._approved.is_approved(path, own)
            if own is not None and not is_waiting:
                return Kind(own, path)
            file = module.manifest.prompts[name]
            return Kind(prompt_file(module, file), f"{module.name}: {file}", path if is_waiting else None)
        except ParachuteError:
            return None  # a chat goes on with the computer's own prompt

    def get(self, name: str) -> ModulePrompt:
        """The prompt of one module; errors: NotFound."""
        module = self._module(name)
        file = module.manifest.prompts.get("default")
        default = prompt_file(module, file) if file else None
        return ModulePrompt(self._own(name), default)

    def put(self, name: str, content: str) -> None:
        """Replace the module's prompt by the owner's, or with nothing go back to it; errors: NotFound, InvalidInput."""
        self._module(name)
        if len(content.encode(errors="replace")) > _LIMIT:
            raise InvalidInput(f"content: at most {_LIMIT:,} bytes are allowed.", key="prompt_too_large")
        try:
            with Folder.open(self._vault.root) as vault, vault.folder(name.title(), make=True, mode=0o777) as folder:
                if content.strip():
                    folder.write(_FILE, content, 0o644)
                else:
                    folder.remove(_FILE)
        except OSError as error:
            if error.errno not in (errno.ELOOP, errno.ENOTDIR):
                raise
            raise InvalidInput(
                f"{name.title()} in the vault is a link or no folder, so nothing is written there.",
                key="folder_is_a_link",
            ) from error
        if content.strip():
            # Only who may do everything comes here: that is the approval.
            self._approved.approve(self._shown_path(name), content.strip())
        else:
            self._approved.withdraw(self._shown_path(name))

    def _own(self, name: str) -> str | None:
        try:
            with Folder.open(self._vault.root) as vault:
                return vault.read(self._shown_path(name), _LIMIT).decode(errors="replace").strip() or None
        except (OSError, ParachuteError):
            return None

    @staticmethod
    def _shown_path(name: str) -> str:
        return f"{name.title()}/{_FILE}"

    def _provider(self, kind: str) -> ApprovedModule | None:
        modules = (host.module for host in self._hosts.running() if kind in host.manifest.prompts)
        # What is not trusted has no say in conversations, some of which run on the computer itself.
        return next((module for module in modules if module.trust is not Trust.UNTRUSTED), None)

    def _module(self, name: str) -> ApprovedModule:
        for host in self._hosts.running():
            if host.module.name == name:
                return host.module
        raise NotFound(
            f"There is no module {name[:60]!r} that runs.",
            "`parachute modules status` shows them.",
            key="no_such_module",
        )
