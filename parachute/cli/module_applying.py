"""`parachute modules apply`: what is declared of modules, brought about at a terminal."""

from parachute.cli.module_output import Steps, tell_core
from parachute.cli.output import clean, print_error, print_json, print_note
from parachute.modules.applying import Outcome, apply
from parachute.modules.service import Modules
from parachute.settings.home import Home


def apply_declared(home: Home, modules: Modules, as_json: bool) -> bool:
    """Bring modules in line, and say what became of each; False if one of them is not as declared."""
    # A computer that was never started has no vault yet.
    modules.places.vault.mkdir(mode=0o700, parents=True, exist_ok=True)
    steps = Steps(as_json)
    try:
        outcomes = apply(modules, steps, lambda: tell_core(home))
    finally:
        steps.close()
    if as_json:
        print_json([outcome.as_json() for outcome in outcomes])
    else:
        for outcome in outcomes:
            _print(outcome)
        if not outcomes:
            print_note("Nothing is declared of modules on this computer.")
    return not any(outcome.problem for outcome in outcomes)


def _print(outcome: Outcome) -> None:
    if outcome.problem:
        print_error(f"The module {outcome.name} is not as declared: {outcome.problem}")
    else:
        print(clean(f"The module {outcome.name} is {outcome.done or 'as declared'}."))
