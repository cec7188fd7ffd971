"""The vault on several devices: what there is of it, and what they change."""
