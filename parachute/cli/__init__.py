"""The command line `parachute`: a table of commands, and a file in `commands/` for each group, imported when it is used."""
