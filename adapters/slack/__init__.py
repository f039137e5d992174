"""Slack: people come in here."""
