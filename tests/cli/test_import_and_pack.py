"""`shoal import-arx` with a project as ARX writes it, and `shoal pack`."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from shoal import Job

DEFINITION = """<definition>
 <assigment><name>name</name><type>IDENTIFYING_ATTRIBUTE</type><datatype>String</datatype></assigment>
 <assigment><name>age</name><type>QUASI_IDENTIFYING_ATTRIBUTE</type><datatype>Integer</datatype></assigment>
 <assigment><name>job/title</name><type>QUASI_IDENTIFYING_ATTRIBUTE</type><datatype>String</datatype>
  <ref>hierarchies/job/title.csv</ref><min>0</min><max>All</max></assigment>
 <assigment><name>illness</name><type>SENSITIVE_ATTRIBUTE</type><datatype>String</datatype></assigment>
</definition>"""
CONFIG = """<config><relativeMaxOutliers>0.1</relativeMaxOutliers><metric>Loss</metric>
 <attributeWeights><attributeWeight><attribute>age</attribute><weight>2.0</weight></attributeWeight>
 <attributeWeight><attribute>job/title</attribute><weight>0.5</weight></attributeWeight></attributeWeights>
 <criteria><criterion>5-anonymity</criterion><criterion>distinct-2-diversity for attribute 'illness'</criterion>
 <criterion>(0.1,0.9)-presence</criterion></criteria></config>"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    rows = "\n".join(f"p{n},{20 + n % 30},{'abcd'[n % 4]},{'xyz'[n % 3]}" for n in range(120))
    with zipfile.ZipFile(tmp_path / "p.deid", "w") as archive:
        archive.writestr("project.xml", "<project><separator>,</separator></project>")
        archive.writestr("project.dat", b"\xac\xed\x00\x05 never looked at")
        archive.writestr("data/input.csv", f"name,age,job/title,illness\n{rows}\n")
        archive.writestr("input/definition.xml", DEFINITION)
        archive.writestr("input/config.xml", CONFIG)
        archive.writestr("input/hierarchies/job/title.csv", "a,low,*\nb,low,*\nc,high,*\nd,high,*\n")
    return tmp_path / "p.deid"


def test_a_project_of_arx(shoal, project: Path, tmp_path: Path) -> None:
    outcome = shoal("import-arx", project, "-o", "here")
    assert outcome.code == 0, outcome.err
    for what in ("(0.1,0.9)-presence", "lowest level of 'job/title'", "quality model 'Loss'"):
        assert what in outcome.err
    job = Job.load(tmp_path / "here" / "job.yaml")
    assert (job.quasi, job.sensitive, job.identifiers) == (("age", "job/title"), ("illness",), ("name",))
    assert job.models == ("k-anonymity:5", "distinct-l:illness:2")
    assert job.suppression_limit == 0.1
    assert job.priorities == {"age": 2.0, "job/title": 0.5}
    made = shoal("anonymize", "--job", "here/job.yaml", "--algorithm", "mondrian", "--json")
    assert made.code == 0, made.err
    assert all(check["passed"] for check in made.json["certificate"]["checks"])
    assert shoal("import-arx", project, "-o", "here").code == 2  # not over something that is there

    packed = shoal("pack", "here", "-o", "evidence.zip")
    assert packed.code == 0, packed.err
    with zipfile.ZipFile(tmp_path / "evidence.zip") as archive:
        names = set(archive.namelist())
        page = archive.read("EVIDENCE.md").decode()
    assert {"certificate.json", "job.yaml", "report.html", "SHA256SUMS", "EVIDENCE.md"} <= names
    assert "release.csv" not in names
    assert "no legal advice" in page
    for title in ("HIPAA", "policy 0070", "ISO/IEC 27559", "shoal verify release.csv --certificate certificate.json"):
        assert title in page
    assert "That is ABOVE it" in page  # k = 5, and the policy asks for 11
    assert "distinct-l:illness:2 holds" in page
    assert page.count("### ") == 23  # a section for every question
    first = (tmp_path / "evidence.zip").read_bytes()
    assert shoal("pack", "here", "-o", "evidence.zip").code == 2
    assert shoal("pack", "here", "-o", "evidence.zip", "--force").code == 0
    assert (tmp_path / "evidence.zip").read_bytes() == first
    (tmp_path / "here" / "release.csv").write_text("changed")
    assert shoal("pack", "here", "-o", "other.zip").code == 2


def test_something_else(shoal, tmp_path: Path) -> None:
    (tmp_path / "x.deid").write_bytes(b"SECRET")
    outcome = shoal("import-arx", "x.deid", "-o", "there")
    assert outcome.code == 2
    assert "SECRET" not in outcome.err
    with zipfile.ZipFile(tmp_path / "y.deid", "w") as archive:
        archive.writestr("data/input.csv", "a\n1\n")
        archive.writestr("input/definition.xml", "<!DOCTYPE x [<!ENTITY a 'b'>]><definition/>")
    assert shoal("import-arx", "y.deid", "-o", "there").code == 2
    assert shoal("import-arx", "none.deid", "-o", "there").code == 2
    assert not (tmp_path / "there").exists()
    assert shoal("pack", "nowhere").code == 2
    assert shoal("pack", ".").code == 2
