"""The benchmarks' command: what it says, and when it fails."""
