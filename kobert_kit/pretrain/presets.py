"""Sizes of encoder and the recipe that trains each."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Preset:
    """An encoder (Devlin et al. 2019, Turc et al. 2019) and its defaults for training.

    ``length`` is in tokens with [CLS] and [SEP], ``batch_size`` in full sequences a step.
    """

    layers: int
    hidden: int
    heads: int
    length: int
    batch_size: int
    learning_rate: float
    warmup_share: float
    dropout: float


# tiny and mini are for CPUs, where a run sees too little text to overfit, hence no dropout.
# mini's rate learnt most of 1e-3, 2e-3 and 3e-3 in the first million tokens of 75 MB of text,
# tiny's learns the sample. The others are usual values, untried here.
PRESETS = {
    "tiny": Preset(2, 128, 2, 64, 32, 3e-3, 0.05, 0.0),
    "mini": Preset(4, 256, 4, 64, 32, 1e-3, 0.05, 0.0),
    "small": Preset(6, 512, 8, 128, 64, 7e-4, 0.05, 0.1),
    "base": Preset(12, 768, 12, 128, 256, 2e-4, 0.06, 0.1),
    "large": Preset(24, 1024, 16, 128, 256, 1e-4, 0.06, 0.1),
}
