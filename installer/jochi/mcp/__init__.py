"""Jochi as a server of the Model Context Protocol (docs/reference/mcp.md). Nothing here is imported unless it is asked for: the
extra [mcp] brings the SDK."""
