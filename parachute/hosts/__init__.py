"""Module hosts as core sees them: asking them, and answering what they ask."""
