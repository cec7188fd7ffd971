"""Agents that the owner wrote, or that came with a project: texts with a name, tools and a model."""
