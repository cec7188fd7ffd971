"""Changes that modules and agents propose and the user decides (spec 000); the tool `suggest`."""
