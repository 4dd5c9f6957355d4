"""``AutoTokenizer`` knows our tokenizers once kobert_kit is imported.

transformers takes a second to import, so nothing is imported for it: we wait until somebody else
imports the module that holds ``AutoTokenizer``.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

_AUTO = "transformers.models.auto.tokenization_auto"


def register_tokenizers() -> None:
    """Register the tokenizer classes with transformers, now or when it is imported."""
    if module := sys.modules.get(_AUTO):
        _register(module)
    else:
        sys.meta_path.insert(0, _WhenImported())


class _WhenImported(MetaPathFinder):
    def find_spec(self, name: str, path: Sequence[str] | None, target: Any = None) -> Any:
        if name != _AUTO:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None:
            _after_execution(spec)
        return spec


def _after_execution(spec: ModuleSpec) -> None:
    assert spec.loader is not None
    execute = spec.loader.exec_module

    def execute_and_register(module: ModuleType) -> None:
        execute(module)
        _register(module)

    spec.loader.exec_module = execute_and_register  # type: ignore[method-assign]


def _register(auto: Any) -> None:
    from transformers import PretrainedConfig

    from kobert_kit.tokenizer.fast import ExactTokenizer, MorphemeTokenizer

    for kind in (ExactTokenizer, MorphemeTokenizer):
        # A folder names its tokenizer's class; that registering asks for a model is a formality.
        model = type(f"{kind.__name__}Config", (PretrainedConfig,), {"model_type": kind.__name__})
        auto.AutoTokenizer.register(model, fast_tokenizer_class=kind)
