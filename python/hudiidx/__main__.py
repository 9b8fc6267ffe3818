"""``python -m hudiidx`` is the command ``hudiidx``."""

from hudiidx.cli.main import main

if __name__ == "__main__":
    main()
