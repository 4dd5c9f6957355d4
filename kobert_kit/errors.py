"""The two ways in which a stage can fail that are the user's to mend.

A message says what is wrong, where (file and line, or option), and what to do.
"""

from __future__ import annotations


class KobertKitError(Exception):
    """Base of all errors that the command line prints as one message, without a traceback."""

    exit_code = 1


class DataError(KobertKitError):
    """The input (a file, a folder, a model) is not what it should be: exit code 1."""


class UsageError(KobertKitError):
    """An option or argument is not what it should be: exit code 2."""

    exit_code = 2


class TrainingError(KobertKitError):
    """Training cannot go on, for example because the loss is no longer a number: exit code 1."""


class Terminated(BaseException):
    """SIGTERM came, as a scheduler sends it; no ``except Exception`` on the way takes it."""


class Stopped(KobertKitError):
    """A signal ended the run after its state was saved; the same command continues it.

    The exit code is 128 + the signal's number, as a shell reports it (130 for Ctrl-C, 143 for
    SIGTERM).
    """

    def __init__(self, message: str, signal_number: int) -> None:
        super().__init__(message)
        self.exit_code = 128 + signal_number
