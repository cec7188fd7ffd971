"""A consent in a few lines, for a question about several modules at once; everything is in `Consent.as_text`."""

from parachute.manifest.consents import AgentConsent, Consent


def in_short(asked: Consent) -> list[str]:
    """What a module is for, what it reads, writes and reaches, and what runs by itself."""
    files = [f"writes {', '.join(asked.write)}"] if asked.write else []
    files += [f"reads {', '.join(asked.read)}"] if asked.read else []
    if asked.conversations != "none":
        files.append("reads your conversations" + (" and answers in them" if asked.conversations == "write" else ""))
    if asked.commands:
        files.append(f"starts programs ({', '.join(asked.commands)})")
    network = f"reaches {', '.join(asked.network)}" if asked.network else "no network"
    lines = [f"{asked.name}: {asked.description}", f"  {'; '.join([*files, network])}"]
    lines += [f"  agent {agent.name}: {agent.description} ({_limits(agent)})" for agent in asked.agents]
    lines += [
        f"  each day at {agent.time}: {agent.display_name}, writes {agent.output}"
        for agent in asked.scheduled
        if agent.by_itself
    ]
    return [line.replace("\n", " ") for line in lines]


def _limits(agent: AgentConsent) -> str:
    if not agent.sandboxed:
        return "WITHOUT a sandbox"
    return ", ".join(
        f"{what}: {value}" if value != "none" else f"no {what}"
        for what, value in (("network", agent.network), ("files", agent.files), ("commands", agent.commands))
    )
