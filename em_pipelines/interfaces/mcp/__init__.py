"""Memory over the Model Context Protocol: tools of one user, by stdio or HTTP."""
