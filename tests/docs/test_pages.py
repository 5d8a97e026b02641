"""The documentation: the tutorial runs and says what a run says, links lead somewhere, generated pages are complete."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "docs").rglob("*.md"))


NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")


@pytest.fixture(scope="module")
def make_docs() -> ModuleType:
    return tool("make_docs")


def tool(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_tutorial_says_what_a_run_says(tmp_path: Path) -> None:
    """Word by word; numbers may differ by a fifth, so that a better search needs no new page (run_tutorial.py)."""
    page = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    said = tool("run_tutorial").executed(page, tmp_path)
    assert NUMBER.sub("N", said).splitlines() == NUMBER.sub("N", page).splitlines()
    for line, found in zip(page.splitlines(), said.splitlines(), strict=True):
        numbers = [[float(text.replace(",", "")) for text in NUMBER.findall(one)] for one in (line, found)]
        assert numbers[1] == pytest.approx(numbers[0], rel=0.2), (line, found)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT / "docs")))
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        if not target.startswith(("http:", "https:", "mailto:")):
            assert (page.parent / target).exists(), target


def test_the_reference_names_everything(make_docs: ModuleType) -> None:
    import shoal
    from shoal.cli.main import _FILES

    python, verbs, job = make_docs.python_page(), make_docs.command_line_page(), make_docs.job_page()
    assert all(f"## shoal.{name}\n" in python for name in shoal._HOMES)
    assert all(f"## shoal {verb}" in verbs for verb in _FILES)
    assert all(f"| `{field.alias or name}` |" in job for name, field in shoal.Job.model_fields.items())
    assert "`unknown-column`" in make_docs.errors_page()
    assert 'algorithm: str | Algorithm = "shoal"' in python.replace("'", '"')
    assert " at 0x" not in python  # the page is the same every time


def test_the_schema_accepts_what_a_job_is(make_docs: ModuleType) -> None:
    schema = make_docs.job_schema()
    assert schema["additionalProperties"] is False
    assert schema["properties"]["class"]
    assert "quasi" in schema["properties"]
    assert all(entry["description"] for entry in schema["properties"].values())


def test_the_page_about_certificates_names_every_field() -> None:
    import polars as pl

    import shoal

    frame = pl.DataFrame({"a": [1, 1, 2, 2], "b": ["x", "x", "y", "y"]})
    result = shoal.anonymize(frame, quasi=["a"], sensitive=["b"], k=2, algorithm="mondrian")
    page = (ROOT / "docs" / "reference" / "certificate.md").read_text(encoding="utf-8")
    assert [name for name in result.certificate if f"`{name}`" not in page] == []


def test_the_examples_of_the_architecture_page_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from shoal.tables.formats import files
    from shoal.verification import check

    for room, known in ((check, "_VERDICTS"), (files, "_WHOLE_FILES"), (files, "_FORMAT_OF_SUFFIX")):
        monkeypatch.setattr(room, known, dict(getattr(room, known)))
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, re.S)
    assert len(blocks) >= 4
    for block in blocks:
        module = ModuleType("example")
        monkeypatch.setitem(sys.modules, "example", module)  # dataclasses look for the module of their class
        exec(compile(block, "architecture.md", "exec"), module.__dict__)
