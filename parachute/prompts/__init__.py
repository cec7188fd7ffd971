"""System prompts: composed from parts that the owner can read, with an account of what went in."""
