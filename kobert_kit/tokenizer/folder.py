"""The tokenizer folder: what ``AutoTokenizer`` needs to load it, and nothing of ours.

Everything that the tokenizer does is in ``tokenizer.json``. Its class is the generic fast
tokenizer: transformers 5 builds a ``BertTokenizer`` anew from the vocabulary, and lower-cases.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, processors
from tokenizers import pre_tokenizers as pre

from kobert_kit.morphology.splitter import EOJEOL
from kobert_kit.normalize import COMPATIBILITY_JAMO, WIDTH_FORMS
from kobert_kit.records import atomic_file, write_json
from kobert_kit.tokenizer.charsmap import compile_charsmap
from kobert_kit.tokenizer.locked import locked
from kobert_kit.tokenizer.pieces import PREFIX
from kobert_kit.tokenizer.recipe import CONFIG_NAME, KEY, KNOWN_NAME, Recipe

SPECIAL_TOKENS = {
    "pad_token": "[PAD]",
    "unk_token": "[UNK]",
    "cls_token": "[CLS]",
    "sep_token": "[SEP]",
    "mask_token": "[MASK]",
}
_WHITE_SPACE = [chr(code) for code in range(0x3001) if EOJEOL.match(chr(code)) is None]
_BERTS_OWN = frozenset(SPECIAL_TOKENS.values())
_UNUSED = re.compile(r"\[unused[0-9]+\]")
MODEL_MAX_LENGTH = 512
# WordPiece takes quadratic time on a run without a space, and gives up on one over its limit.
MAX_WORD_CHARS = 100


def write_tokenizer(folder: Path, tokenizer: Tokenizer, recipe: Recipe) -> None:
    """Write the files of ``tokenizer``, which splits text as ``recipe`` says."""
    entries = tokenizer.get_vocab()
    with atomic_file(folder / "vocab.txt") as temporary:
        lines = (f"{entry}\n" for entry in sorted(entries, key=entries.__getitem__))
        temporary.write_text("".join(lines), encoding="utf-8")
    text = tokenizer.to_str(pretty=True) + "\n"
    always = recipe.mode == "always"
    with atomic_file(folder / "tokenizer.json") as temporary:
        temporary.write_text(locked(text) if always else text, encoding="utf-8")
    if recipe.kiwi.known_eojeols:
        with atomic_file(folder / KNOWN_NAME) as temporary:
            temporary.write_bytes(recipe.kiwi.known_eojeols.encode())
    extra = extra_special_tokens(tokenizer)
    special = SPECIAL_TOKENS | ({"additional_special_tokens": extra} if extra else {})
    write_json(folder / "special_tokens_map.json", special)
    write_json(
        folder / CONFIG_NAME,
        {
            "tokenizer_class": "MorphemeTokenizer" if always else "PreTrainedTokenizerFast",
            "model_max_length": MODEL_MAX_LENGTH,
            "model_input_names": ["input_ids", "token_type_ids", "attention_mask"],
            "do_lower_case": False,
            "strip_accents": False,
            "tokenize_chinese_chars": False,
            "clean_up_tokenization_spaces": False,
            **SPECIAL_TOKENS,
            **({"extra_special_tokens": extra} if extra else {}),
            KEY: recipe.as_config(),
        },
    )


def is_reserved(entry: str) -> bool:
    """Whether ``entry`` is one of BERT's special tokens or an unused slot."""
    return entry in _BERTS_OWN or is_slot(entry)


def is_slot(entry: str) -> bool:
    """Whether ``entry`` is an unused slot such as [unused7]."""
    return _UNUSED.fullmatch(entry) is not None


def extra_special_tokens(tokenizer: Tokenizer) -> list[str]:
    """The special tokens beside BERT's own, in the order of their ids."""
    added = sorted(tokenizer.get_added_tokens_decoder().items())
    return [str(token.content) for _, token in added if token.content not in _BERTS_OWN]


def reserved_entries(special_tokens: Sequence[str], unused: int) -> list[str]:
    """The entries that no text yields: BERT's special tokens, those asked for, and free slots."""
    slots = [f"[unused{number}]" for number in range(unused)]
    return [*SPECIAL_TOKENS.values(), *special_tokens, *slots]


def make_tokenizer(
    entries: Sequence[str],
    joined: Iterable[str],
    special_tokens: Sequence[str] = (),
    unused: int = 0,
) -> Tokenizer:
    """The tokenizer whose ids are the positions in the reserved entries and then ``entries``.

    ``joined`` are the characters that need not be isolated, see `Alphabet`.
    """
    vocabulary = [*reserved_entries(special_tokens, unused), *entries]
    ids = {entry: number for number, entry in enumerate(vocabulary)}
    unknown = SPECIAL_TOKENS["unk_token"]
    tokenizer = Tokenizer(
        models.WordPiece(ids, unk_token=unknown, max_input_chars_per_word=1 + MAX_WORD_CHARS)
    )
    characters = compile_charsmap(COMPATIBILITY_JAMO | WIDTH_FORMS)
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.NFC(), normalizers.Precompiled(characters)]
    )
    tokenizer.pre_tokenizer = pre.Split(
        Regex(_pre_token(joined, reserved_entries(special_tokens, 0))), "removed", invert=True
    )
    # No clean-up: the tokens say where the spaces are.
    tokenizer.decoder = decoders.WordPiece(prefix=PREFIX, cleanup=False)
    cls, sep = SPECIAL_TOKENS["cls_token"], SPECIAL_TOKENS["sep_token"]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{cls}:0 $A:0 {sep}:0",
        pair=f"{cls}:0 $A:0 {sep}:0 $B:1 {sep}:1",
        special_tokens=[(cls, ids[cls]), (sep, ids[sep])],
    )
    tokenizer.add_special_tokens(
        [
            AddedToken(token, special=True, normalized=False)
            for token in reserved_entries(special_tokens, 0)
        ]
    )
    return tokenizer


def _pre_token(joined: Iterable[str], special_tokens: Iterable[str]) -> str:
    """Matches what WordPiece looks at in one go; white space alone is in none.

    Joined characters of an eojeol, or one other. As in `known_run`, a # begins anew. What is spelt
    like a special token or an unused slot is cut after its first character, or WordPiece would find
    the token where the text is to be text.
    """
    known = _ranges(char for char in joined if char != "#")
    alternatives = [
        *(f"{re.escape(token[0])}(?={re.escape(token[1:])})" for token in special_tokens),
        r"\[(?=unused[0-9]+\])",
        f"#?[{known}]{{1,{MAX_WORD_CHARS}}}",
        f"[^{_ranges(_WHITE_SPACE)}]",
    ]
    return "|".join(alternatives)


def _ranges(chars: Iterable[str]) -> str:
    """The inside of a regular expression's character class, as ranges of code points."""
    codes = sorted(map(ord, chars))
    parts = []
    # Neighbouring code points keep the same distance to their rank.
    for _, run in groupby(enumerate(codes), key=lambda item: item[1] - item[0]):
        members = [code for _, code in run]
        parts.append(f"\\x{{{members[0]:x}}}-\\x{{{members[-1]:x}}}")
    return "".join(parts)
