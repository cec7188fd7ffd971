"""Skills: instructions with their files, which an agent reads when a task needs them."""
