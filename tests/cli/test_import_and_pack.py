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
  <ref>hierarchies/job/title.csv</ref><min>1</min><max>1</max></assigment>
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
    assert job.at_most == {"job/title": 1}
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


def test_types_and_models_in_the_words_of_arx(shoal, tmp_path: Path) -> None:
    """Dates and orders keep their form, NULL is missing, and models are read as the newest versions write them."""
    column = "<assigment><name>{}</name><type>{}</type><datatype>{}</datatype><format>{}</format></assigment>"
    quasi, sensitive = "QUASI_IDENTIFYING_ATTRIBUTE", "SENSITIVE_ATTRIBUTE"
    columns = [
        ("born", quasi, "Date/Time", "MM/dd/yyyy"),
        ("seen", quasi, "Date/Time", "dd.MM.yyyy"),
        ("odd", quasi, "Date/Time", "EEE, d MMM yy"),
        ("size", quasi, "Ordinal", "small\nmiddle\nlarge"),
        ("age", quasi, "Integer", "#"),
        ("ill", sensitive, "String", ""),
    ]
    models = [
        "4-anonymity",
        "enhanced-1.5-likeness for attribute 'ill'",
        "basic-2.0-likeness for attribute 'ill'",
        "shannon-entropy-1.2-diversity for attribute 'ill'",
        "0.9-closeness with equal ground-distance for attribute 'ill'",
        "grassberger-entropy-2.0-diversity for attribute 'ill'",
    ]
    ages = ["NULL" if n % 40 == 0 else 20 + n % 30 for n in range(120)]
    sizes = ["small", "middle", "large"]
    rows = [
        f'"{n % 12 + 1:02d}/15/19{50 + n % 40}";{n % 28 + 1:02d}.03.2020;"{n}";{sizes[n % 3]};{ages[n]};{"xyz"[n % 3]}'
        for n in range(120)
    ]
    with zipfile.ZipFile(tmp_path / "p.deid", "w") as archive:
        archive.writestr("project.xml", "<project><separator>;</separator></project>")
        archive.writestr("data/input.csv", "born;seen;odd;size;age;ill\n" + "\n".join(rows) + "\n")
        archive.writestr("data/input_subset.csv", "born;seen;odd;size;age;ill\n" + "\n".join(rows[:50]) + "\n")
        archive.writestr(
            "input/definition.xml", f"<definition>{''.join(column.format(*entry) for entry in columns)}</definition>"
        )
        criteria = "".join(f"<criterion>{model}</criterion>" for model in models)
        archive.writestr("input/config.xml", f"<config><criteria>{criteria}</criteria></config>")
    outcome = shoal("import-arx", "p.deid", "-o", "here")
    assert outcome.code == 0, outcome.err
    for what in ("the type 'Date/Time' of 'odd'", "grassberger-entropy", "research subset"):
        assert what in outcome.err
    job = Job.load(tmp_path / "here" / "job.yaml")
    assert job.date_formats == {"born": "%m/%d/%Y"}
    assert job.scales == {"seen": "date", "size": "ordered", "age": "integer"}
    assert job.orders == {"size": ("small", "middle", "large")}
    assert job.missing == ("NULL",)
    assert job.models == (
        "k-anonymity:4",
        "beta-likeness:ill:1.5:enhanced",
        "beta-likeness:ill:2",
        "entropy-l:ill:1.2",
        "t-closeness:ill:0.9",
    )
    made = shoal("anonymize", "--job", "here/job.yaml", "--algorithm", "mondrian", "--json")
    assert made.code == 0, made.err


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
