"""Knowledge of modules about the people and projects that a message mentions."""
