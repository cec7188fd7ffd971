"""The program that reads exports, in a process of its own with limits: what it reads may be hostile."""
