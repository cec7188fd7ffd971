"""How the computer is: health for apps, status for people."""
