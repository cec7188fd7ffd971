"""One file for each benchmark; a file here is a benchmark, and its name is what `python -m bench NAME` takes."""
