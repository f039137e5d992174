"""Everything that touches the outside: people come in, models think, stores keep, tools act."""
