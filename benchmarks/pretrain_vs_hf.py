"""How does `kobert-kit pretrain` stand next to what people would write with transformers?

Theirs is the usual recipe: `Trainer`, `BertForMaskedLM`, `DataCollatorForLanguageModeling` with
whole_word_mask. Ours is the loop of `pretrain` with its model and its masks. Both get

- the same rows: documents one after the other, cut into rows of one length as run_mlm.py does (the
  collator fails on others: it does not pad the offsets by which it finds words), and the same
  words to mask: what stands between spaces;
- the same configuration, dropout included, and the same initial weights, but for the bias of the
  head, which starts at the words' frequencies in ours;
- the same optimizer, schedule, batch size and threads, in fp32.

What differs is what each is: where the head is computed, how batches are made, and the loop. The
collator also puts [MASK] at every masked position, where ours leaves one in ten as it is and gives
one in ten a random piece: so the held-out loss is shown under masks of either kind.

Every measurement is a process of its own, ours and theirs take turns. Speed is in tokens of text,
without [CLS] and [SEP], from the third step on. Memory is the peak of the process, libraries
included; on a GPU, of its tensors.

    python benchmarks/pretrain_vs_hf.py --corpus PATH... --tokenizer DIR --tokens 2000000
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
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch
from machine import device
from rows import Rows, read_rows, write_rows

from kobert_kit.pretrain.batches import MaskedBatch
from kobert_kit.pretrain.gauges import peak_memory
from kobert_kit.pretrain.masking import MaskSettings
from kobert_kit.pretrain.model import MaskedLanguageModel, new_model
from kobert_kit.pretrain.presets import PRESETS, Preset
from kobert_kit.pretrain.synthetic import mask_full_rows
from kobert_kit.report.tables import table
from kobert_kit.training.settings import TrainSettings

WARM_UP = 2  # steps whose time does not count
HELD_OUT_ROWS, HELD_OUT_EPOCH = 256, 1 << 40


def main() -> None:
    arguments = parse()
    if arguments.role:
        print(json.dumps(asdict(measure(arguments))))
        return
    with tempfile.TemporaryDirectory() as folder:
        arguments.work = Path(folder)
        prepare(arguments)
        print(setting(arguments), flush=True)
        compare_speed(arguments)
        if arguments.tokens:
            compare_loss(arguments)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", choices=PRESETS, default="mini")
    parser.add_argument("--length", type=int, help="with [CLS] and [SEP]; default: the preset's")
    parser.add_argument("--batch-size", type=int, help="rows a step; default: the preset's")
    parser.add_argument("--dropout", type=float, help="of both; default: the preset's")
    parser.add_argument("--corpus", type=Path, nargs="+", help="default: the sample")
    parser.add_argument("--tokenizer", type=Path, help="folder; default: one is built")
    parser.add_argument("--vocab-size", type=int, default=32_000, help="of one that is built")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--loader-workers", type=int, default=0, help="theirs, beside the threads")
    parser.add_argument("--rounds", type=int, default=5, help="of each, for the speed")
    parser.add_argument("--seconds", type=float, default=30, help="of training, a round")
    parser.add_argument("--tokens", type=int, default=0, help="of text, before the held-out loss")
    parser.add_argument("--seeds", type=int, default=1, help="how often the loss is compared")
    child = parser.add_argument_group("set by the script for the processes that it starts")
    child.add_argument("--role", choices=["ours", "theirs"])
    child.add_argument("--work", type=Path)
    child.add_argument("--steps", type=int, help="instead of --seconds; ends with the loss")
    child.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    preset = PRESETS[arguments.size]
    for name in ("length", "batch_size", "dropout"):
        if getattr(arguments, name) is None:
            setattr(arguments, name, getattr(preset, name))
    return arguments


def prepare(arguments: argparse.Namespace) -> None:
    """Write the text as rows, once for all processes; build a tokenizer where none is named."""
    from kobert_kit.corpus.sample import sample_folder
    from kobert_kit.tokenizer.build import BuildSettings, build_vocab

    corpus = arguments.corpus or [sample_folder() / "documents.jsonl.xz"]
    if arguments.tokenizer is None:
        arguments.tokenizer = arguments.work / "vocab"
        build_vocab(corpus, arguments.tokenizer, BuildSettings(arguments.vocab_size))
    write_rows(corpus, arguments.tokenizer, arguments.length - 2, arguments.work)
    count = len(read_rows(arguments.work, "training").ids)
    if count < arguments.batch_size:
        sys.exit(f"--batch-size {arguments.batch_size}: the corpus has {count} rows only")


# ---- One measurement, in a process of its own ----


@dataclass(frozen=True)
class Result:
    """``steps`` after the warm-up took ``seconds``; ``memory`` in bytes; ``losses`` in nats a
    masked token, under masks as ours and under [MASK] alone (empty where only speed is asked)."""

    steps: int
    seconds: float
    memory: int
    losses: list[float]


def measure(arguments: argparse.Namespace) -> Result:
    torch.set_num_threads(arguments.threads)
    trial = Trial(arguments)
    model, ends = ours(trial) if arguments.role == "ours" else theirs(trial)
    memory = peak_memory(next(model.parameters()).device)
    if len(ends) <= WARM_UP:
        sys.exit(f"{len(ends)} steps in --seconds {arguments.seconds}: too few, take more")
    losses = held_out_losses(model, trial) if arguments.steps else []
    return Result(len(ends) - WARM_UP, ends[-1] - ends[WARM_UP - 1], memory, losses)


class Trial:
    """What both are given."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.arguments, work = arguments, arguments.work
        self.preset: Preset = replace(
            PRESETS[arguments.size],
            length=arguments.length,
            batch_size=arguments.batch_size,
            dropout=arguments.dropout,
        )
        self.rows = read_rows(work, "training")
        self.frequencies = np.load(work / "frequencies.npy")
        self.special: dict[str, int] = json.loads((work / "special.json").read_text())
        pieces = np.setdiff1d(np.arange(len(self.frequencies)), list(self.special.values()))
        self.masks = MaskSettings(arguments.seed, self.special["mask"], pieces)
        self.recipe = TrainSettings(
            learning_rate=self.preset.learning_rate,
            steps=arguments.steps,
            minutes=None if arguments.steps else arguments.seconds / 60,
            warmup_share=self.preset.warmup_share,
            evaluations=1,
            log_every=1,
            save_minutes=1e6,
            seed=arguments.seed,
            threads=arguments.threads,
        )

    def new_model(self) -> Any:
        pad, size = self.special["pad"], len(self.frequencies)
        return new_model(self.preset, size, pad, self.frequencies, self.recipe.seed)

    def masked(self, rows: Rows, keys: np.ndarray) -> MaskedBatch:
        """Epoch and row of ``keys`` (rows, 2) as `pretrain` masks them."""
        chosen, special = keys[:, 1], self.special
        ids, starts = rows.ids[chosen], rows.starts(chosen)
        return mask_full_rows(ids, starts, keys, self.masks, special["cls"], special["sep"])


def ours(trial: Trial) -> tuple[MaskedLanguageModel, list[float]]:
    """The trained model, and when each step ended, in seconds."""
    from kobert_kit.training.loop import train

    folder = trial.arguments.work / f"ours-{os.getpid()}"
    model = MaskedLanguageModel(trial.new_model())
    train(model, OurObjective(trial), trial.recipe, folder, label="ours")
    lines = map(json.loads, (folder / "metrics.jsonl").read_text().splitlines())
    return model, [line["seconds"] for line in lines if "loss" in line]


class OurObjective:
    def __init__(self, trial: Trial) -> None:
        self.trial, self.batch_size = trial, trial.preset.batch_size
        count, seed = len(trial.rows.ids), trial.recipe.seed
        self.order = lru_cache(2)(
            lambda epoch: np.random.default_rng([seed, epoch]).permutation(count)
        )

    def batch(self, step: int, part: int, parts: int, _spent: float = 0.0) -> MaskedBatch:
        first = step * self.batch_size
        keys = [
            (epoch, self.order(epoch)[place])
            for epoch, place in (
                divmod(number, len(self.trial.rows.ids))
                for number in range(first + part, first + self.batch_size, parts)
            )
        ]
        return self.trial.masked(self.trial.rows, np.array(keys))

    def loss(self, model: torch.nn.Module, batch: MaskedBatch) -> torch.Tensor:
        seen = batch.input_ids, batch.attention_mask, batch.positions
        loss: torch.Tensor = model(*seen, labels=batch.labels)
        return loss

    def evaluate(self, _model: torch.nn.Module) -> dict[str, float]:
        return {}  # both are evaluated by `held_out_losses`, after the memory is read


def theirs(trial: Trial) -> tuple[MaskedLanguageModel, list[float]]:
    """The trained model, wrapped as ours is, and when each step ended, in seconds."""
    from transformers import (
        AutoTokenizer,
        BertForMaskedLM,
        DataCollatorForLanguageModeling,
        Trainer,
        TrainerCallback,
        TrainingArguments,
    )

    import kobert_kit  # noqa: F401  (AutoTokenizer then knows mode "always")

    recipe, arguments = trial.recipe, trial.arguments
    with torch.device("meta"):
        config = trial.new_model().config
    torch.manual_seed(recipe.seed)
    bert = BertForMaskedLM(config)
    ends: list[float] = []
    started = time.perf_counter()

    class Clock(TrainerCallback):
        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            ends.append(time.perf_counter() - started)
            if not recipe.steps and ends[-1] - ends[0] >= arguments.seconds:
                control.should_training_stop = True

    trainer = Trainer(
        bert,
        TrainingArguments(
            output_dir=str(arguments.work / f"theirs-{os.getpid()}"),
            max_steps=recipe.steps or 10**9,
            per_device_train_batch_size=trial.preset.batch_size,
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
            dataloader_num_workers=arguments.loader_workers,
            dataloader_drop_last=True,
            remove_unused_columns=False,  # the collator needs the offsets
            save_strategy="no",
            report_to="none",
            disable_tqdm=True,
        ),
        DataCollatorForLanguageModeling(
            AutoTokenizer.from_pretrained(arguments.tokenizer), whole_word_mask=True
        ),
        TheirRows(trial),
        callbacks=[Clock()],
    )
    trainer.train()
    return MaskedLanguageModel(bert), ends


class TheirRows(torch.utils.data.Dataset[dict[str, Any]]):
    def __init__(self, trial: Trial) -> None:
        self.rows, self.special = trial.rows, trial.special

    def __len__(self) -> int:
        return len(self.rows.ids)

    def __getitem__(self, number: int) -> dict[str, Any]:
        ids, offsets = self.rows.ids[number].tolist(), self.rows.offsets[number].tolist()
        return {
            "input_ids": [self.special["cls"], *ids, self.special["sep"]],
            "offset_mapping": [[0, 0], *offsets, [0, 0]],
            "special_tokens_mask": [1, *[0] * len(ids), 1],
        }


def held_out_losses(model: MaskedLanguageModel, trial: Trial) -> list[float]:
    """Mean loss over the same held-out rows under our masks, and under [MASK] in all the places."""
    device = next(model.parameters()).device
    rows = read_rows(trial.arguments.work, "held-out")
    keys = np.array([(HELD_OUT_EPOCH, row) for row in range(min(HELD_OUT_ROWS, len(rows.ids)))])
    trial.masks = replace(trial.masks, seed=0)  # the same for every seed of the training
    totals, count = [0.0, 0.0], 0
    model.eval()
    with torch.inference_mode():
        for at in range(0, len(keys), 32):
            batch = trial.masked(rows, keys[at : at + 32])
            hidden = batch.input_ids.clone()
            hidden.view(-1)[batch.positions] = trial.special["mask"]
            for number, one in enumerate((batch, replace(batch, input_ids=hidden))):
                moved = one.to(device)
                loss = model(moved.input_ids, None, moved.positions, labels=moved.labels)
                totals[number] += loss.item()
            count += batch.weight
    return [total / count for total in totals]


# ---- Rounds of measurements, and what came out ----


def compare_speed(arguments: argparse.Namespace) -> None:
    text = arguments.batch_size * (arguments.length - 2)
    pairs = []
    for number in range(arguments.rounds):
        roles = ["ours", "theirs"][:: 1 if number % 2 else -1]
        pairs.append({role: start(arguments, role) for role in roles})
        shown = ", ".join(
            f"{role} {one.steps * text / one.seconds:,.0f} tokens/s in {one.steps} steps"
            for role, one in sorted(pairs[-1].items())
        )
        print(f"round {number + 1}: {shown}", flush=True)
    rows = []
    for name, value, form in (
        ("tokens per second", lambda one: one.steps * text / one.seconds, "{:,.0f}"),
        ("peak memory, MB", lambda one: one.memory / 1e6, "{:,.0f}"),
    ):
        both = [(value(pair["ours"]), value(pair["theirs"])) for pair in pairs]
        ratios = [mine / other for mine, other in both]
        medians = [form.format(median(column)) for column in zip(*both, strict=True)]
        spread = f"{median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
        rows.append([name, *medians, spread])
    print(f"\n{table(['median of rounds', 'ours', 'theirs', 'ratio'], rows)}", flush=True)


def compare_loss(arguments: argparse.Namespace) -> None:
    steps = max(WARM_UP + 1, arguments.tokens // (arguments.batch_size * (arguments.length - 2)))
    rows = []
    for seed in range(arguments.seeds):
        both = [start(arguments, role, steps=steps, seed=seed) for role in ("ours", "theirs")]
        for number, name in enumerate(("our masks", "[MASK] only")):
            losses = [one.losses[number] for one in both]
            row = [f"{loss:.3f}" for loss in (*losses, losses[0] - losses[1])]
            rows.append([f"{name}, seed {seed}", *row])
    trained = steps * arguments.batch_size * (arguments.length - 2)
    title = f"held-out loss after {trained:,} tokens"
    print(f"\n{table([title, 'ours', 'theirs', 'difference'], rows)}")


def start(arguments: argparse.Namespace, role: str, **more: int) -> Result:
    names = ("size", "length", "batch_size", "dropout", "tokenizer", "threads", "loader_workers")
    given = {name: getattr(arguments, name) for name in (*names, "seconds", "work")}
    options = {**given, **more, "role": role}
    done = subprocess.run(
        [sys.executable, __file__]
        + [f"--{name.replace('_', '-')}={value}" for name, value in options.items()],
        env={**os.environ, "OMP_NUM_THREADS": str(arguments.threads)},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        sys.exit(f"{role} failed:\n{done.stderr}")
    return Result(**json.loads(done.stdout.splitlines()[-1]))


def setting(arguments: argparse.Namespace) -> str:
    """What a reader needs to do it again."""
    from kobert_kit.records import versions

    preset, rows = PRESETS[arguments.size], read_rows(arguments.work, "training")
    entries = len(np.load(arguments.work / "frequencies.npy"))
    packages = versions("torch", "transformers", "accelerate", "numpy").items()
    return "\n".join(
        [
            f"$ python {shlex.join(sys.argv)}",
            f"{device()}, {os.cpu_count()} cores; {arguments.threads} threads, fp32",
            ", ".join(f"{name} {version}" for name, version in packages),
            f"{arguments.size}: {preset.layers} layers, {preset.hidden} wide, {entries:,} entries, "
            f"dropout {arguments.dropout}; a step has {arguments.batch_size} x {arguments.length}",
            f"{len(rows.ids):,} rows, {rows.ids.size:,} tokens of text, without the held-out ones",
            "",
        ]
    )


if __name__ == "__main__":
    main()
