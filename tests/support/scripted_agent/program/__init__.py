"""The program itself: standard library only, for an interpreter without packages in a sandbox."""
