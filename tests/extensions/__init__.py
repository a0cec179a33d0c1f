"""What docs/extending.md adds to the project: a method, a kernel, a queue system."""
