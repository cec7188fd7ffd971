"""What an agent is told of the people, projects and notes that a message mentions."""
