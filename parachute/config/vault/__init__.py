"""The vault: the folder that holds what the user owns."""
