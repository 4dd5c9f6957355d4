"""A stock BERT whose prediction head is computed at the masked positions only."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn
from transformers import BertConfig, BertForMaskedLM

from kobert_kit.pretrain.head import filled_up, scores, summed_loss
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
        labels: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Logits (masked, vocabulary) at the flat ``positions`` of ``input_ids`` (batch, length).

        With ``labels`` (masked,), the true ids there, the sum of the cross-entropies (nats)
        instead, for which the logits are never in memory as a whole.
        """
        decoder = self.bert_mlm.cls.predictions.decoder
        if labels is not None:
            positions, labels = filled_up(positions, labels)
        hidden = self.before_decoder(input_ids, attention_mask, positions, position_ids)
        if labels is not None:
            return summed_loss(hidden, decoder.weight, decoder.bias, labels)
        logits: torch.Tensor = decoder(hidden)
        return logits

    def score(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor | None,
        positions: torch.Tensor,
        position_ids: torch.Tensor | None,
        labels: torch.Tensor,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """The loss as `forward` gives it, and how many labels are predicted; no gradients."""
        decoder = self.bert_mlm.cls.predictions.decoder
        hidden = self.before_decoder(input_ids, attention_mask, positions, position_ids)
        return scores(hidden, decoder.weight, decoder.bias, labels)

    def before_decoder(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor | None,
        positions: torch.Tensor,
        position_ids: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """What the decoder makes logits of (masked, width).

        ``attention_mask`` is as the library's models take it; one of four dimensions, which they
        take as it is, costs no look at its values, for which a GPU would have to be waited for.

        The head costs as much as the encoder at small sizes, and 85 % of its rows would be
        thrown away: it sees the masked positions only.
        """
        hidden = self.bert_mlm.bert(
            input_ids, attention_mask=attention_mask, position_ids=position_ids
        ).last_hidden_state
        chosen = hidden.reshape(-1, hidden.shape[-1]).index_select(0, positions)
        transformed: torch.Tensor = self.bert_mlm.cls.predictions.transform(chosen)
        return transformed
