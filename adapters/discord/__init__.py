"""Discord: people come in here."""
