"""Starting with databases that are damaged, empty or gone, and the copies that this needs."""
