"""Whether a box is what was asked for: its specification, what the engine reports, and what a look from inside finds."""
