"""A ``tokenizer.json`` that nothing can load by mistake without the analyser.

transformers falls back, silently, to the generic fast tokenizer when it does not know a folder's
class, and would encode without the analyser. The library refuses a file of another format version
and quotes the version, so there stands what the user needs to know.
"""

from __future__ import annotations

import json
from pathlib import Path

from kobert_kit.records import atomic_file

VERSION = "1.0"
NEEDED = (
    "of kobert-kit: this tokenizer analyses morphemes; run `pip install kobert-kit`, "
    "then `import kobert_kit` before you load it"
)


def locked(text: str) -> str:
    """The text of a ``tokenizer.json`` as a folder of mode "always" holds it."""
    return _with_version(text, NEEDED)


def unlocked(text: str) -> str:
    """The text of a ``tokenizer.json`` as the library reads it."""
    return _with_version(text, VERSION)


def lock_file(path: Path) -> None:
    """Lock the ``tokenizer.json`` at ``path``."""
    text = path.read_text(encoding="utf-8")
    with atomic_file(path) as temporary:
        temporary.write_text(locked(text), encoding="utf-8")


def _with_version(text: str, version: str) -> str:
    values = json.loads(text)
    values["version"] = version
    return json.dumps(values, ensure_ascii=False, indent=2) + "\n"
