"""Agents that modules run: what the user agreed to when the module was installed, as a box, a prompt and tools."""
