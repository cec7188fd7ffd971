"""The parts of the Brain module: files are the truth, the index follows them."""
