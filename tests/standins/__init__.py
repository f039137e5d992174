"""Stand-ins for what Sayso talks to over a network, on 127.0.0.1."""
