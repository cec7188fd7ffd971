"""Work without a person's message: suggestions, agents of modules, scheduled agents, maintenance, triage."""
