"""``python -m langford``: the command line."""

from __future__ import annotations

import sys
from pathlib import Path

from langford.cli.start import main

if __name__ == "__main__":
    # ``python -m`` looks into the working folder first, where a folder may be called like one of our packages.
    if not sys.flags.safe_path and Path(sys.path[0]).resolve() != Path(__file__).resolve().parent.parent:
        del sys.path[0]
    main()
