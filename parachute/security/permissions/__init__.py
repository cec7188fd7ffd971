"""The policy: what an agent's tool may do with commands and paths."""
