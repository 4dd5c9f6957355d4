"""Write the sample: documents and KLUE-format task files of one small world.

    python -m corpora.generate [--output FOLDER]

The same seed and the same Kiwi give the same bytes.
"""

from __future__ import annotations

import argparse
import json
import lzma
import random
from pathlib import Path
from typing import Any

from .world.lexicon import topics
from .world.registers import REGISTERS
from .world.tasks import dp, mrc, ner, nli, re, sts, wos, ynat

SEED = 20240
DOCUMENTS = {"news": 1000, "encyclopedia": 560, "review": 420, "dialogue": 560, "notice": 210}
SIZES = {
    "ynat": {"train": 490, "dev": 700},
    "nli": {"train": 3600, "dev": 510},
    "sts": {"train": 1500, "dev": 300},
    "re": {"train": 400, "dev": 120},
    "ner": {"train": 300, "dev": 100},
    "dp": {"train": 300, "dev": 100},
    "wos": {"train": 150, "dev": 50},
    "mrc": {"train": 140, "dev": 42},
}
FOLDERS = {
    "ynat": "ynat-v1.1",
    "nli": "klue-nli-v1.1",
    "sts": "klue-sts-v1.1",
    "re": "klue-re-v1.1",
    "ner": "klue-ner-v1.1",
    "dp": "klue-dp-v1.1",
    "wos": "wos-v1.1",
    "mrc": "klue-mrc-v1.1",
}
MAKERS = {
    "ynat": ynat,
    "nli": nli,
    "sts": sts,
    "re": re,
    "ner": ner,
    "dp": dp,
    "wos": wos,
    "mrc": mrc,
}


def documents(seed: int = SEED) -> list[dict[str, str]]:
    """The corpus, one dictionary a document, shuffled; every title and text is unique as a pair."""
    rows = []
    for register, count in DOCUMENTS.items():
        seen: set[str] = set()
        while len(seen) < count:
            index = len(seen)
            topic = topics()[index % len(topics())]
            rng = random.Random(f"{seed}/{register}/{index}")
            document = REGISTERS[register](rng, topic)
            while document.text in seen:
                document = REGISTERS[register](rng, topic)
            seen.add(document.text)
            name = f"{register}-{topic.key}-{index:04}"
            source = f"{register}/{topic.name}"
            rows.append(
                {"id": name, "source": source, "title": document.title, "text": document.text}
            )
    random.Random(f"{seed}/order").shuffle(rows)
    return rows


def _json(value: Any) -> str:
    """One record a line: as readable as the official indentation, at a fraction of its size."""
    if isinstance(value, list):
        rows = ",\n".join(json.dumps(row, ensure_ascii=False) for row in value)
        return f"[\n{rows}\n]\n"
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


def write_sample(output: Path, seed: int = SEED) -> None:
    output.mkdir(parents=True, exist_ok=True)
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in documents(seed))
    (output / "documents.jsonl.xz").write_bytes(lzma.compress(lines.encode("utf-8"), preset=9))
    for task, maker in MAKERS.items():
        folder = output / "klue_benchmark" / FOLDERS[task]
        folder.mkdir(parents=True, exist_ok=True)
        splits = maker.examples(random.Random(f"{seed}/{task}"), SIZES[task])
        for split, content in splits.items():
            suffix, text = (
                ("tsv", content) if isinstance(content, str) else ("json", _json(content))
            )
            (folder / f"{FOLDERS[task]}_{split}.{suffix}").write_text(text, encoding="utf-8")
    relations = {"relations": re.RELATIONS}
    _write(output, "klue-re-v1.1/relation_list.json", relations)
    _write(output, "wos-v1.1/ontology.json", wos.ontology())


def _write(output: Path, name: str, value: Any) -> None:
    (output / "klue_benchmark" / name).write_text(_json(value), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description="Write the sample corpus and its task files.")
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "sample")
    write_sample(parser.parse_args().output)


if __name__ == "__main__":
    main()
