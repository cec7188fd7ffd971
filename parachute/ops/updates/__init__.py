"""Updates: a new version is rehearsed beside the running one, takes its place, and is on probation before it stays."""
