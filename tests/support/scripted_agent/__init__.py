"""A scripted stand-in for the agent's program (Claude Code), at its protocol with the SDK: it starts in a tenth of the time."""
