"""How does `kobert-kit klue` stand next to transformers' run_glue recipe, on KLUE-NLI?

Theirs is what run_glue.py does: `Trainer`, `AutoModelForSequenceClassification`, pairs tokenized
with padding="max_length" to 128 by `datasets.map`, and the default collator. Ours is the loop of
`klue` with batches of like length, padded to the longest text in each. Both get

- the same pairs, tokenizer, initial weights (head included) and dropout;
- the same optimizer, schedule, batch size and threads, in fp32.

Tokenizing is not timed: both do it once. Every measurement is a process of its own, ours and
theirs take turns. Speed is in examples, from the third step on, by the clock and by the seconds
that the processors worked, which tell more on a machine that has other work; evaluation is not in
it. Accuracy is that of the last step on the whole dev set, by one and the same function.

    python benchmarks/finetune_vs_run_glue.py --data-dir klue_benchmark --model model --seeds 3

Without --model it is a random BERT of the size `mini` with the vocabulary of --tokenizer.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import mean, median, stdev
from typing import Any

import numpy as np
import torch
from machine import device

from kobert_kit.finetune.model import (
    ModelFolder,
    build_classifier,
    default_learning_rate,
    open_model_folder,
)
from kobert_kit.finetune.objective import TaskObjective
from kobert_kit.report.tables import score, table
from kobert_kit.tasks.catalogue import get_task
from kobert_kit.tasks.data import TaskData, load_data
from kobert_kit.tasks.sentence import Example
from kobert_kit.training.settings import TrainSettings

TASK = get_task("nli")
LENGTH = 128
WARM_UP = 2  # steps whose time does not count


def main() -> None:
    arguments = parse()
    if arguments.role:
        print(json.dumps(asdict(measure(arguments))))
        return
    with tempfile.TemporaryDirectory() as folder:
        arguments.work = Path(folder)
        if arguments.model is None:
            arguments.model = random_model(arguments.tokenizer, arguments.work / "model")
        print(setting(arguments), flush=True)
        compare_speed(arguments)
        if arguments.seeds:
            compare_accuracy(arguments)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data-dir", type=Path, required=True, help="klue_benchmark")
    parser.add_argument("--model", type=Path, help="pretrained folder; default: a random one")
    parser.add_argument("--tokenizer", type=Path, default=Path("tokenizer/vocab"))
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5, help="of each, for the speed")
    parser.add_argument("--steps", type=int, default=100, help="a round")
    parser.add_argument("--limit", type=int, help="training examples; default: all")
    parser.add_argument("--epochs", type=int, default=1, help="before the accuracy")
    parser.add_argument("--seeds", type=int, default=0, help="how often accuracy is compared")
    child = parser.add_argument_group("set by the script for the processes that it starts")
    child.add_argument("--role", choices=["ours", "theirs"])
    child.add_argument("--work", type=Path)
    child.add_argument("--seed", type=int, default=0)
    child.add_argument("--whole", type=int, default=0, help="train --epochs, not --steps")
    return parser.parse_args()


def random_model(tokenizer: Path, folder: Path) -> Path:
    from transformers import AutoTokenizer

    from kobert_kit.pretrain.model import new_model
    from kobert_kit.pretrain.presets import PRESETS

    loaded = AutoTokenizer.from_pretrained(tokenizer)
    frequencies = np.zeros(len(loaded))
    new_model(PRESETS["mini"], len(loaded), loaded.pad_token_id, frequencies, 0).save_pretrained(
        folder
    )
    loaded.save_pretrained(folder)
    return folder


# ---- One measurement, in a process of its own ----


@dataclass(frozen=True)
class Result:
    """``examples`` after the warm-up took ``seconds`` and ``work``, in seconds of one core."""

    examples: int
    seconds: float
    work: float
    accuracy: float


def measure(arguments: argparse.Namespace) -> Result:
    torch.set_num_threads(arguments.threads)
    trial = Trial(arguments)
    model = build_classifier(trial.folder, TASK, from_scratch=False, seed=arguments.seed)
    (ours if arguments.role == "ours" else theirs)(trial, model)
    accuracy = TASK.score(trial.objective.dev, trial.objective.predicted(model))["klue_nli_acc"]
    moments = trial.objective.moments[WARM_UP:]
    seconds, work = (last - first for first, last in zip(moments[0], moments[-1], strict=True))
    return Result((len(moments) - 1) * arguments.batch_size, seconds, work, accuracy)


class Timed(TaskObjective):
    """``moments``: the clock and the processors' time at each step, in seconds."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.moments: list[tuple[float, float]] = []

    def tick(self) -> None:
        self.moments.append((time.perf_counter(), time.process_time()))

    def loss(self, model: Any, batch: Any) -> torch.Tensor:
        self.tick()
        return super().loss(model, batch)


class Trial:
    """What both are given."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.arguments = arguments
        self.folder: ModelFolder = open_model_folder(arguments.model)
        data: TaskData[Example] = load_data(TASK, arguments.data_dir)
        self.train = data.train[: arguments.limit]
        dev = data.dev if arguments.whole else data.dev[:2]  # where only the speed is asked
        train_rows, dev_rows = (
            TASK.encode(examples, self.folder.tokenizer, LENGTH) for examples in (self.train, dev)
        )
        self.objective = Timed(
            TASK,
            train_rows,
            dev_rows,
            self.folder.tokenizer.pad_token_id,
            self.folder.takes_token_types,
            arguments.batch_size,
            arguments.seed,
        )
        steps = arguments.epochs * self.objective.steps_per_epoch
        self.recipe = TrainSettings(
            learning_rate=default_learning_rate(self.folder.config.hidden_size),
            steps=steps if arguments.whole else arguments.steps,
            betas=(0.9, 0.999),
            evaluations=1,
            save_minutes=1e6,
            seed=arguments.seed,
            threads=arguments.threads,
        )


def ours(trial: Trial, model: Any) -> None:
    from kobert_kit.training.loop import train

    folder = trial.arguments.work / f"ours-{os.getpid()}"
    train(model, trial.objective, trial.recipe, folder, label="ours")


def theirs(trial: Trial, model: Any) -> None:
    from transformers import Trainer, TrainerCallback, TrainingArguments, default_data_collator

    recipe, arguments = trial.recipe, trial.arguments

    class Clock(TrainerCallback):
        def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            trial.objective.tick()

    trainer = Trainer(
        model,
        TrainingArguments(
            output_dir=str(arguments.work / f"theirs-{os.getpid()}"),
            max_steps=recipe.steps,
            per_device_train_batch_size=arguments.batch_size,
            learning_rate=recipe.learning_rate,
            lr_scheduler_type="linear",
            warmup_steps=recipe.warmup_share,
            optim="adamw_torch_fused",
            weight_decay=recipe.weight_decay,
            adam_beta1=recipe.betas[0],
            adam_beta2=recipe.betas[1],
            adam_epsilon=recipe.epsilon,
            max_grad_norm=recipe.clip_norm,
            seed=recipe.seed,
            save_strategy="no",
            report_to="none",
            disable_tqdm=True,
        ),
        default_data_collator,
        padded(trial.train, trial.folder),
        callbacks=[Clock()],
    )
    trainer.train()


def padded(examples: Sequence[Example], folder: ModelFolder) -> Any:
    """The pairs as run_glue.py tokenizes them."""
    from datasets import Dataset

    raw = Dataset.from_dict(
        {
            "premise": [each.text_a for each in examples],
            "hypothesis": [each.text_b for each in examples],
            "label": [TASK.head.labels.index(str(each.label)) for each in examples],
        }
    )

    def tokenized(batch: dict[str, list[str]]) -> Any:
        pairs = batch["premise"], batch["hypothesis"]
        return folder.tokenizer(
            *pairs,
            padding="max_length",
            max_length=LENGTH,
            truncation=True,
            return_token_type_ids=folder.takes_token_types,
        )

    return raw.map(tokenized, batched=True, remove_columns=["premise", "hypothesis"])


# ---- Rounds of measurements, and what came out ----


def compare_speed(arguments: argparse.Namespace) -> None:
    pairs = []
    for number in range(arguments.rounds):
        roles = ["ours", "theirs"][:: 1 if number % 2 else -1]
        done = {role: start(arguments, role) for role in roles}
        pairs.append((done["ours"], done["theirs"]))
        shown = (f"{one.examples / one.seconds:,.0f}" for one in pairs[-1])
        print(f"round {number + 1}: {', '.join(shown)} examples/s", flush=True)
    rows = []
    for name, kind in (("examples per second", "seconds"), ("per second of a core", "work")):
        both = [[one.examples / getattr(one, kind) for one in pair] for pair in pairs]
        ratios = [mine / other for mine, other in both]
        medians = [f"{median(column):,.1f}" for column in zip(*both, strict=True)]
        spread = f"{median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
        rows.append([name, *medians, spread])
    print(f"\n{table(['median of rounds', 'ours', 'theirs', 'ratio'], rows)}", flush=True)


def compare_accuracy(arguments: argparse.Namespace) -> None:
    both: list[list[float]] = []
    for seed in range(arguments.seeds):
        roles = ["ours", "theirs"][:: 1 if seed % 2 else -1]
        done = {role: start(arguments, role, seed=seed, whole=1).accuracy for role in roles}
        both.append([done["ours"], done["theirs"]])
    rows = [[f"seed {n}", *map(score, pair)] for n, pair in enumerate(both)]
    if arguments.seeds > 1:
        columns = zip(*both, strict=True)
        rows.append(["mean ± std", *(score(mean(values), stdev(values)) for values in columns)])
    title = f"dev accuracy after {arguments.epochs} epochs of {arguments.limit or 'all'} pairs"
    print(f"\n{table([title, 'ours', 'theirs'], rows)}")


def start(arguments: argparse.Namespace, role: str, **more: int) -> Result:
    names = ("data_dir", "model", "batch_size", "threads", "steps", "limit", "epochs", "work")
    given = {name: getattr(arguments, name) for name in names}
    options = {**given, **more, "role": role}
    done = subprocess.run(
        [sys.executable, __file__]
        + [f"--{k.replace('_', '-')}={v}" for k, v in options.items() if v is not None],
        env={**os.environ, "OMP_NUM_THREADS": str(arguments.threads), "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        sys.exit(f"{role} failed:\n{done.stderr}")
    return Result(**json.loads(done.stdout.splitlines()[-1]))


def setting(arguments: argparse.Namespace) -> str:
    """What a reader needs to do it again."""
    from kobert_kit.records import versions

    trial = Trial(arguments)
    config, lengths = trial.folder.config, trial.objective.train.lengths
    packages = versions("torch", "transformers", "accelerate", "numpy").items()
    return "\n".join(
        [
            f"$ python {shlex.join(sys.argv)}",
            f"{device()}, {os.cpu_count()} cores; {arguments.threads} threads, fp32",
            ", ".join(f"{name} {version}" for name, version in packages),
            f"{config.num_hidden_layers} layers, {config.hidden_size} wide, {config.vocab_size:,} "
            f"entries; batches of {arguments.batch_size}",
            f"{len(lengths):,} pairs of {lengths.mean():.1f} tokens (longest {lengths.max()}), "
            f"theirs padded to {LENGTH}",
            "",
        ]
    )


if __name__ == "__main__":
    main()
