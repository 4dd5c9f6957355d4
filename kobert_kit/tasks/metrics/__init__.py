"""KLUE's metrics on plain values, times 100.

The official family reproduces the official baseline (KLUE-baseline, commit 8a03c94), quirks
included, under the baseline's names. A conventional metric, whose name says what is different,
stands beside each official one that is not what its name promises.

| task | official | conventional |
|---|---|---|
| ynat | `ynat_macro_f1` | `ynat_macro_f1_all_7` |
| nli | `klue_nli_acc` | the same |
| sts | `klue_sts_pearsonr`, `klue_sts_f1` | the same, and `sts_spearmanr` |
| ner | `klue_ner_entity_macro_f1` | `ner_entity_macro_f1_per_sentence`, `ner_entity_f1` |
| | `klue_ner_char_macro_f1` | `ner_char_macro_f1_without_o` |
| re | `klue_re_micro_f1` | the same, and `re_accuracy` |
| | `klue_re_auprc` | `re_mean_average_precision` |
| dp | `klue_dp_uas_macro_f1`, `klue_dp_uas_micro_f1` | the micro one is the usual UAS |
| | `klue_dp_las_macro_f1` | `dp_las_macro_f1_without_wrong_head` |
| | `klue_dp_las_micro_f1` | `dp_las` |
| mrc | `klue_mrc_em` | `mrc_em_brackets_stripped` |
| | `klue_mrc_rouge_w` | `mrc_substring_f1`, `mrc_char_f1`, `korquad_char_f1` |
| wos | `wos_jga` | the same |
| | `wos_slot_micro_f1` | `wos_slot_micro_f1_pooled` |

Each takes gold values and predictions of a whole evaluation set and returns 0 to 100 (a
correlation: -100 to 100), NaN where the value is undefined. Each raises ValueError for what cannot
be scored: nothing at all, a prediction too few or too many, a label that is not in
``label_order``; its docstring names what else it refuses.
"""

from __future__ import annotations

from kobert_kit.tasks.metrics.answers import (
    klue_mrc_em,
    klue_mrc_rouge_w,
    korquad_char_f1,
    mrc_char_f1,
    mrc_em_brackets_stripped,
    mrc_substring_f1,
)
from kobert_kit.tasks.metrics.classification import (
    confusion_matrix,
    klue_nli_acc,
    ynat_macro_f1,
    ynat_macro_f1_all_7,
)
from kobert_kit.tasks.metrics.dependencies import (
    dp_las,
    dp_las_macro_f1_without_wrong_head,
    klue_dp_las_macro_f1,
    klue_dp_las_micro_f1,
    klue_dp_uas_macro_f1,
    klue_dp_uas_micro_f1,
)
from kobert_kit.tasks.metrics.dialogue import wos_jga, wos_slot_micro_f1, wos_slot_micro_f1_pooled
from kobert_kit.tasks.metrics.entities import (
    klue_ner_char_macro_f1,
    klue_ner_entity_macro_f1,
    ner_char_macro_f1_without_o,
    ner_entity_f1,
    ner_entity_macro_f1_per_sentence,
)
from kobert_kit.tasks.metrics.relations import (
    klue_re_auprc,
    klue_re_micro_f1,
    re_accuracy,
    re_mean_average_precision,
)
from kobert_kit.tasks.metrics.similarity import klue_sts_f1, klue_sts_pearsonr, sts_spearmanr

__all__ = [
    "confusion_matrix",
    "dp_las",
    "dp_las_macro_f1_without_wrong_head",
    "klue_dp_las_macro_f1",
    "klue_dp_las_micro_f1",
    "klue_dp_uas_macro_f1",
    "klue_dp_uas_micro_f1",
    "klue_mrc_em",
    "klue_mrc_rouge_w",
    "klue_ner_char_macro_f1",
    "klue_ner_entity_macro_f1",
    "klue_nli_acc",
    "klue_re_auprc",
    "klue_re_micro_f1",
    "klue_sts_f1",
    "klue_sts_pearsonr",
    "korquad_char_f1",
    "mrc_char_f1",
    "mrc_em_brackets_stripped",
    "mrc_substring_f1",
    "ner_char_macro_f1_without_o",
    "ner_entity_f1",
    "ner_entity_macro_f1_per_sentence",
    "re_accuracy",
    "re_mean_average_precision",
    "sts_spearmanr",
    "wos_jga",
    "wos_slot_micro_f1",
    "wos_slot_micro_f1_pooled",
    "ynat_macro_f1",
    "ynat_macro_f1_all_7",
]
