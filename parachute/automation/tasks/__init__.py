"""Tasks: lines with a box in the owner's notes and journal, which stay where they are written."""
