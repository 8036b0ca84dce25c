"""Reading in other processes, which end when a document takes too long."""
