"""An encoder of any kind with a head of our own, handled as transformers handles its models."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from safetensors.torch import load_file, save_file
from torch import nn
from transformers import AutoModel

from kobert_kit.records import atomic_file


class HeadedEncoder(nn.Module):
    """``encoder`` and ``head``; a subclass says what the head is made of and called.

    A saved folder has the encoder as transformers saves it, so that `AutoModel` loads it anywhere,
    and the head's weights in ``weights_name`` beside it.
    """

    base_model_prefix = "encoder"
    weights_name: ClassVar[str]

    def __init__(self, encoder: Any) -> None:
        super().__init__()
        self.encoder = encoder
        if getattr(encoder, "pooler", None) is not None:
            encoder.pooler = None  # nothing reads it
        self.head = self.make_head(encoder)

    @classmethod
    def make_head(cls, encoder: Any) -> nn.Module:
        """A random head for ``encoder``."""
        raise NotImplementedError

    @property
    def config(self) -> Any:
        """The encoder's configuration, which names the labels too."""
        return self.encoder.config

    def resize_token_embeddings(self, size: int, **options: Any) -> Any:
        """As of transformers' models."""
        return self.encoder.resize_token_embeddings(size, **options)

    @classmethod
    def from_config(cls, config: Any) -> HeadedEncoder:
        """A random encoder and head."""
        return cls(AutoModel.from_config(config))

    @classmethod
    def from_pretrained(
        cls, folder: Path, output_loading_info: bool = False, **options: Any
    ) -> Any:
        """The encoder in ``folder``, and the head that `save_pretrained` left there.

        With ``output_loading_info`` what is missing is returned too, and a head that is not there
        is random, as with transformers' models. ``options`` are those of `AutoModel`.

        Raises:
            FileNotFoundError: no head is there, and what is missing is not asked for.
            RuntimeError: the head in ``folder`` has another shape.
        """
        encoder, loading = AutoModel.from_pretrained(folder, output_loading_info=True, **options)
        missing = {f"{cls.base_model_prefix}.{key}" for key in loading["missing_keys"]}
        model = cls(encoder)
        weights = Path(folder) / cls.weights_name
        if weights.is_file() or not output_loading_info:
            model.head.load_state_dict(load_file(weights))
        else:
            missing |= {f"head.{key}" for key in model.head.state_dict()}
        model.eval()
        return (model, {**loading, "missing_keys": missing}) if output_loading_info else model

    def save_pretrained(self, folder: Path) -> None:
        """The encoder, and the head's weights beside it."""
        self.encoder.save_pretrained(folder)
        with atomic_file(Path(folder) / self.weights_name) as temporary:
            save_file(self.head.state_dict(), temporary)
