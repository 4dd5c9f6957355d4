"""New rows of the embedding start from old ones, and nothing else of the model moves."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from foreign_bert import vocabulary, write_bert
from transformers import BertForMaskedLM

from kobert_kit.pretrain.rows import start_rows


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("more", [0, 5])
def test_rows(tied: bool, more: int, tmp_path: Path):
    """In place of rows that are there, and behind the last one."""
    write_bert(tmp_path, vocabulary("가나다라"), tied=tied)
    before, after = (BertForMaskedLM.from_pretrained(tmp_path).eval() for _ in range(2))
    size = before.config.vocab_size
    pieces = {5: [9, 12], 6: [10], **{size + number: [9, 10, 11] for number in range(more)}}
    start_rows(after, pieces)
    assert after.config.vocab_size == size + more
    for get in ("get_input_embeddings", "get_output_embeddings"):
        old, new = (getattr(model, get)().weight for model in (before, after))
        for row, parts in pieces.items():
            assert torch.allclose(new[row], old[parts].mean(0), atol=1e-6)
    old, new = (model.get_output_embeddings().bias for model in (before, after))
    assert all(new[row] == old[parts].min() for row, parts in pieces.items())
    kept = [row for row in range(size) if row not in pieces]
    ids = torch.tensor([kept])
    with torch.inference_mode():
        logits = [model(ids).logits[..., kept] for model in (before, after)]
    assert torch.allclose(*logits, atol=1e-6)
    after.save_pretrained(tmp_path / "saved")
    again, loading = BertForMaskedLM.from_pretrained(tmp_path / "saved", output_loading_info=True)
    assert not any(loading.values())
    assert all(
        torch.equal(a, b) for a, b in zip(again.parameters(), after.parameters(), strict=True)
    )
