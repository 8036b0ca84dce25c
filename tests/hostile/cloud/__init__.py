"""A made cloud of data nodes, and what a crawler of it can have at best."""
