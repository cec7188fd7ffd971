"""Declared modules: what the user cannot change, and how far reconciliation is."""

from msgspec.structs import replace

from parachute.base.errors import ParachuteError
from parachute.config.declared.models import Declaration, DeclaredModule
from parachute.modules.registry.models import InstalledModule, ModuleStatus, State
from parachute.modules.registry.names import NameNotAllowed, check_name


class Declarations:
    """`reconciling` is the name of the module that is being reconciled at this moment, if any.

    Error: DeclarationInvalid if no module can have one of the names.
    """

    def __init__(self, declaration: Declaration) -> None:
        for name in declaration.modules:
            try:
                check_name(name)
            except NameNotAllowed as error:
                raise declaration.invalid(
                    f"modules.{name[:60]}", error.message.removeprefix("name: ").rstrip(".")
                ) from error
        self.all = declaration
        self.reconciling: str | None = None
        self._problems: dict[str, tuple[InstalledModule | None, str]] = {}

    def find(self, name: str) -> DeclaredModule | None:
        """The declaration of a module, if there is one."""
        return self.all.modules.get(name)

    def check_free(self, name: str) -> None:
        """Error: Declared if the module is not the user's to change."""
        if name in self.all.modules:
            raise self.all.refusal(f"The module {name}", f"modules.{name}")

    def check_switch(self, name: str, enabled: bool) -> None:
        """Error: Declared if the module is declared to be the other way; being as it is declared is no change."""
        if (found := self.find(name)) is not None and found.enable is not enabled:
            word = "enabled" if found.enable else "disabled"
            raise self.all.refusal(f"That the module {name} is {word}", f"modules.{name}.enable")

    def in_force(self, module: InstalledModule) -> InstalledModule:
        """The entry with the declaration applied: what is declared as disabled is disabled from the start."""
        found = self.find(module.name)
        return module if found is None or found.enable else module.switched(False)

    def failed(self, name: str, entry: InstalledModule | None, error: ParachuteError | OSError) -> None:
        """Record why a module is not as declared; it counts until the registry's entry changes."""
        self._problems[name] = (entry, str(error))

    def problems(self, entries: dict[str, InstalledModule]) -> dict[str, str]:
        """Problems of modules that are not as declared, by name, while the registry has these entries."""
        return {name: said for name, (entry, said) in self._problems.items() if entries.get(name) == entry}

    def with_declaration(self, status: ModuleStatus, entries: dict[str, InstalledModule]) -> ModuleStatus:
        """The status with the module's declaration added."""
        found = self.find(status.name)
        if found is None:
            return status
        problem = self.problems(entries).get(status.name)
        status = replace(status, declared=True, problem=problem)
        if status.state is not State.NOT_INSTALLED:
            return status
        where = f"modules.{status.name} in {self.all.path}"
        if self.reconciling == status.name:
            return replace(status, state=State.INSTALLING, reason=f"It is being installed, as {where} says.")
        if not found.enable:
            return replace(status, reason=f"It is declared as disabled ({where}).")
        hint = f"It is declared ({where}): it comes with the next start, or with `parachute modules apply`."
        return replace(status, reason=problem or hint)
