"""The download handler: connections, names, response heads."""
