"""What every worker process does first."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading


def follow_parent() -> None:
    """Leave Ctrl-C to the parent process, and end with it, also when it is killed.

    A worker of a pool whose parent was killed would wait for work for ever.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
