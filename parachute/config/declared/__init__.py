"""The declared configuration of the system: it wins, and cannot be changed at run time."""
