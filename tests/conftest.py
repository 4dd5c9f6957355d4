"""For all tests."""

from __future__ import annotations

import os

# Two processes of two threads each on two cores wait for each other; what they start inherits it.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")
