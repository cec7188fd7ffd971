"""A folder of another device that is kept the same as the vault: the program of that device."""
