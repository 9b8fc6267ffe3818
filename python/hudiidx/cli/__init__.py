"""The command ``hudiidx``."""
