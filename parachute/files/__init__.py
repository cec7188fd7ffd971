"""Files of the vault for the owner's devices: listing, reading, writing, uploads and downloads, all of it undoable by `changes`."""
