"""The named filters, the presets that combine them, and what a preset and options come to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from kobert_kit.corpus.stage.checks import CHECKS, Check
from kobert_kit.corpus.stage.edits import EDITS, WITHOUT_VALUE, Edit, whole_number
from kobert_kit.errors import UsageError

Settings = Mapping[str, str]  # name of a filter -> its setting, empty where it has none

BOILERPLATE, DUPLICATE_LINES = "boilerplate", "duplicate-lines"
SCOPES = ("document", "corpus")
LINE_FILTERS = (BOILERPLATE, DUPLICATE_LINES)
NAMES = (*EDITS, *LINE_FILTERS, *CHECKS)

_ALWAYS = {"entities": "", "nfc": "", "control": "", "spaces": ""}
PRESETS: dict[str, dict[str, str]] = {
    "news": _ALWAYS
    | {"urls": "drop", "emails": "drop", "repeats": "3"}
    | {"boilerplate": "50", "duplicate-lines": "document", "hangul": "0.5", "length": "100"},
    "wiki": _ALWAYS
    | {"urls": "drop", "boilerplate": "50", "duplicate-lines": "document"}
    | {"hangul": "0.3", "length": "50"},
    "comments": _ALWAYS
    | {"urls": "mask", "emails": "mask", "repeats": "3"}
    | {"duplicate-lines": "document", "hangul": "0.3", "length": "5"},
    "none": {},
}


@dataclass(frozen=True)
class LineRules:
    """A line in at least ``boilerplate`` documents goes (0: none does), and one that repeats
    within ``repeats``: the ``document``, the ``corpus``, or nothing (empty)."""

    boilerplate: int = 0
    repeats: str = ""

    def __bool__(self) -> bool:
        return bool(self.boilerplate or self.repeats)


@dataclass(frozen=True)
class Filters:
    """The filters of one source, made ready."""

    edits: dict[str, Edit]
    lines: LineRules
    checks: dict[str, Check]

    def mend(self, text: str) -> str:
        """``text`` after all edits."""
        for edit in self.edits.values():
            text = edit(text)
        return text


def choose_filters(preset: str, changes: Iterable[str], without: Iterable[str]) -> dict[str, str]:
    """A preset's settings with ``changes`` (``NAME`` or ``NAME=VALUE``), less those ``without``.

    Raises:
        UsageError: a name that is no preset or filter, or a value that its filter cannot have.
    """
    if preset not in PRESETS:
        raise UsageError(f"--preset {preset}: not one of {', '.join(PRESETS)}")
    chosen = dict(PRESETS[preset])
    for change in changes:
        name, _, value = change.partition("=")
        if value and name in WITHOUT_VALUE:
            raise UsageError(f"--filter {change}: {name} has no setting; write --filter {name}")
        chosen[_known("--filter", name)] = value
    for name in without:
        chosen.pop(_known("--without", name), None)
    settings = {name: chosen[name] for name in NAMES if name in chosen}
    build_filters(settings)
    return settings


def build_filters(settings: Settings) -> Filters:
    """Filters by their settings, in the order in which they run."""

    def made(table: Mapping[str, Callable[[str], Any]]) -> dict[str, Any]:
        return {name: make(settings[name]) for name, make in table.items() if name in settings}

    scope = settings.get(DUPLICATE_LINES, "")
    if DUPLICATE_LINES in settings and scope not in SCOPES:
        raise UsageError(f"--filter {DUPLICATE_LINES}={scope}: not {' or '.join(SCOPES)}")
    least = settings.get(BOILERPLATE)
    frequent = whole_number(BOILERPLATE, least, least=2) if least is not None else 0
    return Filters(made(EDITS), LineRules(frequent, scope), made(CHECKS))


def _known(option: str, name: str) -> str:
    if name not in NAMES:
        raise UsageError(f"{option} {name}: not one of {', '.join(NAMES)}")
    return name


@dataclass
class Tally:
    """What one filter did: documents it changed or dropped, characters it took away, examples."""

    documents: int = 0
    characters: int = 0
    lines: int = 0
    examples: list[str] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        """Join the account of a later part of the corpus."""
        self.documents += other.documents
        self.characters += other.characters
        self.lines += other.lines
        self.examples += other.examples[: EXAMPLES - len(self.examples)]


EXAMPLES = 5
_AROUND = 20


def describe_change(before: str, after: str, hide: Edit | None = None) -> str:
    """The first place where two texts differ, with a few characters around it.

    Of what ``hide`` masks nothing is shown; where all the difference is in that, the text after.
    """
    shorter = min(len(before), len(after))
    start = next((i for i in range(shorter) if before[i] != after[i]), shorter)
    if hide:
        start = len(hide(before[:start]))
        before, after = hide(before), hide(after)
    first = max(0, start - _AROUND)
    shown = (text[first : start + _AROUND] for text in (before, after))
    return " -> ".join(map(repr, dict.fromkeys(shown)))
