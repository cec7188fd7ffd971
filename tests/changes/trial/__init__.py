"""The trial: what agents have done to people's files, and random work, in each kind of run; an undo brings all back."""
