"""Where items end up: files, triple stores, databases."""
