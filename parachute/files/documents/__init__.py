"""Texts of documents and pictures of the vault: each is read in a confined process of its own, by the side."""
