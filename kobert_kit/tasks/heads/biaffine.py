"""A biaffine parser on any encoder (Dozat & Manning 2017), for words of several tokens."""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from torch import nn
from torch.nn import functional as F

from kobert_kit.tasks.formats.treebank import TAGS
from kobert_kit.tasks.heads.headed import HeadedEncoder

ARC, LABEL, TAG = 512, 128, 64  # widths of what a word is for arcs and labels, and of its tag
DROPOUT = 0.33


class Biaffine(nn.Module):
    """Scores every word as the head of every other, with every label.

    A word is the states of its first and last token, in Korean mostly its stem and its particle or
    ending, and its tag where there are any ``tags``. The root is the state of the first token of
    all, [CLS].
    """

    def __init__(self, hidden_size: int, labels: int, tags: int) -> None:
        super().__init__()
        self.tag = nn.Embedding(tags, TAG) if tags else None
        self.dropout = nn.Dropout(DROPOUT)
        # As dependent and as head, for arcs and for labels.
        self.roles = nn.Linear(2 * hidden_size + (TAG if tags else 0), 2 * (ARC + LABEL))
        self.arc = nn.Linear(ARC, ARC)
        self.label = nn.Linear(LABEL, labels * LABEL)
        self.label_of_dependent = nn.Linear(LABEL, labels)

    def forward(self, states: torch.Tensor, words: torch.Tensor) -> torch.Tensor:
        """Log-probabilities (batch, words, words + 1, labels) of each word's head and label.

        ``states`` (batch, length, hidden) are the encoder's. ``words`` (batch, words, 3) are the
        places of each word's first and last token, and its tag; -1 where there is no word, which
        is nobody's head. The root is the first head. No word is its own.
        """
        found = self._roles(states, F.pad(words.clamp(min=0), (0, 0, 1, 0)))
        arc_dependents, label_dependents, arc_heads, label_heads = torch.split(
            found, [ARC, LABEL, ARC, LABEL], dim=-1
        )
        arcs = self.arc(arc_dependents[:, 1:]) @ arc_heads.transpose(1, 2)
        arcs = arcs.float().masked_fill(~_possible(words[..., 0] >= 0), -torch.inf)
        dependents = label_dependents[:, 1:]
        by_label = self.label(dependents).unflatten(-1, (-1, LABEL))
        labels = label_heads[:, None] @ by_label.transpose(2, 3)
        labels = labels + self.label_of_dependent(dependents)[:, :, None]
        joint: torch.Tensor = arcs.log_softmax(-1)[..., None] + labels.float().log_softmax(-1)
        return joint

    def _roles(self, states: torch.Tensor, words: torch.Tensor) -> torch.Tensor:
        """What each word is as dependent and as head."""
        batch = torch.arange(len(states), device=states.device)[:, None, None]
        parts = [states[batch, words[..., :2]].flatten(2)]
        if self.tag is not None:
            parts.append(self.tag(words[..., 2]))
        found = self.dropout(torch.cat(parts, dim=-1))
        roles: torch.Tensor = self.dropout(F.gelu(self.roles(found)))
        return roles


def _possible(real: torch.Tensor) -> torch.Tensor:
    """(batch, words, words + 1): which heads a word may have; ``real`` (batch, words) are words."""
    others = ~torch.eye(real.shape[1], dtype=torch.bool, device=real.device)
    return F.pad(real[:, None] & others, (1, 0), value=True)


class BiaffineParser(HeadedEncoder):
    """An encoder with a `Biaffine` on it."""

    weights_name = "parser.safetensors"
    tags: ClassVar[int] = 0

    @classmethod
    def make_head(cls, encoder: Any) -> nn.Module:
        return Biaffine(encoder.config.hidden_size, encoder.config.num_labels, cls.tags)

    def forward(self, input_ids: torch.Tensor, words: torch.Tensor, **inputs: Any) -> torch.Tensor:
        """As `Biaffine`."""
        scores: torch.Tensor = self.head(self.encoder(input_ids, **inputs)[0], words)
        return scores


class TaggedBiaffineParser(BiaffineParser):
    """The same, of words that come with part-of-speech tags."""

    tags = len(TAGS) + 1  # 0 is any other
