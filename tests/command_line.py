"""How tests start the real command line."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable

COMMAND = [sys.executable, "-m", "langford"]
ENVIRONMENT = {**os.environ, "COLUMNS": "120", "NO_COLOR": "1"}
Run = Callable[..., "subprocess.CompletedProcess[str]"]
"""The fixture ``langford``: arguments of the command → the ended process."""
