"""What there is to say about a computer that runs."""

from typing import Any

from parachute.cli.output import duration, money


def model_line(provider: dict[str, Any]) -> str:
    """Which model provider is in force, and why."""
    because = provider.get("because")
    return f"{provider['provider']}, because {because}" if because else str(provider["provider"])


def address_facts(host: str, port: int) -> list[tuple[str, str]]:
    """The address on this machine, and those to type on others where they reach it."""
    import asyncio

    from parachute.addresses import is_loopback
    from parachute.cli.api import Api
    from parachute.discovery.avahi import announced_name
    from parachute.first_boot.addresses import addresses

    facts = [("Address", Api(host, port, "").url)]
    if not is_loopback(host):
        facts += [("Network", url) for url in addresses(host, port, asyncio.run(announced_name()))]
    return facts


def facts_of(core: dict[str, Any]) -> list[tuple[str, str]]:
    """Lines about what `GET /api/status` answers."""
    facts = [("Vault", str(core["vault"]))]
    if panic := core.get("panic"):
        facts.insert(0, ("Stopped", f"all agents, since {panic['since']} by {panic['by']}; `parachute resume`"))
    facts += [("Lost", notice["message"]) for notice in core.get("recovery") or ()]
    if provider := core.get("provider"):
        facts.append(("Model", model_line(provider)))
        facts.append(("Spending", _spending(provider)))
    if sandbox := core.get("sandbox"):
        facts.append(("Sandbox", _sandbox(sandbox)))
    if declared := core.get("declared_modules"):
        if name := declared["installing"]:
            facts.append(("Modules", f"installing {name}, which is declared"))
        facts += [("Modules", f"{name} is not as declared: {said}") for name, said in declared["problems"].items()]
    if sessions := core.get("sessions"):
        facts.append(("Sessions", f"{sessions['total']}, {sessions['active']} active"))
    if agents := core.get("agents"):
        facts.append(("Agents", f"{agents['warm']} warm, {1 if agents['spare'] else 0} spare"))
    facts += [("Waiting", _waiting(kind, count)) for kind, count in core.get("waiting", {}).items() if count]
    return facts


def _waiting(kind: str, count: int) -> str:
    if kind == "suggestions":
        return f"{count} suggestion{'s' if count > 1 else ''} for your decision: `parachute suggestions list`"
    one = kind.removesuffix("s") if count == 1 else kind
    return f"{count} {one} for your approval: `parachute {kind} list`"


def unit_rows(units: list[dict[str, Any]]) -> list[list[str]]:
    """Rows of name, state, process, time in that state, restarts and reason."""
    return [
        [
            unit["name"],
            unit["state"],
            str(unit["process"] or ""),
            duration(unit["seconds"]),
            str(unit["restarts"]),
            unit["reason"] or "",
        ]
        for unit in units
    ]


def _spending(provider: dict[str, Any]) -> str:
    spent, limit = money(provider.get("spent_today") or 0), provider.get("daily_spending_limit")
    return f"{spent} today, without a limit" if limit is None else f"{spent} of {money(limit)} today"


def _sandbox(sandbox: dict[str, Any]) -> str:
    required = "; required" if sandbox.get("required") else ""
    if sandbox.get("engine"):
        return f"{sandbox['engine']}{required}"
    return f"none{required}: {sandbox.get('reason') or 'no engine works here'}"
