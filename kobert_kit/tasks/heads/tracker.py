"""State tracking by gates and a generator that copies (TRADE, Wu et al. 2019), on any encoder.

TRADE writes a value for every slot of every turn, and looks only at those whose gate is a pointer.
Here only those are written: in training where the right gate is a pointer, in evaluation where the
predicted one is. What is decoded is the same; what is saved is the work for the others, of WoS's
45 slots about 37 in a turn, for which TRADE's generator also learns to write "none".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from kobert_kit.tasks.formats.ontology import NOT_WRITTEN
from kobert_kit.tasks.heads.headed import HeadedEncoder
from kobert_kit.tasks.heads.kinds import IGNORED, Head

GATES = (*NOT_WRITTEN, "pointer")
POINTER = GATES.index("pointer")
END = -1  # ends a value; no entry of the vocabulary
LONGEST_VALUE = 32  # tokens


class SlotDecoder(nn.Module):
    """For each slot a gate, and a recurrent network that writes its value token by token.

    A slot begins with the sum of an embedding of its domain and one of its name, so that domains
    share what they learn. Each step attends to the dialogue; the next token is copied from where
    it attends, or taken from the vocabulary, whose embeddings are the encoder's. The gate is read
    from the dialogue as the first step sees it.

    Unlike TRADE's, the products of the attention are scaled (the states of BERT are longer than
    those of a recurrent encoder), and embeddings and what is compared with them are normalised, as
    before BERT's own vocabulary.
    """

    domains: torch.Tensor
    names: torch.Tensor

    def __init__(self, slots: Sequence[str], hidden_size: int, width: int, dropout: float) -> None:
        super().__init__()
        domains, names = zip(*(slot.split("-", 1) for slot in slots), strict=True)
        self.register_buffer("domains", _numbered(domains), persistent=False)
        self.register_buffer("names", _numbered(names), persistent=False)
        self.domain = nn.Embedding(len(set(domains)), width)
        self.name = nn.Embedding(len(set(names)), width)
        self.normalised = nn.LayerNorm(width)
        self.dropout = nn.Dropout(dropout)
        self.recurrent = nn.GRU(width, hidden_size, batch_first=True)
        self.query = nn.Linear(hidden_size, hidden_size)
        self.gate = nn.Linear(hidden_size, len(GATES))
        self.copied = nn.Linear(2 * hidden_size + width, 1)
        self.compared = nn.Sequential(nn.Linear(2 * hidden_size, width), nn.LayerNorm(width))
        self.end = nn.Linear(width, 1)

    def slots(self) -> torch.Tensor:
        """(slots, width) what each slot begins with."""
        summed = self.domain(self.domains) + self.name(self.names)
        started: torch.Tensor = self.dropout(self.normalised(summed))
        return started

    def words(self, embedded: torch.Tensor) -> torch.Tensor:
        """What a step reads of the token before it, from the encoder's embedding."""
        read: torch.Tensor = self.dropout(self.normalised(embedded))
        return read


def _numbered(labels: Sequence[str]) -> torch.Tensor:
    """The place of each label among all that there are."""
    known = sorted(set(labels))
    return torch.tensor([known.index(label) for label in labels])


@dataclass
class Reading:
    """Dialogues as the encoder read them, and the first step for all of their slots.

    ``ids`` and ``real`` (batch, length), ``real`` being False at padding; ``memory`` (batch,
    length, hidden); ``vocabulary`` (entries, width). ``begun`` (batch, slots, hidden) are the
    states after the first step, ``gates`` (batch, slots, gates) logits.
    """

    decoder: SlotDecoder
    ids: torch.Tensor
    real: torch.Tensor
    memory: torch.Tensor
    vocabulary: torch.Tensor
    begun: torch.Tensor
    gates: torch.Tensor

    @classmethod
    def of(
        cls,
        decoder: SlotDecoder,
        ids: torch.Tensor,
        real: torch.Tensor,
        memory: torch.Tensor,
        vocabulary: torch.Tensor,
    ) -> Reading:
        slots = decoder.slots()
        count, batch = len(slots), len(ids)
        # [CLS] stands for the whole dialogue.
        first = memory[:, 0].repeat_interleave(count, dim=0)[None].contiguous()
        begun, _ = decoder.recurrent(slots.repeat(batch, 1)[:, None], first)
        begun = begun.view(batch, count, -1)
        reading = cls(decoder, ids, real, memory, vocabulary, begun, torch.empty(0))
        reading.gates = decoder.gate(reading._attend(begun)[1])
        return reading

    def loss(self, labels: torch.Tensor) -> torch.Tensor:
        """Sum of the cross-entropies of gates and of the tokens of values, END with them.

        ``labels`` (batch, slots, 1 + tokens) are the gate and the value, IGNORED where no token
        is learnt. Each step reads the right token before it (teacher forcing).
        """
        gates, tokens = labels[..., 0], labels[..., 1:]
        loss = F.cross_entropy(self.gates.flatten(0, 1), gates.flatten(), reduction="sum")
        rows, slots = torch.nonzero(gates == POINTER, as_tuple=True)
        if not len(rows):
            return loss
        targets = tokens[rows, slots]
        targets = targets[:, : int((targets != IGNORED).sum(1).max())]
        return loss - self._log_probabilities(rows, slots, targets).sum()

    def _log_probabilities(
        self, rows: torch.Tensor, slots: torch.Tensor, targets: torch.Tensor
    ) -> torch.Tensor:
        """(tokens,) of all ``targets`` (values, length) that are not IGNORED."""
        before = self.decoder.words(self._embedded(targets[:, :-1].clamp(min=0)))
        states = self.begun[rows, slots][:, None]
        inputs = self.decoder.slots()[slots][:, None]
        if before.shape[1]:
            later, _ = self.decoder.recurrent(before, states.transpose(0, 1).contiguous())
            states = torch.cat([states, later], dim=1)
            inputs = torch.cat([inputs, before], dim=1)
        weights, contexts = self._attend_from(rows, states)
        learnt = targets != IGNORED
        wanted = targets[learnt]
        at = self.ids[rows][:, None] == targets[..., None]
        seen = (weights * at).sum(-1)[learnt]
        copied, logits, end = self._next(states[learnt], contexts[learnt], inputs[learnt])
        total = torch.logaddexp(logits.logsumexp(-1), end)
        written = torch.where(
            wanted == END, end, logits.gather(-1, wanted.clamp(min=0)[:, None])[:, 0]
        )
        tiny = torch.finfo(seen.dtype).tiny
        return torch.logaddexp(
            F.logsigmoid(-copied) + written - total,
            F.logsigmoid(copied) + seen.clamp(min=tiny).log(),
        )

    def states(self) -> torch.Tensor:
        """(batch, slots, 1 + LONGEST_VALUE): the likeliest gate of each slot, and its value.

        Values are written greedily and filled up with END; all but pointers are empty.
        """
        gates = self.gates.argmax(-1)
        found = torch.full((*gates.shape, 1 + LONGEST_VALUE), END, device=gates.device)
        found[..., 0] = gates
        rows, slots = torch.nonzero(gates == POINTER, as_tuple=True)
        states = self.begun[rows, slots]
        inputs = self.decoder.slots()[slots]
        for step in range(1, LONGEST_VALUE + 1):
            if not len(rows):
                break
            tokens = self._likeliest(rows, states, inputs)
            found[rows, slots, step] = tokens
            going = tokens != END
            rows, slots = rows[going], slots[going]
            inputs = self.decoder.words(self._embedded(tokens[going]))
            _, last = self.decoder.recurrent(inputs[:, None], states[going][None].contiguous())
            states = last[0]
        return found

    def _likeliest(
        self, rows: torch.Tensor, states: torch.Tensor, inputs: torch.Tensor
    ) -> torch.Tensor:
        """(values,) the next token of values at ``states`` (values, hidden), or END."""
        weights, contexts = self._attend_from(rows, states[:, None])
        copied, logits, end = self._next(states, contexts[:, 0], inputs)
        total = torch.logaddexp(logits.logsumexp(-1), end)
        generated = F.logsigmoid(-copied) - total
        chances = (logits + generated[:, None]).exp()
        chances.scatter_add_(1, self.ids[rows], copied.sigmoid()[:, None] * weights[:, 0])
        best, tokens = chances.max(-1)
        return torch.where((end + generated).exp() > best, END, tokens)

    def _next(
        self, states: torch.Tensor, contexts: torch.Tensor, inputs: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Logits of copying (steps,), of each entry (steps, entries), and of END (steps,)."""
        decoder = self.decoder
        both = torch.cat([states, contexts], dim=-1)
        compared = decoder.compared(both)
        copied = decoder.copied(torch.cat([both, inputs], dim=-1))
        return copied[:, 0], compared @ self.vocabulary.T, decoder.end(compared)[:, 0]

    def _embedded(self, tokens: torch.Tensor) -> torch.Tensor:
        return F.embedding(tokens, self.vocabulary)

    def _attend(self, states: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Weights (batch, states, length) and what is seen, for (batch, states, hidden)."""
        scale = math.sqrt(states.shape[-1])
        products = self.decoder.query(states) @ self.memory.transpose(1, 2) / scale
        weights = products.masked_fill(~self.real[:, None], -torch.inf).softmax(-1)
        return weights, weights @ self.memory

    def _attend_from(
        self, rows: torch.Tensor, states: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """The same for (values, steps, hidden) of sorted ``rows``.

        Values of a row go through its memory together, which is never copied for each.
        """
        counts = torch.bincount(rows, minlength=len(self.memory))
        place = torch.arange(len(rows), device=rows.device) - (counts.cumsum(0) - counts)[rows]
        shape = (len(self.memory), int(counts.max()), *states.shape[1:])
        queries = states.new_zeros(shape).index_put((rows, place), states)
        weights, seen = self._attend(queries.flatten(1, 2))
        return (
            weights.view(*shape[:3], -1)[rows, place],
            seen.view(*shape[:3], -1)[rows, place],
        )


class StateTracker(HeadedEncoder):
    """An encoder with a `SlotDecoder` for the slots that its configuration names as labels."""

    weights_name = "slot_decoder.safetensors"

    @classmethod
    def make_head(cls, encoder: Any) -> SlotDecoder:
        config = encoder.config
        slots = [config.id2label[number] for number in range(config.num_labels)]
        width = encoder.get_input_embeddings().embedding_dim
        dropout = getattr(config, "hidden_dropout_prob", 0.0)
        return SlotDecoder(slots, config.hidden_size, width, dropout)

    def forward(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor | None = None, **inputs: Any
    ) -> Reading:
        """The dialogues in ``input_ids`` (batch, length), read; float32 from here on."""
        assert isinstance(self.head, SlotDecoder)
        memory = self.encoder(input_ids, attention_mask=attention_mask, **inputs)[0].float()
        real = torch.ones_like(input_ids) if attention_mask is None else attention_mask
        vocabulary = self.encoder.get_input_embeddings().weight
        with torch.autocast(memory.device.type, enabled=False):
            return Reading.of(self.head, input_ids, real.bool(), memory, vocabulary)


class Tracking(Head):
    """A gate for each slot, ``labels``, and a value where the gate is a pointer.

    ``labels`` of a batch are (batch, slots, 1 + tokens), outputs (batch, slots, 1 + LONGEST_VALUE):
    the gate, then the value's tokens.
    """

    auto = StateTracker

    def logits(self, output: Any, mask: torch.Tensor | None) -> Any:
        """The `Reading`: which logits there are depends on the values."""
        return output

    def loss(self, logits: Any, labels: torch.Tensor) -> torch.Tensor:
        with torch.autocast(labels.device.type, enabled=False):
            loss: torch.Tensor = logits.loss(labels)
        return loss

    def outputs(self, logits: Any) -> torch.Tensor:
        with torch.autocast(logits.memory.device.type, enabled=False):
            states: torch.Tensor = logits.states()
        return states
