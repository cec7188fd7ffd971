"""System prompts, composed from parts that the owner can read."""
