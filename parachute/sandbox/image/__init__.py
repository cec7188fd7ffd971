"""The container image of agents: a small Debian, its recipe and its build."""
