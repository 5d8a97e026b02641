"""Write what each engine declares that it can do into docs/scale.md.

python tools/support_table.py        a test says when it has to be run
"""

from __future__ import annotations

from pathlib import Path

from shoal.engines.registry import support_table

PAGE = Path(__file__).resolve().parent.parent / "docs" / "scale.md"
_FIRST = "| | `local` |"


def main() -> None:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    begins = next(number for number, line in enumerate(lines) if line.startswith(_FIRST))
    ends = next(number for number in range(begins, len(lines)) if not lines[number].startswith("|"))
    PAGE.write_text("\n".join([*lines[:begins], support_table(), *lines[ends:]]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
