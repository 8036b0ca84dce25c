"""Sources beside the links of pages: pure descriptions of them."""

__all__ = [
    "datalists",
    "endpointanswers",
    "endpointpaging",
    "endpointsteps",
    "hostsigns",
    "jsoncatalogue",
    "linkset",
    "listedlinks",
    "negotiation",
    "oaipmh",
    "pings",
    "searching",
    "seedlists",
]
