"""Every value that the official baseline gives, and the conventional ones beside them."""

from __future__ import annotations

import math

import pytest
from real_text import metric_cases

from kobert_kit.tasks import metrics

OFFICIAL = [
    *("ynat_macro_f1", "klue_nli_acc", "klue_sts_pearsonr", "klue_sts_f1"),
    *("klue_ner_entity_macro_f1", "klue_ner_char_macro_f1", "klue_re_micro_f1", "klue_re_auprc"),
    *("klue_dp_uas_macro_f1", "klue_dp_uas_micro_f1"),
    *("klue_dp_las_macro_f1", "klue_dp_las_micro_f1"),
    *("klue_mrc_em", "klue_mrc_rouge_w", "wos_jga", "wos_slot_micro_f1"),
]
CONVENTIONAL = {  # by the official metric beside which a value stands, and the value's name
    ("ynat_macro_f1", "macro_f1_all_7"): metrics.ynat_macro_f1_all_7,
    (
        "klue_ner_entity_macro_f1",
        "entity_macro_f1_per_sentence_with_spaces",
    ): metrics.ner_entity_macro_f1_per_sentence,
    ("klue_ner_char_macro_f1", "char_macro_f1_without_O"): metrics.ner_char_macro_f1_without_o,
    ("klue_re_micro_f1", "accuracy_30"): metrics.re_accuracy,
    ("klue_re_auprc", "mean_average_precision_29"): metrics.re_mean_average_precision,
    ("klue_dp_uas_macro_f1", "uas"): metrics.klue_dp_uas_micro_f1,
    ("klue_dp_las_micro_f1", "las"): metrics.dp_las,
    ("klue_dp_las_macro_f1", "las"): metrics.dp_las,
    (
        "klue_dp_las_macro_f1",
        "las_macro_f1_without_wrong_head_class",
    ): metrics.dp_las_macro_f1_without_wrong_head,
    ("klue_mrc_em", "em_brackets_stripped"): metrics.mrc_em_brackets_stripped,
    ("klue_mrc_rouge_w", "substring_f1_without_autojunk"): metrics.mrc_substring_f1,
    ("klue_mrc_rouge_w", "char_bag_f1"): metrics.mrc_char_f1,
    ("wos_slot_micro_f1", "micro_f1"): metrics.wos_slot_micro_f1_pooled,
}


def value_of(metric, case):
    order = {"label_order": case["label_order"]} if "label_order" in case else {}
    return metric(case["gold"], case["pred"], **order)


def check(value, expected, case):
    expected = math.nan if expected is None else expected
    assert value == pytest.approx(expected, abs=1e-9, rel=0, nan_ok=True), case["name"]


@pytest.mark.parametrize("name", OFFICIAL)
def test_official_values(name):
    for case in metric_cases(name):
        check(value_of(getattr(metrics, name), case), case["official"], case)


def test_conventional_values():
    seen = set()
    for name in OFFICIAL:
        for case in metric_cases(name):
            for kind, expected in case.get("conventional", {}).items():
                seen.add((name, kind))
                check(value_of(CONVENTIONAL[name, kind], case), expected, case)
    assert seen == set(CONVENTIONAL)
