"""What the system's configuration declares of modules: what cannot be changed, and how far it is done."""

from dataclasses import replace
from pathlib import Path

from parachute.declared.models import Declaration, DeclaredModule
from parachute.errors import ParachuteError
from parachute.modules.models import InstalledModule, ModuleStatus, State
from parachute.modules.names import NameNotAllowed, check_name


class Declarations:
    """`applying` is the name of the module that is being brought in line at this moment, if any.

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
        self.applying: str | None = None
        self._problems: dict[str, tuple[InstalledModule | None, str]] = {}

    def find(self, name: str) -> DeclaredModule | None:
        """What is declared of a module, if anything is."""
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
        """An entry of the list as it counts: what is declared as disabled is, from the first moment on."""
        found = self.find(module.name)
        return module if found is None or found.enable else module.switched(False)

    def failed(self, name: str, entry: InstalledModule | None, error: ParachuteError | OSError) -> None:
        """Note why a module is not as declared; it counts as long as the entry in the list stays the same."""
        self._problems[name] = (entry, str(error))

    def problems(self, entries: dict[str, InstalledModule]) -> dict[str, str]:
        """Why modules are not as declared, by name, for a list with these entries."""
        return {name: said for name, (entry, said) in self._problems.items() if entries.get(name) == entry}

    def missing(self, name: str, folder: Path) -> ModuleStatus:
        """A declared module that is not installed."""
        return ModuleStatus(name, State.NOT_INSTALLED, folder)

    def beside(self, status: ModuleStatus, entries: dict[str, InstalledModule]) -> ModuleStatus:
        """The status with what is declared of the module."""
        found = self.find(status.name)
        if found is None:
            return status
        problem = self.problems(entries).get(status.name)
        status = replace(status, declared=True, problem=problem)
        if status.state is not State.NOT_INSTALLED:
            return status
        where = f"modules.{status.name} in {self.all.path}"
        if self.applying == status.name:
            return replace(status, state=State.INSTALLING, reason=f"It is being installed, as {where} says.")
        if not found.enable:
            return replace(status, reason=f"It is declared as disabled ({where}).")
        hint = f"It is declared ({where}): it comes with the next start, or with `parachute modules apply`."
        return replace(status, reason=problem or hint)
