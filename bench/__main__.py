"""`python -m bench [NAME…]`: measure, print a table, write `build/bench.json`."""

import argparse
import sys
import traceback

from bench import registry, report
from bench.results import NotMeasurable, Result


def main() -> int:
    """Measure what was named, or everything; 1 only if a measurement failed, a missed budget is reported and no failure."""
    known = registry.names()
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure the budgets of SPECIFICATION.md.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of: {', '.join(known)} (all without a name)")
    chosen: list[str] = parser.parse_args().names
    if unknown := sorted(set(chosen) - set(known)):
        parser.error(f"NAME: expected one of {', '.join(known)}, not {', '.join(unknown)}.")
    results: list[Result] = []
    remarks: list[str] = []
    failed = False
    for name in chosen or known:
        print(f"Measuring {name} …", file=sys.stderr, flush=True)
        try:
            for result in registry.load(name)():
                results.append(result)
        except NotMeasurable as reason:
            remarks.append(f"{name}: not measured here. {reason}")
        except Exception as error:
            traceback.print_exc()
            # Many an assertion has no words.
            said = ": ".join([type(error).__name__, *str(error).splitlines()[:1]])
            remarks.append(f"{name}: the measurement failed. {said}")
            failed = True
    report.write(results)
    report.show(results, remarks)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
