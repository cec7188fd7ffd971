"""Agents that modules run: their sandbox, prompt, tools and hosts, as the user agreed at installation."""
