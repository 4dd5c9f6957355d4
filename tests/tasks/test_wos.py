"""KLUE-WoS: reading, rows that keep what was said last, and states that come back as spelled."""

from __future__ import annotations

import copy
import json
import time
import unicodedata
from dataclasses import replace
from pathlib import Path

import datasets
import numpy as np
import pytest
import torch
from real_text import task_file
from tiny_models import CONFIGS, write_encoder
from tokenizers import Tokenizer, models, pre_tokenizers
from tokenizers import decoders as token_decoders
from transformers import AutoModel, AutoTokenizer, PreTrainedTokenizerFast

from kobert_kit.cli import main
from kobert_kit.corpus.sample import sample_folder
from kobert_kit.errors import DataError, UsageError
from kobert_kit.finetune.baseline import majority
from kobert_kit.finetune.model import build_classifier, open_model_folder
from kobert_kit.finetune.objective import TaskObjective
from kobert_kit.finetune.run import FinetuneSettings, finetune
from kobert_kit.tasks.data import find_misfits, leave_out, load_data
from kobert_kit.tasks.formats.dialogues import SLOTS, Dialogue, Turn
from kobert_kit.tasks.formats.nearest import edit_distance
from kobert_kit.tasks.heads.tracker import END, GATES, POINTER, StateTracker
from kobert_kit.tasks.hub import read_hub
from kobert_kit.tasks.spelling import spelled, value_ids, written_tokens
from kobert_kit.tasks.wos import TASK, latest, oracle, scores, snapped_states, written_states

TOKENIZERS = Path(__file__).parents[2] / "tokenizer"
NAME = "wos-v1.1/wos-v1.1"
PLACES = ["부산", "대전", "광주"]
KINDS = ["한식당", "중식당"]
ONTOLOGY = {
    "식당-지역": ["none", "dontcare", *PLACES],
    "식당-종류": ["none", "dontcare", *KINDS],
    "식당-예약 시간": ["none", "dontcare", "11:00", "12:30"],
    "식당-주차 가능": ["none", "dontcare", "yes", "no"],
    "식당-이름": ["none", "dontcare", "푸른 바다 (본점)", "N 서울 밥상", "김밥&국수"],
}


@pytest.fixture(scope="module", params=["always", "vocab"])
def tokenizer(request):
    return AutoTokenizer.from_pretrained(TOKENIZERS / request.param)


def made_up(count: int, start: int = 0) -> list[dict]:
    """What is wanted is said in the user's own words, but for parking."""
    parking = {
        "주차도 돼야 해요": ["식당-주차 가능-yes"],
        "주차는 안 돼도 돼요": ["식당-주차 가능-no"],
        "주차는 상관없어요": ["식당-주차 가능-dontcare"],
        "고마워요": [],
    }
    records = []
    for number in range(start, start + count):
        place, kind = PLACES[number % 3], KINDS[number // 3 % 2]
        said, more = list(parking.items())[number % 4]
        state = [f"식당-지역-{place}", f"식당-종류-{kind}"]
        turns = [
            {"role": "user", "text": f"{place} {kind} 찾아요", "state": state},
            {"role": "sys", "text": "네, 더 있나요?"},
            {"role": "user", "text": said, "state": [*state, *more]},
            {"role": "sys", "text": "알겠습니다."},
        ]
        records.append({"guid": f"wos-{number}", "domains": ["식당"], "dialogue": turns})
    return records


def write_data(
    folder: Path, train: list[dict], dev: list[dict], ontology: object = ONTOLOGY
) -> Path:
    (folder / "wos-v1.1").mkdir(parents=True, exist_ok=True)
    for split, records in (("train", train), ("dev", dev)):
        text = json.dumps(records, ensure_ascii=False)
        (folder / f"{NAME}_{split}.json").write_text(text, encoding="utf-8")
    text = json.dumps(ontology, ensure_ascii=False)
    (folder / "wos-v1.1" / "ontology.json").write_text(text, encoding="utf-8")
    return folder


def dialogue(*turns: tuple[str, str, tuple[str, ...]], guid: str = "d") -> Dialogue:
    return Dialogue(guid, tuple(Turn(*turn) for turn in turns), None)


def texts_of(records: list[dict]) -> list[str]:
    values = [value for values in ONTOLOGY.values() for value in values]
    return [turn["text"] for record in records for turn in record["dialogue"]] + values


def test_the_sample_is_read_whole():
    data = load_data(TASK, sample_folder() / "klue_benchmark")
    assert not data.skipped and len(data.train) == 150 and len(data.dev) == 50


def test_official_records_and_the_hubs_are_the_same_dialogues(tmp_path):
    records = made_up(5)
    read = load_data(TASK, write_data(tmp_path, records, records)).train
    state = ("식당-지역-대전", "식당-종류-한식당")
    assert read[1].turns == (
        Turn("user", "대전 한식당 찾아요", state),
        Turn("sys", "네, 더 있나요?", ()),
        Turn("user", "주차는 안 돼도 돼요", (*state, "식당-주차 가능-no")),
        Turn("sys", "알겠습니다.", ()),
    )
    # The hub gives every turn a state.
    rows = [
        record | {"dialogue": [{"state": [], **turn} for turn in record["dialogue"]]}
        for record in records
    ]
    served = read_hub(TASK, datasets.Dataset.from_list(rows), "train")
    assert served == [replace(each, ontology=None) for each in read]


def test_the_ontology_is_part_of_the_data(tmp_path):
    records = made_up(4)
    one = load_data(TASK, write_data(tmp_path / "a", records, records))
    same = load_data(TASK, write_data(tmp_path / "b", records, records))
    other = ONTOLOGY | {"식당-지역": ["none", "dontcare", "부산"]}
    changed = load_data(TASK, write_data(tmp_path / "c", records, records, other))
    assert one.fingerprint() == same.fingerprint() != changed.fingerprint()


def test_a_value_may_be_missing_from_the_ontology_and_hold_hyphens(tmp_path):
    records = made_up(3)
    records[1]["dialogue"][2]["state"] = ["식당-이름-새-집", "식당-예약 시간-none"]
    read = load_data(TASK, write_data(tmp_path, records, records))
    assert read.train[1].turns[2].state == ("식당-이름-새-집",)


BAD = {
    "no dialogue": (lambda r: r.pop("dialogue"), r"record 2 \(wos-1\): no list 'dialogue'"),
    "no turn of the user": (
        lambda r: r.update(dialogue=r["dialogue"][1::2]),
        r"\(wos-1\): no turn of the user",
    ),
    "another role": (
        lambda r: r["dialogue"][1].update(role="bot"),
        r"\(wos-1\): turn 2: 'role' is 'bot'; expected user or sys",
    ),
    "an empty text": (
        lambda r: r["dialogue"][1].update(text=" "),
        r"\(wos-1\): turn 2: 'text' is empty",
    ),
    "no state": (lambda r: r["dialogue"][2].pop("state"), r"\(wos-1\): turn 3: no list 'state'"),
    "a state of another shape": (
        lambda r: r["dialogue"][0].update(state=["식당-지역"]),
        r"\(wos-1\): turn 1: '식당-지역' in 'state' is no 'domain-slot-value'",
    ),
    "a state that is no text": (
        lambda r: r["dialogue"][0].update(state=[3]),
        r"\(wos-1\): turn 1: 3 in 'state'",
    ),
    "an unknown slot": (
        lambda r: r["dialogue"][0].update(state=["식당-날씨-맑음"]),
        r"\(wos-1\): turn 1: the ontology has no slot '식당-날씨'",
    ),
    "a slot that this ontology has not": (
        lambda r: r["dialogue"][0].update(state=["숙소-이름-달빛"]),
        r"\(wos-1\): turn 1: the ontology has no slot '숙소-이름'",
    ),
    "neither yes nor no": (
        lambda r: r["dialogue"][0].update(state=["식당-주차 가능-아마"]),
        r"'식당-주차 가능' is '아마'; expected one of none, dontcare, yes, no",
    ),
    "two values of a slot": (
        lambda r: r["dialogue"][0].update(state=["식당-지역-부산", "식당-지역-대전"]),
        r"\(wos-1\): turn 1: '식당-지역' is '부산' and '대전'",
    ),
    "a guid twice": (lambda r: r.update(guid="wos-0"), "wos-0 stands at record 1"),
    "no guid": (lambda r: r.pop("guid"), "record 2: no 'guid'"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_dialogue_is_named_skipped_and_counted_or_stops(name, tmp_path):
    change, message = BAD[name]
    records = made_up(5)
    change(records[1])
    data_dir = write_data(tmp_path, records, made_up(3))
    with pytest.raises(DataError, match=message):
        load_data(TASK, data_dir)
    data = load_data(TASK, data_dir, strict=False)
    assert len(data.train) == 4 and len(data.skipped["train"]) == 1


@pytest.mark.parametrize(
    "name, content, message",
    [
        ("wos-v1.1_dev.json", "{}", "expected a list of records"),
        ("wos-v1.1_dev.json", '[{"guid": "a", "dialogue": [', r"_dev.json:1: .*cut off"),
        ("wos-v1.1_dev.json", '[{"guid": "a", "title": "", "label": ""}]', "of the task ynat, not"),
        ("ontology.json", '{"식당-이름": [', r"ontology.json:1: .*cut off"),
        ("ontology.json", "[]", "expected an object"),
        ("ontology.json", '{"식당-이름": [1]}', "values of '식당-이름' are no list of strings"),
    ],
)
def test_files_of_another_shape(name, content, message, tmp_path):
    data_dir = write_data(tmp_path, made_up(3), made_up(3))
    (data_dir / "wos-v1.1" / name).write_text(content, encoding="utf-8")
    with pytest.raises(DataError, match=message):
        load_data(TASK, data_dir, strict=False)


def test_without_an_ontology_nothing_is_snapped(tmp_path):
    data_dir = write_data(tmp_path, made_up(3), made_up(3))
    (data_dir / "wos-v1.1" / "ontology.json").unlink()
    dev = load_data(TASK, data_dir).dev
    assert dev[0].ontology is None
    rows = TASK.encode(dev, AutoTokenizer.from_pretrained(TOKENIZERS / "vocab"), 64)
    assert set(TASK.score(rows, oracle(rows))) == {
        *("wos_jga", "wos_slot_micro_f1", "wos_slot_micro_f1_pooled")
    }
    assert "pred_snapped" not in next(TASK.predictions(rows, oracle(rows)))


def test_a_record_without_states_can_be_read_for_prediction(tmp_path):
    path = write_data(tmp_path, made_up(3), made_up(3)) / f"{NAME}_dev.json"
    where, record = next(iter(TASK.records(path)))
    assert TASK.with_label(record) is record
    for turn in record[0]["dialogue"]:
        turn.pop("state", None)
    read = TASK.parse(TASK.with_label(record), where)
    assert [turn.state for turn in read.turns] == [()] * 4


def test_markers_in_a_text_are_text_and_a_fine_tuned_tokenizer_keeps_its_own(tokenizer):
    turns = dialogue(("user", "[SYS] 안녕 [SEP]", ()))
    before = TASK.encode([turns], tokenizer, 64).ids.tolist()
    assert before.count(tokenizer.sep_token_id) == 1 and len(tokenizer) + 1 not in before
    saved = copy.deepcopy(tokenizer)
    saved.add_tokens(list(TASK.added_tokens), special_tokens=True)
    assert TASK.encode([turns], saved, 64).ids.tolist() == before


def test_rows_hold_all_that_was_said_by_then(tmp_path, tokenizer):
    data = load_data(TASK, write_data(tmp_path, made_up(4), made_up(4)))
    rows = TASK.encode(data.train, tokenizer, 128)
    assert len(rows) == 8
    user, system = len(tokenizer), len(tokenizer) + 1
    texts = [turn.text for turn in data.train[0].turns[:3]]
    first, reply, second = tokenizer(texts, add_special_tokens=False)["input_ids"]
    cls, sep = tokenizer.cls_token_id, tokenizer.sep_token_id
    assert rows.ids[: rows.offsets[1]].tolist() == [cls, user, *first, sep]
    said = [user, *first, system, *reply, user, *second]
    assert rows.ids[rows.offsets[1] : rows.offsets[2]].tolist() == [cls, *said, sep]


def test_of_a_long_dialogue_the_end_is_kept(tokenizer):
    turns = [("user", f"{n}번 손님 {n * 7}명이에요", ()) for n in range(30)]
    rows = TASK.encode([dialogue(*turns)], tokenizer, 40)
    whole = TASK.encode([dialogue(*turns)], tokenizer, 5000)
    user = len(tokenizer)
    for row in range(30):
        kept = rows.ids[rows.offsets[row] : rows.offsets[row + 1]].tolist()
        said = whole.ids[whole.offsets[row] : whole.offsets[row + 1]].tolist()
        assert len(kept) == min(40, len(said)) or len(kept) == 39
        assert kept[0] == said[0] and kept[1] == user
        assert kept[2:] == said[len(said) - len(kept) + 2 :]


def test_a_turn_that_is_cut_keeps_its_marker():
    turns = [[-1, 1, 2, 3], [-2, 4, 5]]
    cut = {room: latest(turns, room) for room in range(1, 9)}
    assert cut[8] == cut[7] == [-1, 1, 2, 3, -2, 4, 5]
    assert cut[6] == [-1, 2, 3, -2, 4, 5] and cut[5] == [-1, 3, -2, 4, 5]
    assert cut[4] == cut[3] == [-2, 4, 5]
    assert cut[2] == [-2, 5] and cut[1] == []


def test_what_is_learnt_by_hand(tokenizer):
    state = ("식당-지역-부산", "식당-주차 가능-no", "식당-예약 시간-dontcare", "식당-이름-부산 집")
    rows = TASK.encode([dialogue(("user", "가", state))], tokenizer, 32)
    labels = rows.labels_of(np.array([0]), np.empty(0), np.empty(0))[0]
    gates = {SLOTS[slot]: GATES[gate] for slot, gate in enumerate(labels[:, 0]) if gate}
    assert gates == {
        "식당-지역": "pointer",
        "식당-주차 가능": "no",
        "식당-예약 시간": "dontcare",
        "식당-이름": "pointer",
    }
    for slot, value in (("식당-지역", "부산"), ("식당-이름", "부산 집")):
        tokens = tokenizer(value, add_special_tokens=False)["input_ids"]
        learnt = labels[SLOTS.index(slot), 1:]
        assert learnt[: len(tokens) + 1].tolist() == [*tokens, END]
        assert (learnt[len(tokens) + 1 :] == -100).all()
    assert (labels[labels[:, 0] != POINTER, 1:] == -100).all()


def test_oracle_on_the_sample_and_on_hard_spellings(tokenizer):
    data = load_data(TASK, sample_folder() / "klue_benchmark")
    values = [*ONTOLOGY["식당-이름"][2:], "63시티", "9:05", "가-나", "분식, 국수", "A/S 센터"]
    values += [unicodedata.normalize("NFC", "더 그린")]
    hard = [dialogue(("user", "가", (f"식당-이름-{value}",)), guid=value) for value in values]
    for dialogues in (data.dev, hard):
        rows = TASK.encode(dialogues, tokenizer, 128)
        assert written_states(rows, oracle(rows)) != [()] * len(rows)
        assert TASK.score(rows, oracle(rows))["wos_jga"] == 100.0


def test_oracle_on_the_real_dialogues(tmp_path, tokenizer):
    path = task_file("klue_benchmark", "wos-v1.1_dev.json", tmp_path)
    task_file("klue_benchmark", "ontology.json", tmp_path)
    dialogues = [TASK.parse(record, where) for where, record in TASK.records(path)]
    assert len(dialogues) == 10 and dialogues[0].ontology is not None
    rows = TASK.encode(dialogues, tokenizer, 512)
    assert len(rows) == 76
    assert set(TASK.score(rows, oracle(rows)).values()) == {100.0}
    pieces = written_tokens(tokenizer)
    known = sorted({value for slot in SLOTS for value in dialogues[0].ontology.values(slot)})
    assert [spelled(ids, pieces) for ids in value_ids(known, tokenizer)] == known
    # So these are kept although the ontology has them not.
    gold = {each for state in rows.gold for each in state}
    unknown = [
        each
        for each in gold
        if each.split("-", 2)[2]
        not in dialogues[0].ontology.values("-".join(each.split("-", 2)[:2]))
    ]
    assert len(unknown) > 10


def test_spelling_of_byte_level_tokens():
    texts = ["서울 남쪽 호텔", "푸른 바다 (본점)", "12:30", "N 서울 밥상"]
    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = token_decoders.ByteLevel()
    from tokenizers.trainers import BpeTrainer

    alphabet = pre_tokenizers.ByteLevel.alphabet()
    backend.train_from_iterator(texts, BpeTrainer(vocab_size=290, initial_alphabet=alphabet))
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend)
    pieces = written_tokens(tokenizer)
    assert [spelled(ids, pieces) for ids in value_ids(texts, tokenizer)] == texts


def test_states_that_are_snapped(tmp_path):
    data = load_data(TASK, write_data(tmp_path, made_up(3), made_up(3)))
    ontology = data.dev[0].ontology
    assert ontology is not None
    for slot, value, wanted in [
        ("식당-이름", "푸른바다(본점)", "푸른 바다 (본점)"),
        ("식당-이름", "n서울밥상", "N 서울 밥상"),
        ("식당-이름", "N 서울 밥솥", "N 서울 밥상"),  # one of six
        ("식당-이름", "서울", "서울"),  # too far
        ("식당-예약 시간", "12 : 30", "12:30"),
        ("식당-예약 시간", "12:31", "12:31"),  # another time
        ("식당-예약 시간", "", ""),
        ("식당-주차 가능", "yes", "yes"),
        ("식당-지역", "dontcare", "dontcare"),
    ]:
        assert ontology.snap(slot, value) == wanted
    dialogues = [replace(data.dev[0], turns=data.dev[0].turns[:1])]
    rows = TASK.encode(dialogues, AutoTokenizer.from_pretrained(TOKENIZERS / "vocab"), 64)
    assert snapped_states(rows, [("식당-이름-김밥 & 국수", "식당-지역-부산")]) == [
        ("식당-이름-김밥&국수", "식당-지역-부산")
    ]
    rows.examples = [replace(dialogues[0], ontology=None)]
    assert snapped_states(rows, [()]) is None


def test_edit_distance_by_hand():
    pairs = [("", "", 0), ("가", "", 1), ("kitten", "sitting", 3), ("가나다", "나다라", 2)]
    for one, other, wanted in pairs:
        assert edit_distance(one, other) == edit_distance(other, one) == wanted


def test_snapping_what_an_untrained_model_writes_takes_little_time(tmp_path):
    names = [
        f"{a}{b} {c}" for a in "가나다라마바사아" for b in "산강들물" for c in ("호텔", "모텔")
    ]
    ontology = ONTOLOGY | {"식당-이름": names}
    data = load_data(TASK, write_data(tmp_path, made_up(3), made_up(3), ontology))
    found = data.dev[0].ontology
    random = np.random.default_rng(0)
    written = [
        "".join(random.choice(list("가나다라마바사아산강들물호텔모"), 5)) for _ in range(3000)
    ]
    begun = time.process_time()
    snapped = [found.snap("식당-이름", each) for each in written]
    assert time.process_time() - begun < 10
    for each, word in list(zip(written, snapped, strict=True))[::50]:
        assert word == each or word in names


def test_a_value_that_is_too_long_to_be_written(tmp_path, tokenizer):
    data = load_data(TASK, write_data(tmp_path, made_up(3), made_up(3)))
    long = dialogue(("user", "가", ("식당-이름-" + "나 " * 40,)), guid="long")
    data.train[1] = long
    with pytest.raises(DataError, match=r"wos train \(long\): the value '나 .*has 40 tokens"):
        leave_out(TASK, data, find_misfits(TASK, data, tokenizer, 64), strict=True)
    kept = leave_out(TASK, data, find_misfits(TASK, data, tokenizer, 64), strict=False)
    assert len(kept.train) == 2 and len(kept.skipped["train"]) == 1


def tiny(tmp_path: Path, kind: str = "bert"):
    folder = open_model_folder(write_encoder(tmp_path / kind, texts_of(made_up(24)), kind))
    return folder, build_classifier(folder, TASK, False, seed=0).eval()


def objective(tmp_path: Path, folder, count: int = 8) -> TaskObjective:
    data = load_data(TASK, write_data(tmp_path / "data", made_up(count), made_up(count)))
    rows = TASK.encode(data.train, folder.tokenizer, 64)
    return TaskObjective(TASK, rows, rows, 0, folder.takes_token_types, 5, 0)


def test_the_loss_is_the_likelihood_that_the_generator_gives_step_by_step(tmp_path):
    """Against one value at a time, with the whole distribution written out, as in the paper."""
    folder, model = tiny(tmp_path)
    made = objective(tmp_path, folder)
    batch = made.batch(0, 0, 1, 0.0)
    with torch.no_grad():
        loss = made.loss(model, batch)
        reading = batch.output(model)
        head, total = model.head, 0.0
        for row, labels in enumerate(batch.labels):
            length = len(batch.input_ids[row])
            real = torch.ones(length, dtype=torch.bool)
            if batch.attention_mask is not None:
                real = batch.attention_mask[row].bool()
            ids, memory = batch.input_ids[row][real], reading.memory[row][real]
            for slot, (gate, *tokens) in enumerate(labels.tolist()):
                inputs, state = head.slots()[slot], memory[0]
                for step, token in enumerate([None, *(t for t in tokens if t != -100)]):
                    if step <= 1:  # the gate is read from the first step, as the first token is
                        output, _ = head.recurrent(head.slots()[slot][None, None], memory[:1][None])
                        state = output[0, 0]
                    weights = (memory @ head.query(state) / state.numel() ** 0.5).softmax(0)
                    seen = weights @ memory
                    if token is None:
                        total -= head.gate(seen).log_softmax(0)[gate].item()
                        continue
                    both = torch.cat([state, seen])
                    copied = head.copied(torch.cat([both, inputs])).sigmoid()
                    compared = head.compared(both)
                    logits = torch.cat([reading.vocabulary @ compared, head.end(compared)])
                    chances = (1 - copied) * logits.softmax(0)
                    for place, number in enumerate(ids.tolist()):
                        chances[number] += copied[0] * weights[place]
                    assert chances.sum().item() == pytest.approx(1.0, abs=1e-5)
                    total -= chances[token].log().item()  # END, -1, is the last
                    if token != END:
                        inputs = head.words(reading.vocabulary[token])
                        output, _ = head.recurrent(inputs[None, None], state[None, None])
                        state = output[0, 0]
    assert loss.item() == pytest.approx(total, rel=1e-4)
    assert batch.weight == int((batch.labels != -100).sum())


def test_a_turn_is_read_the_same_alone_and_among_others(tmp_path):
    folder, model = tiny(tmp_path)
    with torch.no_grad():  # so that some gates are pointers, and values have several tokens
        model.head.gate.bias[POINTER] += 2.0
    made = objective(tmp_path, folder)
    together = made.predict(model)
    assert any((row[:, 0] == POINTER).any() for row in together)
    for number in (0, 3, 7):
        alone = TaskObjective(TASK, made.train, made.train, 0, True, 1, 0)
        batch = alone._make(made.train, np.array([number]))
        with torch.inference_mode():
            output = TASK.head.outputs(alone.logits(model, batch))[0].numpy()
        assert (output == together[number]).all()


def test_the_baseline_says_what_is_commonest(tmp_path):
    train = made_up(6)
    train[1]["dialogue"] = train[0]["dialogue"]
    values = majority(TASK, write_data(tmp_path, train, made_up(2)))
    assert values["wos_jga"] == 25.0  # the first turn of the first dialogue
    assert scores([("a-b-c",)], [()], None)["wos_slot_micro_f1"] == 0.0


@pytest.mark.parametrize("kind", CONFIGS)
def test_every_kind_of_encoder_learns_and_its_predictions_give_its_scores(kind, tmp_path):
    data_dir = write_data(tmp_path, made_up(48), made_up(12, start=1200))
    model = write_encoder(tmp_path / kind, texts_of(made_up(24)), kind)
    settings = FinetuneSettings(epochs=40, batch_size=8, learning_rate=1e-2)
    finetune(TASK, model, data_dir, tmp_path / "out", settings, [0], print, threads=1)
    seed = tmp_path / "out" / "seed-0"
    last = json.loads((seed / "metrics.json").read_text())["last"]
    assert last["wos_jga"] > 80
    lines = [json.loads(line) for line in (seed / "predictions.jsonl").open(encoding="utf-8")]
    dev = load_data(TASK, data_dir).dev
    assert [(line["guid"], line["turn"]) for line in lines] == [
        (each.guid, turn) for each in dev for turn in (0, 2)
    ]
    gold, pred, snapped = ([line[k] for line in lines] for k in ("gold", "pred", "pred_snapped"))
    assert scores(gold, pred, snapped) == pytest.approx(last)
    assert gold == [list(each.turns[turn].state) for each in dev for turn in (0, 2)]


def test_what_is_saved_loads_again_and_its_encoder_anywhere(tmp_path):
    data_dir = write_data(tmp_path, made_up(24), made_up(6))
    model = write_encoder(tmp_path / "model", texts_of(made_up(24)))
    settings = FinetuneSettings(epochs=3, batch_size=8, learning_rate=1e-2)
    finetune(TASK, model, data_dir, tmp_path / "out", settings, [0], print, threads=1)
    seed = tmp_path / "out" / "seed-0"
    tracker = StateTracker.from_pretrained(seed)
    assert [tracker.config.id2label[n] for n in range(len(SLOTS))] == list(SLOTS)
    tokenizer = AutoTokenizer.from_pretrained(model)
    rows = TASK.encode(load_data(TASK, data_dir).dev, tokenizer, 128)
    outputs = TaskObjective(TASK, rows, rows, 0, True, 8, 0).predicted(tracker)
    lines = [json.loads(line) for line in (seed / "predictions.jsonl").open(encoding="utf-8")]
    assert [list(state) for state in written_states(rows, outputs)] == [x["pred"] for x in lines]
    encoder, loading = AutoModel.from_pretrained(seed, output_loading_info=True)
    assert not [key for key in loading["missing_keys"] if "pooler" not in key]
    for name, weight in encoder.state_dict().items():
        if "pooler" not in name:
            assert torch.equal(weight, tracker.encoder.state_dict()[name])
    saved = AutoTokenizer.from_pretrained(seed)
    assert saved.convert_tokens_to_ids(["[USR]", "[SYS]"]) == [len(tokenizer), len(tokenizer) + 1]
    (seed / StateTracker.weights_name).unlink()
    with pytest.raises(FileNotFoundError):  # a random head would go unnoticed
        StateTracker.from_pretrained(seed)


def test_the_length_is_the_tasks_unless_it_is_named(tmp_path):
    folder, _ = tiny(tmp_path)
    assert folder.max_length(None, TASK.max_length) == 128 == folder.max_length(128, 512)
    assert folder.max_length(None, 64) == 64
    with pytest.raises(UsageError, match="--max-length 129: between 8 and 128"):
        folder.max_length(129, TASK.max_length)


def test_the_command(tmp_path, capsys):
    data_dir = write_data(tmp_path, made_up(12), made_up(6))
    model = write_encoder(tmp_path / "model", texts_of(made_up(12)))
    command = ["klue", "--task", "wos", "--model", str(model), "--data-dir", str(data_dir)]
    command += ["--epochs", "1", "--threads", "1", "--limit", "4"]
    main([*command, "--output", str(tmp_path / "out")])
    said = capsys.readouterr().out
    for name in ("wos_jga", "wos_slot_micro_f1_pooled", "wos_jga_snapped"):
        assert name in said
    lines = (tmp_path / "out" / "wos" / "seed-0" / "predictions.jsonl").read_text().splitlines()
    assert len(lines) == 8  # two turns of each of four dialogues
