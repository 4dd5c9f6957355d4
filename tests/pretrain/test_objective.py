"""Batches of masked language modelling: pure functions of the step, nothing lost, right loss."""

from __future__ import annotations

from collections import Counter
from functools import partial

import numpy as np
import pytest
import torch
from transformers import BertConfig, BertForMaskedLM

from kobert_kit.pretrain.batches import BatchMaker, SpecialIds
from kobert_kit.pretrain.masking import MaskSettings, mask_words
from kobert_kit.pretrain.model import MaskedLanguageModel, new_model
from kobert_kit.pretrain.objective import MaskedLanguageModelling, Phase
from kobert_kit.pretrain.prepared import EOJEOL, MORPHEME, SENTENCE, Shard
from kobert_kit.pretrain.presets import Preset
from kobert_kit.pretrain.sequences import Layout, Sequences

PAD, CLS, SEP, MASK, VOCABULARY = 0, 2, 3, 4, 300
PRESET = Preset(2, 32, 2, 16, 8, 1e-3, 0.1, 0.0)


def make_shards(documents: int = 30, seed: int = 0) -> list[Shard]:
    rng = np.random.default_rng(seed)
    shards = []
    for _ in range(2):
        sizes = rng.integers(1, 60, documents)
        offsets = np.r_[0, np.cumsum(sizes)]
        marks = np.where(rng.random(offsets[-1]) < 0.7, MORPHEME, 0).astype(np.uint8)
        marks[rng.random(offsets[-1]) < 0.4] |= EOJEOL | MORPHEME
        marks[rng.random(offsets[-1]) < 0.1] |= SENTENCE | EOJEOL | MORPHEME
        marks[offsets[:-1]] = EOJEOL | MORPHEME | SENTENCE
        ids = rng.integers(5, VOCABULARY, offsets[-1]).astype(np.uint16)
        shards.append(Shard(ids, marks, offsets, np.arange(documents) % 5 / 5))
    return shards


HELD_OUT = 0.1  # the draws are 0, .2, .4, .6 and .8


def make_objective(
    batch_size: int = 8, share: bool = False, **long: int
) -> MaskedLanguageModelling:
    shards = make_shards()
    mask = partial(mask_words, settings=MaskSettings(0, MASK, np.arange(5, VOCABULARY)))
    kept = [shard.draws >= HELD_OUT for shard in shards]
    phases = [Phase(0.0, Sequences(shards, kept, Layout(16, share)), batch_size)]
    if long:
        sequences = Sequences(shards, kept, Layout(long["length"]))
        phases.append(Phase(0.75, sequences, long["phase_batch_size"]))
    evaluation = Sequences(shards, [~documents for documents in kept], Layout(16))
    batches = BatchMaker(mask, SpecialIds(CLS, SEP, PAD))
    return MaskedLanguageModelling(phases, evaluation, batches, seed=0)


def unmasked_rows(batch) -> list[tuple[int, ...]]:
    grid = batch.input_ids.clone()
    grid.view(-1)[batch.positions] = batch.labels
    return [tuple(row[row != PAD].tolist()) for row in grid]


def test_an_epoch_holds_every_training_token_once_and_no_held_out_one():
    objective = make_objective(batch_size=1)
    steps = len(objective.phases[0].sequences)
    seen = Counter(
        row for step in range(steps) for row in unmasked_rows(objective.batch(step, 0, 1, 0.0))
    )
    tokens = Counter(t for row, n in seen.items() for t in row[1:-1] for _ in range(n))
    expected: Counter[int] = Counter()
    for shard in objective.phases[0].sequences.shards:
        for document in np.flatnonzero(shard.draws >= HELD_OUT):
            expected.update(shard.ids[slice(*shard.offsets[document : document + 2])].tolist())
    assert tokens == expected
    assert (
        objective.phases[0].sequences.frequencies(VOCABULARY)
        == [expected[i] for i in range(VOCABULARY)]
    ).all()
    assert all(row[0] == CLS and row[-1] == SEP for row in seen)


def test_batches_differ_by_epoch_and_repeat_by_step():
    objective = make_objective(batch_size=len(make_objective().phases[0].sequences))
    first, again = objective.batch(0, 0, 1, 0.0), objective.batch(0, 0, 1, 0.0)
    assert torch.equal(first.input_ids, again.input_ids)
    second = objective.batch(1, 0, 1, 0.0)
    assert sorted(unmasked_rows(first)) == sorted(unmasked_rows(second)), "the same sequences"
    assert not torch.equal(first.input_ids, second.input_ids), "in new order, with new masks"


def test_parts_make_up_the_batch():
    objective = make_objective(batch_size=9)
    whole = objective.batch(3, 0, 1, 0.0)
    parts = [objective.batch(3, part, 3, 0.0) for part in range(3)]
    assert sorted(r for part in parts for r in unmasked_rows(part)) == sorted(unmasked_rows(whole))
    assert sum(part.weight for part in parts) == whole.weight
    assert sum(part.tokens for part in parts) == whole.tokens


def test_padding_is_hidden_and_never_predicted():
    objective = make_objective()
    for step in range(20):
        batch = objective.batch(step, 0, 1, 0.0)
        real = batch.input_ids != PAD
        if batch.attention_mask is None:
            assert real.all()
        else:
            assert torch.equal(batch.attention_mask, real[:, None, None])
        assert batch.tokens == int(real.sum())
        assert real.view(-1)[batch.positions].all()
        assert not set(batch.labels.tolist()) & {PAD, CLS, SEP, MASK}


def test_loss_is_that_of_the_whole_head_at_the_masked_positions():
    objective = make_objective()
    model = new_model(PRESET, VOCABULARY, PAD, np.ones(VOCABULARY), seed=0).eval()
    batch = objective.batch(0, 0, 1, 0.0)
    labels = torch.full_like(batch.input_ids, -100)
    labels.view(-1)[batch.positions] = batch.labels
    with torch.inference_mode():
        reference = model(batch.input_ids, attention_mask=batch.attention_mask, labels=labels).loss
        ours = objective.loss(MaskedLanguageModel(model), batch) / batch.weight
    assert ours.item() == pytest.approx(reference.item(), abs=1e-5)


def test_windows_that_share_a_sequence_do_not_see_each_other():
    """The logits are those of the windows alone, and nearly every position holds a token."""
    objective = make_objective(batch_size=6, share=True)
    sequences = objective.phases[0].sequences
    shared = [n for n in range(len(sequences)) if len(sequences.windows_of(n)) > 1]
    assert len(shared) > 5 and sequences.lengths.mean() / 16 > 0.9
    model = MaskedLanguageModel(new_model(PRESET, VOCABULARY, PAD, np.ones(VOCABULARY), 0)).eval()
    keep = [np.ones(len(shard.draws), dtype=bool) for shard in sequences.shards]
    alone = Sequences(sequences.shards, keep, Layout(16))
    place = {tuple(window): n for n, window in enumerate(alone.windows.tolist())}
    batch = objective.batches.make(sequences, [(0, n) for n in shared[:6]])
    windows = [w for n in shared[:6] for w in sequences.windows_of(n)]
    for parts in (batch.input_ids, batch.position_ids):
        assert parts.shape == batch.input_ids.shape
    together = model(
        batch.input_ids,
        batch.attention_mask,
        (batch.input_ids != PAD).view(-1).nonzero().squeeze(-1),
        batch.position_ids,
    )
    # The same ids, masks and all, each window a row of its own.
    begin = 0
    real = batch.input_ids[batch.input_ids != PAD]
    for window in windows:
        number, first, last = sequences.windows[window].tolist()
        assert (number, first, last) in place
        row = real[begin : begin + last - first + 2][None]
        expected = model(row, None, torch.arange(row.shape[1]))
        assert torch.allclose(together[begin : begin + row.shape[1]], expected, atol=1e-5)
        begin += row.shape[1]
    assert begin == len(real)


def test_shared_sequences_hold_every_training_token_once():
    objective = make_objective(batch_size=1, share=True)
    sequences, alone = objective.phases[0].sequences, make_objective().phases[0].sequences
    assert len(sequences) < len(alone)
    assert sorted(sequences.windows.tolist()) == sorted(alone.windows.tolist())
    assert sequences.tokens == alone.tokens
    assert (sequences.frequencies(VOCABULARY) == alone.frequencies(VOCABULARY)).all()


def test_the_long_phase_comes_in_its_time():
    objective = make_objective(batch_size=8, length=40, phase_batch_size=3)
    before, after = objective.batch(74, 0, 1, 0.74), objective.batch(75, 0, 1, 0.75)
    assert before.input_ids.shape[0] == 8 and before.input_ids.shape[1] <= 16
    assert after.input_ids.shape[0] == 3 and 16 < after.input_ids.shape[1] <= 40
    steps = len(objective.phases[1].sequences)
    long = [row for step in range(steps) for row in unmasked_rows(objective.batch(step, 0, 1, 0.9))]
    tokens = Counter(token for row in long for token in row[1:-1])
    short = objective.phases[0].sequences.frequencies(VOCABULARY)
    assert (short * 3 == [tokens[i] for i in range(VOCABULARY)]).all(), "three whole epochs"


@pytest.mark.parametrize("unit", ["token", "morpheme", "eojeol"])
def test_masks_cover_whole_units(unit):
    shards = make_shards()
    keep = [np.ones(len(shard.draws), dtype=bool) for shard in shards]
    sequences = Sequences(shards, keep, Layout(64, unit=unit))
    chosen_units = 0
    objective = make_objective()
    for number in range(len(sequences)):
        batch = objective.batches.make(sequences, [(0, number)])
        (window,) = sequences.windows_of(number)
        _, starts = sequences.read(window)
        starts = starts.copy()
        starts[0] = True
        shard, first, last = sequences.windows[window].tolist()
        bits = shards[shard].marks[first:last]
        expected = {"token": bits >= 0, "morpheme": bits & 3 > 0, "eojeol": bits & 1 > 0}[unit]
        assert (starts[1:] == expected[1:]).all()
        chosen = np.zeros(last - first, dtype=bool)
        chosen[batch.positions.numpy() - 1] = True
        units = np.cumsum(starts) - 1
        per_unit = np.bincount(units, weights=chosen) / np.bincount(units)
        assert set(per_unit) <= {0.0, 1.0}
        chosen_units += int(per_unit.sum())
    assert chosen_units > 50


def test_a_new_model_predicts_the_word_frequencies():
    counts = np.arange(VOCABULARY)
    model = new_model(PRESET, VOCABULARY, PAD, counts, seed=0)
    expected = (counts + 1) / (counts + 1).sum()
    assert torch.softmax(model.cls.predictions.bias.detach(), 0).numpy() == pytest.approx(
        expected, abs=1e-6
    )


def test_what_is_saved_is_a_stock_bert(tmp_path):
    model = new_model(PRESET, VOCABULARY, PAD, np.ones(VOCABULARY), seed=0)
    model.save_pretrained(tmp_path)
    loaded = BertForMaskedLM.from_pretrained(tmp_path)
    assert isinstance(loaded.config, BertConfig) and loaded.config.hidden_size == 32
    for name, value in model.state_dict().items():
        assert torch.equal(value, loaded.state_dict()[name]), name


def test_evaluation_does_not_change_between_calls():
    objective = make_objective()
    model = MaskedLanguageModel(new_model(PRESET, VOCABULARY, PAD, np.ones(VOCABULARY), 0)).eval()
    with torch.inference_mode():
        assert objective.evaluate(model) == objective.evaluate(model)
