"""The morphological analyser: its settings, and one lazily built instance a process.

Building Kiwi takes a second and about 300 MB, and it does not pickle, so settings travel between
processes and each process builds its own.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from kobert_kit.records import versions

if TYPE_CHECKING:
    from kiwipiepy import Kiwi

KIWI_PACKAGES = ("kiwipiepy", "kiwipiepy_model")


@dataclass(frozen=True)
class KiwiSettings:
    """How text is split into surface morphemes.

    ``shared_syllable`` decides about morphemes that share a syllable (됩니다 is 되 + ᆸ니다):
    "merge" keeps them together (됩니다, 커서); "cut" ends a piece wherever a morpheme ends and
    leaves the shared syllable with the first (됩|니다, 커|서). That keeps the endings apart, costs
    0.7 % more tokens (KLUE-NER dev, 32,000 entries), and hurts no fewer entities.

    ``user_dictionary`` is the text of a dictionary file of Kiwi's, as
    `kobert_kit.morphology.user_dictionary.read_user_dictionary` reads it.

    ``known_eojeols`` says where some eojeols are cut when there is no context, as
    `kobert_kit.morphology.known` has it; the analyser is not asked about those.
    """

    shared_syllable: Literal["cut", "merge"] = "merge"
    user_dictionary: str = ""
    known_eojeols: str = field(default="", repr=False)


@cache  # a forked child hangs where it lets go of its parent's
def analyser(user_dictionary: str = "") -> Kiwi:
    """The process's Kiwi. Call it with single strings: its list call hangs in a forked child."""
    from kiwipiepy import Kiwi

    kiwi = Kiwi(num_workers=1, load_multi_dict=False)
    if user_dictionary:
        # Kiwi reads a dictionary from a file only.
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "user_dictionary.txt"
            path.write_text(user_dictionary, encoding="utf-8")
            kiwi.load_user_dictionary(str(path))
    return kiwi


def kiwi_versions() -> dict[str, str]:
    """Versions of the installed analyser and of its model."""
    found = versions(*KIWI_PACKAGES)
    return {name: found[name] for name in KIWI_PACKAGES if name in found}
