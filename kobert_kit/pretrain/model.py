"""A stock BERT whose prediction head is computed at the masked positions only."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from transformers import BertConfig, BertForMaskedLM

from kobert_kit.pretrain.presets import Preset

MAX_POSITIONS = 512


def new_model(
    preset: Preset, vocab_size: int, pad_id: int, frequencies: np.ndarray, seed: int
) -> BertForMaskedLM:
    """A BERT with random weights.

    ``frequencies`` (vocab_size counts of the training text) set the output bias to the log
    probability of each piece, so that training starts at the word-frequency plateau instead of
    spending its first steps on the way there.
    """
    config = BertConfig(
        vocab_size=vocab_size,
        hidden_size=preset.hidden,
        num_hidden_layers=preset.layers,
        num_attention_heads=preset.heads,
        intermediate_size=4 * preset.hidden,
        max_position_embeddings=MAX_POSITIONS,
        hidden_dropout_prob=preset.dropout,
        attention_probs_dropout_prob=preset.dropout,
        pad_token_id=pad_id,
    )
    torch.manual_seed(seed)
    model = BertForMaskedLM(config)
    smoothed = torch.from_numpy(frequencies.astype(np.float64) + 1.0)
    with torch.no_grad():
        model.cls.predictions.bias.copy_((smoothed / smoothed.sum()).log())
    return model


def fill_untrained_embeddings(model: BertForMaskedLM, length: int) -> None:
    """Give what pretraining on one segment of ``length`` tokens never saw a start to go on from.

    All tokens were of segment A, whose embedding has taken up what is common to all of them. A
    segment B left at its random start would be a stranger: KLUE-STS fell from a Pearson
    correlation of 52 to 28 after one epoch. So B begins as A. Positions from ``length`` on
    repeat the ones before (as Longformer's do, Beltagy et al. 2020).
    """
    embeddings = model.bert.embeddings
    with torch.no_grad():
        types = embeddings.token_type_embeddings.weight
        types[1:] = types[0]
        places = embeddings.position_embeddings.weight
        places.copy_(places[torch.arange(len(places)) % length])


class MaskedLanguageModel(nn.Module):
    """Wraps a `BertForMaskedLM` for training; `bert_mlm` is the model that gets saved."""

    def __init__(self, bert_mlm: BertForMaskedLM) -> None:
        super().__init__()
        self.bert_mlm = bert_mlm

    def forward(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor | None,
        positions: torch.Tensor,
        position_ids: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Logits (masked, vocabulary) at the flat ``positions`` of ``input_ids`` (batch, length).

        ``attention_mask`` is as the library's models take it; one of four dimensions, which they
        take as it is, costs no look at its values, for which a GPU would have to be waited for.

        The head costs as much as the encoder at small sizes, and 85 % of its rows would be
        thrown away: it sees the masked positions only.
        """
        hidden = self.bert_mlm.bert(
            input_ids, attention_mask=attention_mask, position_ids=position_ids
        ).last_hidden_state
        chosen = hidden.reshape(-1, hidden.shape[-1]).index_select(0, positions)
        logits: torch.Tensor = self.bert_mlm.cls(chosen)
        return logits


def masked_loss(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Sum of the cross-entropies (nats) over the masked positions."""
    return F.cross_entropy(logits.float(), labels, reduction="sum")
