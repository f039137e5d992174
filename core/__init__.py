"""What Sayso means: its values, its ports and the agent's loop. No I/O, no SDK, imports nothing of ours."""
