"""Random spans of words, to be masked as one (SpanBERT, Joshi et al. 2020)."""

from __future__ import annotations

import numpy as np

from kobert_kit.pretrain.draws import Purpose, WordDraws, begins, uniform
from kobert_kit.pretrain.masking import MaskSettings

Array = np.ndarray
ENDS, LONGEST = 0.2, 10  # p of the geometric lengths, and the most words of a span
SHARES = 1 - (1 - ENDS) ** np.arange(1, LONGEST + 1)  # of geometric lengths up to 1, 2, ...


def span_words(
    words: Array, rows: Array, keys: Array, settings: MaskSettings
) -> tuple[Array, Array]:
    """Cut every sequence into spans, to be given to a masking rule in place of its words.

    Args and returns are the ``words`` (tokens,) and ``rows`` (words,) of
    `kobert_kit.pretrain.masking.mask_words`, once with the words and once with the spans.

    A span of l words has probability p (1 - p)^(l - 1) / (1 - (1 - p)^n), p = .2, for l = 1 to
    n = 10: 3.8 words on average, as in the paper's section 3.1. The last span of a sequence ends
    where the sequence does. The paper places spans until a budget is met; here spans partition
    the sequence, so that a rule which is fair to its units is fair to the words in them.

    In a sequence of few words n is lower: ``ratio`` of its words, at least 1. So there are at
    least 1 / ``ratio`` spans unless there are fewer words, and "at least one" of a rule takes
    more than ``ratio`` of the tokens in no sequence in which single words would not.
    """
    draws = WordDraws(rows, keys, settings.seed)
    longest = np.clip(settings.ratio * draws.counts, 1, LONGEST).astype(np.int64)
    # One length for each word is enough for any sequence; those beyond its end are left out.
    share = uniform(draws.of_words(Purpose.SPAN)) * SHARES[longest - 1][rows]
    lengths = np.searchsorted(SHARES, share, side="right") + 1
    reached = np.cumsum(lengths)
    first = begins(draws.counts)
    ends = reached + (first - (reached - lengths)[first])[rows]
    starts = np.zeros(len(rows), dtype=bool)
    starts[first] = True
    starts[ends[ends < (first + draws.counts)[rows]]] = True
    return (np.cumsum(starts) - 1)[words], rows[starts]
