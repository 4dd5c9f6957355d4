"""A task of one's own, as one TOML file describes it by its files and columns."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from kobert_kit.tasks.formats.files import SplitFiles
from kobert_kit.tasks.formats.parse import short
from kobert_kit.tasks.own.toml_table import Table, read_toml

FORMATS = ("tsv", "csv", "json", "jsonl", "words")
COMMON = (
    "name", "kind", "headline", "files", "format", "header", "comment", "columns", "hub",
)  # fmt: skip
NAME = re.compile(r"\w[\w.-]*")  # also the name of a folder


@dataclass(frozen=True)
class Kind:
    """What a kind of task is told: the columns that it needs and may have, keys of its own, the
    metrics, the first of which is the headline unless another is, and texts of one column."""

    needs: tuple[str, ...]
    may: tuple[str, ...]
    keys: tuple[str, ...]
    metrics: tuple[str, ...]
    single: tuple[str, ...] = ()


_OF_LABELS = ("accuracy", "macro_f1")
KINDS = {
    "classification": Kind(("text", "label"), ("guid",), ("labels",), _OF_LABELS),
    "pair": Kind(("text", "text_b", "label"), ("guid",), ("labels",), _OF_LABELS),
    "regression": Kind(
        ("text", "label"), ("text_b", "guid"), ("lowest", "highest"), ("pearson", "spearman")
    ),
    "tagging": Kind(
        ("text", "label"),
        ("guid",),
        ("labels", "unit", "tags", "outside"),
        ("entity_f1", "entity_macro_f1"),
        single=("text",),
    ),
    "choice": Kind(("text", "choices", "label"), ("guid",), ("labels",), _OF_LABELS),
    "span": Kind((), (), (), ("exact_match", "char_f1")),
}


@dataclass(frozen=True)
class Columns:
    """Which columns hold what: names, paths with dots in JSON, or "1", "2", ... where the files
    have no header. Texts of several columns are joined by a space."""

    text: tuple[str, ...] = ()
    text_b: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    label: str = ""
    guid: str = ""

    def names(self) -> dict[str, str]:
        """Every column with the key that names it."""
        found = {name: key for key in ("text", "text_b", "choices") for name in getattr(self, key)}
        return found | {getattr(self, key): key for key in ("label", "guid") if getattr(self, key)}


@dataclass(frozen=True)
class Layout:
    """How files are read: ``format`` (see `kobert_kit.tasks.own.rows`), whether the first line
    names the columns, and with what a line of "words" begins that is a comment ("" for none)."""

    format: str = "tsv"
    header: bool = True
    comment: str = ""


@dataclass(frozen=True)
class Hub:
    """A data set of the Hugging Face hub, with its own names of the columns."""

    path: str
    config: str
    columns: Columns


@dataclass(frozen=True)
class Description:
    """What the file says. ``labels`` maps what stands in the data to the label's name.

    For tagging, ``labels`` are types of entities, ``unit`` is what has a tag ("word" or
    "character"), ``tags`` is how a tag is spelled, with {place} (B or I) and {type}.
    """

    path: Path
    name: str
    kind: str
    headline: str
    files: tuple[SplitFiles, ...]
    layout: Layout = Layout()
    columns: Columns = Columns()
    labels: dict[str, str] = field(default_factory=dict)
    lowest: float = -math.inf
    highest: float = math.inf
    unit: str = "word"
    tags: str = "{place}-{type}"
    outside: str = "O"
    hub: Hub | None = None

    @cached_property
    def label_names(self) -> tuple[str, ...]:
        """Each label once, in the order of the file."""
        return tuple(dict.fromkeys(self.labels.values()))

    @cached_property
    def names_of_labels(self) -> dict[str, str]:
        """The names of what stands in the data; a name may stand there itself."""
        return {name: name for name in self.label_names} | self.labels

    @cached_property
    def names_of_tags(self) -> dict[str, str]:
        """B-TYPE, I-TYPE or O of each tag, as it is spelled in the data."""
        spelled = {
            self.tags.replace("{place}", place).replace("{type}", raw): f"{place}-{name}"
            for raw, name in self.names_of_labels.items()
            for place in "BI"
        }
        return spelled | {self.outside: "O"}


def read_description(path: Path) -> Description:
    """The task that the TOML file ``path`` describes.

    Raises:
        UsageError: there is no such file.
        DataError: it is no TOML, a key is missing or unknown, or its value is not allowed; names
            the key and what is allowed.
    """
    table = read_toml(path)
    table.needed(("name", "kind", "files"), "every task")
    kind_name = table.one_of("kind", tuple(KINDS), "")
    kind, what = KINDS[kind_name], f"a {kind_name} task"
    if not NAME.fullmatch(name := table.text("name", "")):
        raise table.error("name", f"is {short(name)}; letters, digits, '-', '_' and '.' only")
    headline = table.one_of("headline", kind.metrics, kind.metrics[0])
    files = _files(table)
    if not kind.needs:  # the layout of the files says all
        table.only(("name", "kind", "headline", "files"), what)
        return Description(path, name, kind_name, headline, files)
    table.only((*COMMON, *kind.keys), what)
    table.needed(("columns", *(["labels"] if "labels" in kind.keys else [])), what)
    layout = _layout(table, kind_name)
    columns = _columns(table.table("columns"), kind, what, layout)
    if not columns.guid:
        _check_stems(table, files)
    hub = _hub(table, kind, what)
    own = _of_tagging(table) if kind_name == "tagging" else {}
    own |= _of_regression(table) if kind_name == "regression" else {"labels": _labels(table)}
    task = Description(path, name, kind_name, headline, files, layout, columns, hub=hub, **own)
    _check_choices(table, task)
    return task


def _of_regression(table: Table) -> dict[str, Any]:
    lowest, highest = table.number("lowest", -math.inf), table.number("highest", math.inf)
    if not lowest < highest:
        raise table.error("highest", f"is {highest:g}, not above 'lowest', {lowest:g}")
    return {"lowest": lowest, "highest": highest}


def _of_tagging(table: Table) -> dict[str, Any]:
    tags = table.text("tags", "{place}-{type}")
    if tags.count("{place}") != 1 or tags.count("{type}") != 1:
        raise table.error("tags", f"is {short(tags)}; it needs {{place}} and {{type}}, once each")
    return {
        "tags": tags,
        "unit": table.one_of("unit", ("word", "character"), "word"),
        "outside": table.text("outside", "O"),
    }


def _files(table: Table) -> tuple[SplitFiles, ...]:
    """A name with {split}, or a table with train and dev, or a list of either: the first that is
    there is read."""
    value = table.values["files"]
    found = []
    for each in value if isinstance(value, list) else [value]:
        if isinstance(each, str) and "{split}" in each:
            found.append(SplitFiles(*((each.replace("{split}", s),) for s in ("train", "dev"))))
        elif isinstance(each, dict):
            splits = Table(table.path, each, "files")
            splits.only(("train", "dev"), "the table of files")
            splits.needed(("train", "dev"), "every task")
            found.append(SplitFiles(splits.texts("train"), splits.texts("dev")))
        else:
            raise table.error(
                "files", f"is {short(each)}; a name with {{split}}, or a table with train and dev"
            )
    if not found:
        raise table.error("files", "is empty")
    return tuple(found)


def _check_stems(table: Table, files: tuple[SplitFiles, ...]) -> None:
    """Rows without a guid are known by their file's name."""
    for names in [each for layout in files for each in (layout.train, layout.dev)]:
        stems = [Path(name).stem for name in names]
        if twice := next((stem for stem in stems if stems.count(stem) > 1), None):
            raise table.error(
                "files", f"names {twice} twice, by which rows are told apart; name 'columns.guid'"
            )


def _layout(table: Table, kind: str) -> Layout:
    formats = FORMATS if kind == "tagging" else FORMATS[:-1]
    format = table.one_of("format", formats, "tsv")
    header = table.flag("header", format != "words")
    if header and format == "words":
        raise table.error("header", "is true, but files of the format 'words' have no header")
    if not header and format in ("json", "jsonl"):
        raise table.error("header", f"is false, but fields of {format} have names")
    comment = table.text("comment", "")
    if comment and format != "words":
        raise table.error("comment", "belongs to the format 'words' alone")
    return Layout(format, header, comment)


def _columns(table: Table, kind: Kind, what: str, layout: Layout) -> Columns:
    table.only((*kind.needs, *kind.may), what)
    table.needed(kind.needs, what)
    if not layout.header:
        table = Table(table.path, _as_names(table), table.name)
    found = {key: table.texts(key) for key in table.values}
    for key in ("label", "guid", *kind.single):
        if len(found.get(key, ())) > 1:
            raise table.error(key, "names several columns; one holds it")
    if len(found.get("choices", ("", ""))) < 2:
        raise table.error("choices", "names one column; expected a list of two or more")
    label, guid = (found.pop(key, ("",))[0] for key in ("label", "guid"))
    return Columns(label=label, guid=guid, **found)


def _as_names(table: Table) -> dict[str, Any]:
    """Columns by their numbers, which begin at 1, as text."""

    def name(key: str, value: Any) -> Any:
        if isinstance(value, list):
            return [name(key, each) for each in value]
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise table.error(
                key, f"is {short(value)}; without a header columns are numbers: 1, 2, ..."
            )
        return str(value)

    return {key: name(key, value) for key, value in table.values.items()}


def _labels(table: Table) -> dict[str, str]:
    """A list of names, or a table from what stands in the data to names."""
    value = table.values["labels"]
    given = dict(zip(value, value, strict=True)) if _is_list_of_texts(value) else value
    if isinstance(value, list) and len(given) < len(value):
        raise table.error("labels", "names a label twice")
    if not isinstance(given, dict) or not all(isinstance(each, str) for each in given.values()):
        raise table.error(
            "labels",
            f"is {short(value)}; a list of names in quotes, or a table from what stands in the "
            "data to names",
        )
    if len(set(given.values())) < (1 if table.values["kind"] == "tagging" else 2):
        raise table.error("labels", "needs at least two labels")
    return given


def _is_list_of_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _hub(table: Table, kind: Kind, what: str) -> Hub | None:
    if "hub" not in table:
        return None
    hub = table.table("hub")
    hub.only(("path", "config", "columns"), "a data set of the hub")
    hub.needed(("path", "columns"), "a data set of the hub")
    columns = _columns(hub.table("columns"), kind, what, Layout("json"))
    return Hub(hub.text("path", ""), hub.text("config", "default"), columns)


def _check_choices(table: Table, task: Description) -> None:
    for columns in [task.columns, *([task.hub.columns] if task.hub else [])]:
        if columns.choices and len(columns.choices) != len(task.label_names):
            raise table.error(
                "labels",
                f"names {len(task.label_names)} choices, 'columns.choices' {len(columns.choices)}; "
                "the first label is the first choice, and so on",
            )
