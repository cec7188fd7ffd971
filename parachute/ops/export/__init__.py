"""Export: everything that is known here, in one archive that is readable without this computer."""
