"""Parts that every wing uses: errors, files and folders without links, documents, limits, the database, the clock."""
