"""Sources beside the links of pages: pure descriptions of them."""

__all__ = ["endpointanswers", "endpointpaging", "endpointsteps", "pings", "searching", "seedlists"]
