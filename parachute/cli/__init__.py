"""The `parachute` command: what a person types, and nothing that another part needs."""
