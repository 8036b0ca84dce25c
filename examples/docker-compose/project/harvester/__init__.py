"""The project that the containers run."""
