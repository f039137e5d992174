"""The Model Context Protocol: Sayso as a server of it, and servers of it as sources of tools."""
