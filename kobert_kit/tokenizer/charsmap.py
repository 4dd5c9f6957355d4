"""A character map in the one form that the tokenizers library applies in a single pass.

A Replace for each of the 67 jamo would cost a third of the tokenizer's speed. ``Precompiled``,
made for SentencePiece, looks each character up in a trie instead: a darts-clone double array,
where a node at p has its child for byte c at ``p ^ offset ^ c``. A unit of the array holds that
byte (bits 0 to 7), whether a key ends there (bit 8), and the offset (from bit 10); the unit
that stands for an end holds a position in the replacements, each ended by a zero byte.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping

_BLOCK = 256  # each inner node gets one of its own, which wastes little for a few keys


def compile_charsmap(replacements: Mapping[str, str]) -> bytes:
    """The map from characters to strings, for ``tokenizers.normalizers.Precompiled``."""
    # What a node's children share: prefix of bytes -> start of their block.
    blocks = {b"": _BLOCK}
    for char in replacements:
        key = char.encode()
        for length in range(1, len(key)):
            blocks.setdefault(key[:length], _BLOCK * (len(blocks) + 1))
    ends = _BLOCK * (len(blocks) + 1)
    units = [0] * (ends + len(replacements))
    units[0] = blocks[b""] << 10
    for prefix, block in blocks.items():
        if prefix:
            position = blocks[prefix[:-1]] ^ prefix[-1]
            units[position] = prefix[-1] | (position ^ block) << 10
    texts = b""
    for end, (char, text) in enumerate(replacements.items(), ends):
        key = char.encode()
        position = blocks[key[:-1]] ^ key[-1]
        units[position] = key[-1] | 1 << 8 | (position ^ end) << 10
        units[end] = 1 << 31 | len(texts)
        texts += text.encode() + b"\0"
    trie = struct.pack(f"<{len(units)}I", *units)
    return struct.pack("<I", len(trie)) + trie + texts
