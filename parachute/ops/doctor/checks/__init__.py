"""The checks. A file in this folder is a check: it has `examine`, and its name, with `-` for `_`, is the check's id."""

import importlib
import pkgutil

from parachute.base.errors import NotFound
from parachute.ops.doctor.models import Check


def all_checks() -> dict[str, Check]:
    """Every check by its id, in the order of the ids."""
    found: dict[str, Check] = {}
    for module in sorted(pkgutil.iter_modules(__path__), key=lambda each: each.name):
        check = importlib.import_module(f"{__name__}.{module.name}").examine
        assert isinstance(check, Check)
        found[module.name.replace("_", "-")] = check
    return found


def named(names: list[str]) -> dict[str, Check]:
    """The checks with these ids, all without one; error: NotFound."""
    checks = all_checks()
    for name in names:
        if name not in checks:
            raise NotFound(
                f"There is no check {name[:60]!r}.", "`parachute doctor --list` shows all checks.", key="no_check"
            )
    return {name: check for name, check in checks.items() if not names or name in names}
