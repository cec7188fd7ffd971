"""What a name looks like in each language: small lists by hand, and which language a line is in."""
