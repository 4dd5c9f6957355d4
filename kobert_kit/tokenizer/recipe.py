"""How a tokenizer folder splits text: its mode, and the analyser that it was made with.

Kept in ``tokenizer_config.json`` under "kobert_kit", so that it travels with every copy.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from kobert_kit.errors import DataError
from kobert_kit.morphology.kiwi import KiwiSettings, kiwi_versions

KEY = "kobert_kit"
CONFIG_NAME = "tokenizer_config.json"
KNOWN_NAME = "eojeols.txt"
MODES = ("vocab", "always")


@dataclass(frozen=True)
class Recipe:
    """``mode`` "vocab": the analyser shaped the vocabulary only; "always": it also runs when text
    is encoded. ``versions`` are those of the analyser and its model. ``eojeols`` is the digest of
    the known eojeols that a folder should have, empty if it does not say."""

    mode: str
    kiwi: KiwiSettings = field(default_factory=KiwiSettings)
    versions: Mapping[str, str] = field(default_factory=kiwi_versions)
    eojeols: str = ""

    def as_config(self) -> dict[str, Any]:
        """The value of "kobert_kit" in ``tokenizer_config.json``; known eojeols have a file."""
        config = asdict(self)
        known = config["kiwi"].pop("known_eojeols")
        return config | {"eojeols": _digest(known)}


def recipe_from(config: Mapping[str, Any], place: Path | str, known: str = "") -> Recipe:
    """The recipe in the values of a ``tokenizer_config.json``, with ``known`` eojeols.

    ``place`` is for messages.

    Raises:
        DataError: there is none, or its mode is unknown.
    """
    try:
        values = config[KEY]
        kiwi = KiwiSettings(**values["kiwi"], known_eojeols=known)
        recipe = Recipe(values["mode"], kiwi, dict(values["versions"]), values.get("eojeols", ""))
    except (KeyError, TypeError, ValueError):
        raise DataError(
            f"{place}: {CONFIG_NAME} does not say how the tokenizer splits text, so it is not one "
            "of kobert-kit, or of an older one; build it again"
        ) from None
    if recipe.mode not in MODES:
        raise DataError(
            f"{place}: the mode '{recipe.mode}' is unknown to this kobert-kit, which knows "
            f"{' and '.join(MODES)}; a newer one may know it"
        )
    return recipe


def _digest(known: str) -> str:
    return hashlib.sha256(known.encode()).hexdigest() if known else ""


def read_recipe(folder: Path) -> Recipe:
    """The recipe of a tokenizer folder, or of a model folder with a tokenizer in it.

    Raises:
        DataError: there is none that can be read.
    """
    path = folder / CONFIG_NAME
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
        return recipe_from(config, folder, read_known(folder / KNOWN_NAME))
    except FileNotFoundError:
        raise DataError(f"{folder}: {CONFIG_NAME} is missing; build the vocabulary again") from None
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: cannot be read ({error}); build the vocabulary again") from None


def read_known(path: Path) -> str:
    """The known eojeols in the file of a tokenizer folder of mode "always"; none without a file.

    Raises:
        DataError: it cannot be read.
    """
    try:
        return path.read_bytes().decode()  # not read_text, which changes line ends
    except FileNotFoundError:
        return ""
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: cannot be read ({error}); build the vocabulary again") from None


def check_analyser(recipe: Recipe, place: Path | str) -> None:
    """Check that the analyser is the one that the tokenizer was made with.

    Raises:
        DataError: the version of kiwipiepy or of its model differs, or the eojeols that it knows.
    """
    if recipe.eojeols and recipe.eojeols != _digest(recipe.kiwi.known_eojeols):
        raise DataError(
            f"{place}: {KNOWN_NAME} is missing or was changed, and text would be split "
            "differently; copy it from where the tokenizer was built, or build it again"
        )
    for name, installed in kiwi_versions().items():
        made_with = recipe.versions.get(name, "an unknown version")
        if made_with != installed:
            raise DataError(
                f"{place}: made with {name} {made_with}, installed is {installed}, which may split "
                f"differently; run `pip install {name}=={made_with}` or build it again"
            )
