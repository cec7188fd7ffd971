"""The table for people and the file for programs."""

import json
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench.results import Result

FILE = Path("build/bench.json")


def write(results: Sequence[Result]) -> None:
    """Write `build/bench.json`, below the folder in which the command was started."""
    FILE.parent.mkdir(parents=True, exist_ok=True)
    FILE.write_text(json.dumps([result.as_json() for result in results], indent=1) + "\n")


def show(results: Sequence[Result], remarks: Sequence[str]) -> None:
    """Print all results, then what could not be measured."""
    table = Table("benchmark", "unit", title="Budgets", title_justify="left")
    for heading in ("value", "budget", "baseline"):
        table.add_column(heading, justify="right")
    table.add_column("")
    for result in results:
        verdict = {True: "[green]ok[/]", False: "[red]missed[/]", None: ""}[result.ok]
        budget = "" if result.budget is None else f"< {result.budget:g}"
        baseline = "" if result.baseline is None else f"{result.baseline:g}"
        table.add_row(result.name, result.unit, f"{result.value:.3g}", budget, baseline, verdict)
    # Wide enough for every column, also where the output is no terminal.
    console = Console(width=max(100, Console().width))
    console.print(table)
    for remark in remarks:
        console.print(remark, markup=False, highlight=False, soft_wrap=True)
