"""Names that nothing may have: as paths, options, lines and texts they would mean something else."""

BAD_NAMES = ("", ".", "..", "../evil", "/etc", "a/b", "a\\b", "a b", "-a", "ä", "a\n", "a\0b", "a" * 200)
