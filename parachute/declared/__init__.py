"""What the system's configuration declares: it wins, and cannot be changed at run time; everything else is the user's."""
