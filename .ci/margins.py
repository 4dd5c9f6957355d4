"""Whether a quickstart's folder shows what README says of it: what pretraining gives."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from kobert_kit.corpus.sample import sample_folder
from kobert_kit.finetune.baseline import majority
from kobert_kit.tasks.catalogue import get_task

# Points by which the pretrained model beats (from scratch, majority class) at least.
MARGINS = {"nli": (3, 7), "ynat": (30, 60)}


def score(run: Path) -> float:
    summary = json.loads((run / "metrics.json").read_text(encoding="utf-8"))
    value: float = summary["metrics"][summary["headline"]]["mean"]
    return value


def main(output: Path) -> None:
    for name, (over_scratch, over_majority) in MARGINS.items():
        task = get_task(name)
        pretrained, scratch = (score(output / "klue" / run) for run in (name, f"{name}-scratch"))
        constant = majority(task, sample_folder() / "klue_benchmark")[task.headline]
        print(f"{name}: {pretrained:.2f}, from scratch {scratch:.2f}, majority {constant:.2f}")
        if pretrained < scratch + over_scratch or pretrained < constant + over_majority:
            sys.exit(f"{name}: less than {over_scratch} and {over_majority} points above those")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
