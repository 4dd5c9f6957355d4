"""The values that the slots of a dialogue state have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import InitVar, dataclass, field
from pathlib import Path

from kobert_kit.corpus.reading import encodable
from kobert_kit.errors import DataError
from kobert_kit.records import fingerprint_values
from kobert_kit.tasks.formats.nearest import Spellings
from kobert_kit.tasks.formats.official import read_json

FILE_NAME = "ontology.json"
NOT_WRITTEN = ("none", "dontcare", "yes", "no")  # values that are no words of the dialogue


@dataclass(unsafe_hash=True)
class Ontology:
    """Values of each slot, "domain-slot".

    Every dialogue has its ontology, but for `dataclasses.astuple` that is only the digest.
    """

    by_slot: InitVar[Mapping[str, Sequence[str]]]
    digest: str = field(init=False)

    def __post_init__(self, by_slot: Mapping[str, Sequence[str]]) -> None:
        self._by_slot = {slot: tuple(values) for slot, values in by_slot.items()}
        self.digest = fingerprint_values(self._by_slot)
        self._spellings: dict[str, Spellings] = {}

    def __contains__(self, slot: str) -> bool:
        return slot in self._by_slot

    def values(self, slot: str) -> tuple[str, ...]:
        """All values of ``slot``, in the order of the file."""
        return self._by_slot[slot]

    def closed(self, slot: str) -> bool:
        """Whether ``slot`` is only ever none, dontcare, yes or no."""
        return all(value in NOT_WRITTEN for value in self._by_slot[slot])

    def snap(self, slot: str, value: str) -> str:
        """The value of ``slot`` that is spelled most like ``value``; see `Spellings.nearest`.

        What is not written, such as yes, stays as it is.
        """
        if value in NOT_WRITTEN:
            return value
        if slot not in self._spellings:
            words = self._by_slot.get(slot, ())
            self._spellings[slot] = Spellings([word for word in words if word not in NOT_WRITTEN])
        return self._spellings[slot].nearest(value)


def read_ontology(path: Path) -> Ontology:
    """The ontology in a file of a release.

    Raises:
        DataError: it cannot be read, or is no object with a list of values for each slot.
    """
    found = read_json(path)
    if not isinstance(found, dict) or not found:
        raise DataError(f"{path}: expected an object with the values of each slot")
    for slot, values in found.items():
        if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
            raise DataError(f"{path}: the values of '{slot}' are no list of strings")
    return Ontology({slot: [encodable(each) for each in values] for slot, values in found.items()})
