"""How fast Sayso is, beside the least that anything like it has to do. `make bench` runs them all."""
