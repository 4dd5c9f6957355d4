"""Imports run one way through the rooms, as the README says."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "kobert_kit"


def imported(path: Path) -> set[str]:
    """The rooms that a module imports from, at its top or inside a function."""
    rooms = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: a relative import"
            names = [node.module or ""]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        parts = [name.split(".") for name in names]
        rooms |= {part[1] for part in parts if part[0] == "kobert_kit" and len(part) > 1}
    return rooms


def test_imports_run_one_way() -> None:
    told = (ROOT / "README.md").read_text(encoding="utf-8").partition("imports follow it:")[2]
    rooms = re.findall(r"`(\w+)`", told.partition(".\n")[0])
    folders = [path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()]
    assert sorted(rooms) == sorted(folders), "every room is in the README"
    for number, room in enumerate(rooms):
        later = set(rooms[number + 1 :])
        for path in (PACKAGE / room).rglob("*.py"):
            assert not imported(path) & later, path
    shared = [path for path in PACKAGE.glob("*.py") if not path.name.startswith("__")]
    assert shared and not any(imported(path) & set(rooms) for path in shared), "below all rooms"
