"""Official modules together: journal, knowledge and conversations."""
