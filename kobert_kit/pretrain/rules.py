"""The rule of masking that a run asked for, put together from its parts."""

from __future__ import annotations

from functools import partial

import numpy as np

from kobert_kit.pretrain.batches import Mask
from kobert_kit.pretrain.masking import MaskSettings, mask_words, parse_split
from kobert_kit.pretrain.settings import PretrainSettings
from kobert_kit.pretrain.token_budget import mask_within_budget
from kobert_kit.pretrain.word_spans import span_words
from kobert_kit.tokenizer.folder import is_reserved
from kobert_kit.tokenizer.subject import Subject

Array = np.ndarray
RULES = {"unbiased": mask_words, "google": mask_within_budget}


def masking_rule(tokenizer: Subject, settings: PretrainSettings) -> Mask:
    """The rule that ``settings`` name; random replacements are never special or unused tokens."""
    special = {*tokenizer.special.values(), *tokenizer.extra}
    ordinary = [
        number
        for entry, number in tokenizer.native.get_vocab().items()
        if entry not in special and not is_reserved(entry)
    ]
    mask_share, random_share = parse_split(settings.mask_split)
    masks = MaskSettings(
        settings.seed,
        tokenizer.special_id("mask_token"),
        np.array(sorted(ordinary)),
        settings.mask_ratio,
        mask_share,
        random_share,
    )
    rule = partial(RULES[settings.mask_rule], settings=masks)
    return partial(_in_spans, rule, masks) if settings.mask_unit == "span" else rule


def _in_spans(
    rule: Mask, masks: MaskSettings, ids: Array, words: Array, rows: Array, keys: Array
) -> tuple[Array, Array]:
    return rule(ids, *span_words(words, rows, keys, masks), keys)
