"""``python -m langford``."""

from langford.cli.main import main

if __name__ == "__main__":
    main()
