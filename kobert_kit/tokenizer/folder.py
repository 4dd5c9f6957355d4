"""The tokenizer folder: what ``AutoTokenizer`` needs to load it, and nothing of ours.

Everything that the tokenizer does is in ``tokenizer.json``. Its class is the generic fast
tokenizer: transformers 5 builds a ``BertTokenizer`` anew from the vocabulary, and lower-cases.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import filterfalse, groupby
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, processors
from tokenizers import pre_tokenizers as pre

from kobert_kit.morphology.normalize import COMPATIBILITY_JAMO
from kobert_kit.records import atomic_file, write_json
from kobert_kit.tokenizer.charsmap import compile_charsmap
from kobert_kit.tokenizer.pieces import PREFIX, is_punctuation

SPECIAL_TOKENS = {
    "pad_token": "[PAD]",
    "unk_token": "[UNK]",
    "cls_token": "[CLS]",
    "sep_token": "[SEP]",
    "mask_token": "[MASK]",
}
MODEL_MAX_LENGTH = 512
# WordPiece takes quadratic time on a run without a space, and gives up on one over its limit.
MAX_WORD_CHARS = 100


def write_tokenizer(folder: Path, entries: Sequence[str], alphabet: Iterable[str]) -> Tokenizer:
    """Write the files of a tokenizer with the special tokens and then ``entries``; return it."""
    vocabulary = [*SPECIAL_TOKENS.values(), *entries]
    tokenizer = make_tokenizer(vocabulary, alphabet)
    with atomic_file(folder / "vocab.txt") as temporary:
        temporary.write_text("".join(f"{entry}\n" for entry in vocabulary), encoding="utf-8")
    with atomic_file(folder / "tokenizer.json") as temporary:
        temporary.write_text(tokenizer.to_str(pretty=True) + "\n", encoding="utf-8")
    write_json(folder / "special_tokens_map.json", SPECIAL_TOKENS)
    write_json(
        folder / "tokenizer_config.json",
        {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "model_max_length": MODEL_MAX_LENGTH,
            "model_input_names": ["input_ids", "token_type_ids", "attention_mask"],
            "do_lower_case": False,
            "strip_accents": False,
            "tokenize_chinese_chars": False,
            "clean_up_tokenization_spaces": False,
            **SPECIAL_TOKENS,
        },
    )
    return tokenizer


def make_tokenizer(vocabulary: Sequence[str], alphabet: Iterable[str]) -> Tokenizer:
    """The tokenizer whose ids are the positions in ``vocabulary``."""
    ids = {entry: number for number, entry in enumerate(vocabulary)}
    unknown = SPECIAL_TOKENS["unk_token"]
    tokenizer = Tokenizer(
        models.WordPiece(ids, unk_token=unknown, max_input_chars_per_word=MAX_WORD_CHARS)
    )
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.NFC(), normalizers.Precompiled(compile_charsmap(COMPATIBILITY_JAMO))]
    )
    tokenizer.pre_tokenizer = pre.Sequence(
        [
            pre.WhitespaceSplit(),
            pre.Split(Regex(f"[^{_ranges(filterfalse(is_punctuation, alphabet))}]"), "isolated"),
            pre.FixedLength(MAX_WORD_CHARS),
        ]
    )
    tokenizer.decoder = decoders.WordPiece(prefix=PREFIX)
    cls, sep = SPECIAL_TOKENS["cls_token"], SPECIAL_TOKENS["sep_token"]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{cls}:0 $A:0 {sep}:0",
        pair=f"{cls}:0 $A:0 {sep}:0 $B:1 {sep}:1",
        special_tokens=[(cls, ids[cls]), (sep, ids[sep])],
    )
    tokenizer.add_special_tokens(
        [AddedToken(token, special=True, normalized=False) for token in SPECIAL_TOKENS.values()]
    )
    return tokenizer


def _ranges(chars: Iterable[str]) -> str:
    """The inside of a regular expression's character class, as ranges of code points."""
    codes = sorted(map(ord, chars))
    parts = []
    # Neighbouring code points keep the same distance to their rank.
    for _, run in groupby(enumerate(codes), key=lambda item: item[1] - item[0]):
        members = [code for _, code in run]
        parts.append(f"\\x{{{members[0]:x}}}-\\x{{{members[-1]:x}}}")
    return "".join(parts)
