"""Small lists by hand of the words around names in each language, and detection of a line's language."""
