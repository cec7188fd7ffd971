"""Origins of runs: the lowest of what has entered each, from its message to the results of its tools."""
