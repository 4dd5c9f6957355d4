"""What to do where PyTorch cannot compile a model."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from kobert_kit.errors import UsageError


@contextlib.contextmanager
def compilation_explained() -> Iterator[None]:
    """Say it in one sentence when a model that was to be compiled cannot be, at its first step.

    Raises:
        UsageError: in place of what torch.compile raises then.
    """
    try:
        yield
    except RuntimeError as error:
        # It takes memory, and is there already where something was compiled.
        from torch._dynamo.exc import TorchDynamoException

        if not isinstance(error, TorchDynamoException):
            raise
        reason = str(error).strip().partition("\n")[0]
        raise UsageError(
            f"--compile: PyTorch cannot compile here ({reason}); install a C++ compiler such as "
            "g++, or leave --compile out"
        ) from None
