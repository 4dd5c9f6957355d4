"""The compiled map against the table it was made from, as the library applies it."""

from tokenizers.normalizers import Precompiled

from kobert_kit.normalize import COMPATIBILITY_JAMO, WIDTH_FORMS
from kobert_kit.tokenizer.charsmap import compile_charsmap


def test_every_character_of_the_plane() -> None:
    table = COMPATIBILITY_JAMO | WIDTH_FORMS
    normalizer = Precompiled(compile_charsmap(table))
    for code in (*range(1, 0xD800), *range(0xE000, 0x20000)):
        char = chr(code)
        assert normalizer.normalize_str(char) == table.get(char, char)


def test_keys_of_all_lengths_and_longer_texts() -> None:
    table = {"a": "bb", "é": "e", "가": "나다", "😀": ":)", "😁": ""}
    normalizer = Precompiled(compile_charsmap(table))
    assert normalizer.normalize_str("a가😀x é각😂") == "bb나다:)x e각😂"
