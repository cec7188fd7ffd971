"""Changes of files: what a run did to a project is applied from its copy-on-write view, held for the owner, and undone, as are writes of the owner's devices."""
