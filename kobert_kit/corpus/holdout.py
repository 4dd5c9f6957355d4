"""The slice of a corpus that nothing trains on."""

from __future__ import annotations

import hashlib

from kobert_kit.corpus.documents import Document


def is_held_out(document: Document, share: float) -> bool:
    """Whether ``document`` belongs to the held-out ``share`` (0 to 1) of a corpus.

    So every stage holds out the same documents, whatever the order; copies of a text fall on the
    same side, whatever their ids; and a larger share contains the smaller ones.
    """
    return held_out_draw(document) < share


def held_out_draw(document: Document) -> float:
    """A hash of the document's text as a uniform number in [0, 1): held out below the share."""
    digest = hashlib.blake2b(document.text.encode(), digest_size=8).digest()
    # 53 bits: all that a float holds, so that the number stays below 1.
    return (int.from_bytes(digest, "big") >> 11) / 2**53
