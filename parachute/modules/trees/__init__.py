"""Folders of others, such as modules and plugins: fetched, copied and hashed in one pass, and compared."""
