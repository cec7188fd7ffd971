"""Pages of the web that their reader keeps as notes."""
