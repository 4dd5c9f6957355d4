"""Made-up files laid out as those of the ready-made tasks, and what is in them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

DISHES = ["김밥", "국수", "만두", "떡볶이", "비빔밥"]


def write_tsv(path: Path, header: str, rows: Sequence[Sequence[object]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [header, *("\t".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def nsmc(folder: Path, name: str, count: int) -> None:
    rows = [
        [n, f"{DISHES[n % 5]} 장면은 {'최고다' if n % 2 else '별로다'}", n % 2]
        for n in range(count)
    ]
    write_tsv(folder / name, "id\tdocument\tlabel", rows)


def kornli(folder: Path, name: str, count: int) -> None:
    endings = {"entailment": "먹었다", "contradiction": "굶었다", "neutral": "또 먹었다"}
    rows = []
    for n in range(count):
        label, end = list(endings.items())[n % 3]
        rows.append([f'민수가 "{DISHES[n % 5]}"을 먹었다', f"민수는 {end}", label])
    write_tsv(folder / name, "sentence1\tsentence2\tgold_label", rows)


def korsts(folder: Path, name: str, count: int) -> None:
    rows = [
        [
            "뉴스",
            "지어냄",
            "2024",
            f"{n % 3:04}",
            f"{n % 6}.000",
            "밥을 먹었다",
            f"{'밥' * (n % 6)} 먹었다",
        ]
        for n in range(count)
    ]
    header = "genre\tfilename\tyear\tid\tscore\tsentence1\tsentence2"
    write_tsv(folder / name, header, rows)


def korquad(folder: Path, name: str, count: int) -> None:
    paragraphs = []
    for n in range(count):
        context = f"잔치에는 〈{DISHES[n % 5]}〉을 냈다."
        answer = {"text": DISHES[n % 5], "answer_start": context.index(DISHES[n % 5])}
        question = {"id": f"q-{n}", "question": "무엇을 냈나?", "answers": [answer]}
        paragraphs.append({"context": context, "qas": [question]})
    data = {"version": "지어냄", "data": [{"title": "잔치", "paragraphs": paragraphs}]}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(json.dumps(data, ensure_ascii=False), encoding="utf-8")


PEOPLE = ["민수가", "지영이", "서준이"]


def tagged(count: int) -> list[list[tuple[str, str]]]:
    """Words with type and place: a person, a place of two words, and the rest."""
    return [
        [
            (PEOPLE[n % 3], "PER B"),
            (["어제", "오늘"][n % 2], "DAT B"),
            ("부산", "LOC B"),
            ("바닷가에서", "LOC I"),
            (DISHES[n % 5], ""),
            ("먹었다", ""),
            (".", ""),
        ]
        for n in range(count)
    ]


def naver_ner(folder: Path, name: str, count: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    blocks = [
        "".join(
            f"{n}\t{word}\t{tag.replace(' ', '_') or '-'}\n"
            for n, (word, tag) in enumerate(words, start=1)
        )
        for words in tagged(count)
    ]
    (folder / name).write_text("\n".join(blocks) + "\n", encoding="utf-8")


def naver_ner_tsv(folder: Path, name: str, count: int) -> None:
    rows = [
        [" ".join(w for w, _ in words), " ".join(t.replace(" ", "-") or "O" for _, t in words)]
        for words in tagged(count)
    ]
    write_tsv(folder / name, "\t".join(map(str, rows[0])), rows[1:])


def boolq(folder: Path, name: str, count: int) -> None:
    rows = [
        [
            n + 1,
            f"{DISHES[n % 5]}은 맵다.",
            f"{DISHES[n % 5]}은 {'매운' if n % 2 else '단'}가?",
            bool(n % 2),
        ]
        for n in range(count)
    ]
    write_tsv(folder / name, "ID\tText\tQuestion\tAnswer", rows)


def copa(folder: Path, name: str, count: int) -> None:
    rows = []
    for n in range(count):
        choices = ["배가 불렀다.", "배가 고팠다."][:: 1 if n % 2 else -1]
        question = ["결과", "원인"][n // 2 % 2]
        rows.append([n + 1, f"{DISHES[n % 5]}을 먹었다.", question, *choices, 1 if n % 2 else 2])
    write_tsv(folder / name, "ID\tsentence\tquestion\t1\t2\tAnswer", rows)


def hellaswag(folder: Path, name: str, count: int) -> None:
    rows = []
    for n in range(count):
        endings = [f"{dish}을 버린다." for dish in DISHES[:4]]
        endings[n % 4] = "맛있게 먹는다."
        rows.append([f"{DISHES[n % 5]}을 상에 올린다.", *endings, n % 4])
    write_tsv(folder / name, "context\tchoice1\tchoice2\tchoice3\tchoice4\tlabel", rows)


def sentineg(folder: Path, name: str, count: int) -> None:
    rows = [[n + 1, n % 2, "맛이 좋아요" if n % 2 else "맛이 없어요"] for n in range(count)]
    write_tsv(folder / name, "ID\tLabel\tText", rows)


def wic(folder: Path, name: str, count: int) -> None:
    header = "ID\tTarget\tSENTENCE1\tDictionary 1\tLink 1\tSENTENCE2\tDictionary 2\tLink2\tANSWER"
    rows = [
        [n + 1, "배", "[배]를 탔다.", 1, "", "[배]를 깎았다." if n % 2 else "[배]가 떴다.", 2, "",
         ["True", "False", "TRUE", "FALSE"][n % 4]]
        for n in range(count)
    ]  # fmt: skip
    write_tsv(folder / name, header, rows)


READY = {
    "nsmc": (nsmc, "nsmc/ratings_train.txt", "nsmc/ratings_test.txt"),
    "kornli": (kornli, "KorNLI/multinli.train.ko.tsv", "KorNLI/xnli.dev.ko.tsv"),
    "korsts": (korsts, "KorSTS/sts-train.tsv", "KorSTS/sts-dev.tsv"),
    "korquad": (korquad, "KorQuAD_v1.0_train.json", "KorQuAD_v1.0_dev.json"),
    "naver-ner": (naver_ner, "NER/train/train_data", "NER/test/test_data"),
    "naver-ner-tsv": (naver_ner_tsv, "data/naver-ner/train.tsv", "data/naver-ner/test.tsv"),
    "kobest-boolq": (boolq, "v1.0/BoolQ/train.tsv", "v1.0/BoolQ/dev.tsv"),
    "kobest-copa": (copa, "v1.0/COPA/train.tsv", "v1.0/COPA/dev.tsv"),
    "kobest-hellaswag": (hellaswag, "v1.0/HellaSwag/train.tsv", "v1.0/HellaSwag/dev.tsv"),
    "kobest-sentineg": (sentineg, "v1.0/SentiNeg/train.tsv", "v1.0/SentiNeg/dev.tsv"),
    "kobest-wic": (wic, "v1.0/WiC/train.tsv", "v1.0/WiC/dev.tsv"),
}


def write_ready(name: str, data_dir: Path, train: int = 60, dev: int = 24) -> Path:
    """The files of a ready-made task below ``data_dir``, which is returned."""
    write, train_file, dev_file = READY[name]
    for file, count in ((train_file, train), (dev_file, dev)):
        path = data_dir / file
        write(path.parent, path.name, count)
    if name == "kornli":
        write(data_dir / "KorNLI", "snli_1.0_train.ko.tsv", train)
    return data_dir


def texts_of(data_dir: Path) -> list[str]:
    """All that the files hold, for a vocabulary."""
    return [path.read_text(encoding="utf-8") for path in data_dir.rglob("*") if path.is_file()]
