"""Lets the tests of this room import their neighbour ``corpus_files``."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
