"""What else leads to data: pure descriptions of sources beside the links of pages."""

__all__ = ["endpointanswers", "endpointpaging", "endpointsteps", "pings"]
