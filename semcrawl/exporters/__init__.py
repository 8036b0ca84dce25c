"""Documents in the files users ask for: feed exporters and their compression."""
