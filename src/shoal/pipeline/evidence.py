"""An evidence pack: what a data protection file needs to hold about a release, as one archive.

Job, certificate, reports, hashes and versions, and a page that answers by numbers what HIPAA expert determination, the
European Medicines Agency's policy 0070 and ISO/IEC 27559 ask. The release itself is only named by its hash, and no
original is looked at. Same folder, same bytes.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal.errors import InputError, Problem
from shoal.pipeline.certificate import load_certificate
from shoal.reports.story import remaining_risks, tell_story
from shoal.tables.formats.atomic import atomic_output, check_output
from shoal.tables.formats.files import sha256_of_file

_LONG_AGO = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True)
class Evidence:
    """The files of a release that belong together."""

    certificate: Path
    release: Path
    others: tuple[Path, ...]  # job and reports
    content: Mapping[str, Any]  # of the certificate


def find_evidence(folder: Path) -> Evidence:
    """The one certificate of a folder, the release it speaks of (by its hash), job files and reports beside it."""
    if not folder.is_dir():
        raise InputError(Problem("no-such-folder", f"there is no folder '{folder}'"))
    files = sorted(path for path in folder.iterdir() if path.is_file())
    certificates = [path for path in files if path.suffix == ".json" and _is_certificate(path)]
    if len(certificates) != 1:
        message = f"'{folder}' holds {len(certificates)} certificates, not one"
        raise InputError(Problem("no-certificate", message, hint="name a folder that one run has written"))
    (certificate,) = certificates
    content = load_certificate(certificate)
    release = _release_of(content, [path for path in files if path != certificate])
    others = tuple(path for path in files if path.suffix in (".yaml", ".yml", ".html"))
    return Evidence(certificate, release, others, content)


def _release_of(certificate: Mapping[str, Any], files: list[Path]) -> Path:
    wanted = certificate["hashes"].get("release")
    for path in files:
        if sha256_of_file(path) == wanted:
            return path
    message = "no file of the folder is the release that the certificate speaks of (by its hash)"
    raise InputError(Problem("no-release", message, hint="was it changed? make the release anew"))


def _is_certificate(path: Path) -> bool:
    try:
        load_certificate(path)
    except InputError:
        return False
    return True


def write_evidence(evidence: Evidence, output: Path) -> list[str]:
    """Write the archive, for its owner alone like the reports in it; returns the names in it."""
    named = {path.name: path.read_bytes() for path in (evidence.certificate, *evidence.others)}
    hashes = "".join(
        f"{sha256_of_file(path)}  {path.name}\n" for path in (evidence.release, evidence.certificate, *evidence.others)
    )
    named["SHA256SUMS"] = hashes.encode()
    named["EVIDENCE.md"] = evidence_page(evidence).encode()
    parts = (evidence.release, evidence.certificate, *evidence.others)
    problems = check_output(output, parts)
    if problems:
        raise InputError(problems)
    with atomic_output(output, private=True) as waiting, zipfile.ZipFile(waiting, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(named):
            archive.writestr(zipfile.ZipInfo(name, _LONG_AGO), named[name], zipfile.ZIP_DEFLATED)
    return sorted(named)


def evidence_page(evidence: Evidence) -> str:
    """The page of answers, in Markdown."""
    certificate = evidence.content
    lines = ["# Evidence about a release", "", "This page answers questions by numbers. It is no legal advice.", ""]
    for chapter in tell_story(certificate):
        lines += _chapter(chapter.title, chapter.sentences)
    lines += ["## Check it again", "", "```sh", "sha256sum -c SHA256SUMS"]
    lines += [f"shoal verify {evidence.release.name} --certificate {evidence.certificate.name}", "```", ""]
    for title, answers in _questions(certificate).items():
        lines += _chapter(title, [f"**{question}** {answer}" for question, answer in answers])
    versions = ", ".join(f"{name} {number}" for name, number in certificate.get("versions", {}).items())
    hashes = [f"{name}: `{value}`" for name, value in certificate["hashes"].items()]
    return "\n".join([*lines, "## Made with", "", versions, "", *(f"- {one}" for one in hashes), ""])


def _chapter(title: str, points: Iterable[str]) -> list[str]:
    return [f"## {title}", "", *(f"- {point}" for point in points), ""]


def _questions(certificate: Mapping[str, Any]) -> dict[str, list[tuple[str, str]]]:
    """What three frameworks ask, each with the answer that the certificate has, or that it has none."""
    risk, threshold = _largest_risk(certificate.get("smallest_class"))
    quasi = ", ".join(certificate.get("quasi", ()))
    dropped = ", ".join(certificate.get("job", {}).get("identifiers", ())) or "none were named"
    passed = "yes" if certificate.get("passed") else "NO"
    remains = " ".join(remaining_risks(certificate))
    yours = "not answered by numbers: to be written by whoever publishes"
    return {
        "HIPAA, expert determination (45 CFR 164.514(b)(1))": [
            ("Which identifiers were removed?", dropped),
            ("Which variables can be known to a recipient?", quasi),
            ("How large is the risk that a recipient identifies a person?", risk),
            ("How was it determined?", f"on the released values; every requirement holds: {passed}"),
            ("Who is the anticipated recipient?", yours),
        ],
        "European Medicines Agency, policy 0070": [
            ("Is the risk below the threshold of 0.09?", f"{risk}, which is {threshold} it"),
            ("Which quasi-identifiers were considered?", quasi),
            ("What does the anonymization cost?", _cost(certificate)),
            ("Can somebody be singled out, linked, inferred?", remains),
        ],
        "ISO/IEC 27559": [
            ("Context assessment", yours),
            ("Data assessment", f"direct identifiers: {dropped}; indirect identifiers: {quasi}"),
            ("Identifiability assessment and mitigation", f"{risk}; requirements hold: {passed}"),
            ("What remains", remains),
            ("Governance", yours),
        ],
    }


def _largest_risk(smallest: int | None) -> tuple[str, str]:
    """The largest chance of a person to be recognised, and whether it is below the agency's threshold."""
    if not smallest:
        return "not told by the certificate", "above"
    return f"at most 1/{smallest} = {1 / smallest:.3f}", "below" if 1 / smallest <= 0.09 + 1e-9 else "above"


def _cost(certificate: Mapping[str, Any]) -> str:
    loss = certificate.get("loss", {}).get("gcp")
    if not isinstance(loss, int | float):
        return "not told"
    return f"{loss:.1%} of the detail of the generalized columns (GCP)"
