"""From settings to a job, and the lines that a page hands out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import shoal
from shoal.tables.formats.sql.address import SqlAddress, place_of
from shoal.web.settings import commands, download_job, make_job, sample_settings


@pytest.mark.parametrize("place", ["patients.csv", "postgresql://owner@host/clinic?table=ward.patients&key=id"])
def test_the_lines_in_python_make_the_same_job(place: str) -> None:
    settings = {
        **sample_settings(),
        "models": ["l-diversity:diagnosis:3"],
        "at_most": {"postcode": 2},
        "priorities": {"age": 2.0},
        "missing": ['it\'s "missing"\n', "\\"],
        "suppression_limit": 0.05,
        "effort": "high",
        "seed": 7,
    }
    table = place_of(place)
    job = make_job(settings, table, None)
    names: dict[str, Any] = {"shoal": shoal}
    lines, run = commands(job, table)["settings"].rsplit("\n", 1)
    exec(lines, names)
    assert names["job"] == download_job(job, table, True, Path())
    assert run == "result = shoal.run(job)"
    assert isinstance(job.input, SqlAddress if "://" in place else Path)


def test_a_cap_reaches_the_job_and_nothing_else_does() -> None:
    job = make_job({**sample_settings(), "at_most": {"age": 0}, "output": "/etc/passwd"}, Path("patients.csv"), None)
    assert job.at_most == {"age": 0}
    assert job.output is None
