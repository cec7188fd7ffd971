"""What every package uses: folders, documents, limits."""
