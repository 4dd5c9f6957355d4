"""What KLUE's authors published of their models.

From the table "Baseline Scores" in the README of KLUE-benchmark/KLUE on GitHub (commit 3efd987;
Park et al. 2021, arXiv:2105.09680). The table does not say on which split; the paper gives dev
figures of its own. DP is left out: the table has one UAS and one LAS, the metrics have two each.
"""

from __future__ import annotations

SOURCE = (
    "KLUE's models: as published in the README of KLUE-benchmark/KLUE, which does not say on which "
    "split; the other rows are of dev."
)
_METRICS = (
    "ynat_macro_f1",
    "klue_sts_pearsonr",
    "klue_sts_f1",
    "klue_nli_acc",
    "klue_ner_entity_macro_f1",
    "klue_ner_char_macro_f1",
    "klue_re_micro_f1",
    "klue_re_auprc",
    "klue_mrc_em",
    "klue_mrc_rouge_w",
    "wos_jga",
    "wos_slot_micro_f1",
)
_ROWS = {
    "KLUE-BERT-base": "85.73 90.85 82.84 81.63 83.97 91.39 66.44 66.17 62.32 68.51 46.64 91.61",
    "KLUE-RoBERTa-small": "84.98 91.54 85.16 79.33 83.65 91.14 60.89 58.96 57.32 62.70 46.62 91.44",
    "KLUE-RoBERTa-base": "85.07 92.50 85.40 84.83 84.60 91.44 67.65 68.55 68.67 73.98 47.49 91.64",
    "KLUE-RoBERTa-large": "85.69 93.35 86.63 89.17 85.00 91.86 71.13 72.98 75.58 80.59 50.22 92.23",
}
PUBLISHED: dict[str, dict[str, float]] = {
    model: dict(zip(_METRICS, map(float, row.split()), strict=True)) for model, row in _ROWS.items()
}
