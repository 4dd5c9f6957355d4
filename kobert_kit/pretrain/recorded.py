"""A model folder that says by its record which tokenizer the model goes with."""

from __future__ import annotations

from pathlib import Path

from kobert_kit.errors import DataError
from kobert_kit.records import RECORD_NAME, check_finished, read_record, recorded_stage
from kobert_kit.tokenizer.loading import tokenizer_fingerprint

PRETRAIN = "pretrain"
EXTEND = "extend-vocab"
FINE_TUNED = "klue"


def check_recorded_tokenizer(folder: Path, place: str) -> None:
    """Check that the tokenizer in a model folder is the model's, where a record tells.

    ``place`` is for messages. Of others' folders nothing is known.

    Raises:
        DataError: the folder is unfinished, or no model's, or a fine-tuned one's, or its
            tokenizer was changed.
    """
    check_finished(folder)
    if not (folder / RECORD_NAME).exists():
        return
    stage = recorded_stage(folder)
    if stage == FINE_TUNED:
        raise DataError(f"{place}: fine-tuned already; name the pretrained model it was made from")
    if stage == EXTEND:
        recorded = read_record(folder, EXTEND).results.get("tokenizer")
    else:
        recorded = read_record(folder, PRETRAIN).inputs.get("tokenizer")
    if recorded != tokenizer_fingerprint(folder):
        raise DataError(
            f"{place}: its tokenizer.json is not the one that the model was pretrained with; put "
            "that one back, or make the model again"
        )
