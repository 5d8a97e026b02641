"""An evidence pack: what a data protection file needs to hold about a release, as one archive.

Job, certificate, reports, hashes and versions, and a page that answers by numbers what HIPAA expert determination, the
European Medicines Agency's policy 0070 and ISO/IEC 27559 ask. The release itself is only named by its hash, and no
original is looked at. Same folder, same bytes.
"""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal.errors import InputError, Problem
from shoal.pipeline.certificate import load_certificate
from shoal.pipeline.evidence_answers import answers
from shoal.reports.story import tell_story
from shoal.tables.formats.atomic import atomic_output, check_output
from shoal.tables.formats.files import sha256_of_file

_LONG_AGO = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True)
class Evidence:
    """The files of a release that belong together."""

    certificate: Path
    release: Path
    others: tuple[Path, ...]  # job, reports, the public certificate
    content: Mapping[str, Any]  # of the certificate


def find_evidence(folder: Path) -> Evidence:
    """The one certificate of a folder, the release it speaks of (by its hash), job files and reports beside it."""
    if not folder.is_dir():
        raise InputError(Problem("no-such-folder", f"there is no folder '{folder}'"))
    files = sorted(path for path in folder.iterdir() if path.is_file())
    certificates = {path: content for path in files if path.suffix == ".json" and (content := _content_of(path))}
    of_holder = [path for path, content in certificates.items() if "input_keyed" not in content["hashes"]]
    if len(of_holder) != 1:
        message = f"'{folder}' holds {len(of_holder)} certificates, not one"
        raise InputError(Problem("no-certificate", message, hint="name a folder that one run has written"))
    (certificate,) = of_holder
    content = certificates[certificate]
    release = _release_of(content, [path for path in files if path not in certificates])
    texts = [path for path in files if path.suffix in (".yaml", ".yml", ".html")]
    public = [path for path in certificates if path != certificate]
    return Evidence(certificate, release, tuple(sorted([*texts, *public])), content)


def _release_of(certificate: Mapping[str, Any], files: list[Path]) -> Path:
    wanted = certificate["hashes"].get("release")
    for path in files:
        if sha256_of_file(path) == wanted:
            return path
    message = "no file of the folder is the release that the certificate speaks of (by its hash)"
    raise InputError(Problem("no-release", message, hint="was it changed? make the release anew"))


def _content_of(path: Path) -> Mapping[str, Any] | None:
    """What a certificate says; None for a file that is none."""
    try:
        return load_certificate(path)
    except InputError:
        return None


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
    lines = ["# Evidence about a release", "", "This page answers questions by numbers. It is no legal advice.", ""]
    for chapter in tell_story(evidence.content):
        lines += [f"## {chapter.title}", "", *(f"- {sentence}" for sentence in chapter.sentences), ""]
    lines += ["## Check it again", "", "```sh", "sha256sum -c SHA256SUMS"]
    lines += [f"shoal verify {evidence.release.name} --certificate {evidence.certificate.name}", "```", ""]
    for framework, answered in answers(evidence.content).items():
        lines += [f"## {framework}", ""]
        for question, answer in answered:
            lines += [f"### {question}", "", answer, ""]
    return "\n".join([*lines, *_made_with(evidence.content)])


def _made_with(certificate: Mapping[str, Any]) -> list[str]:
    versions = ", ".join(f"{name} {number}" for name, number in certificate.get("versions", {}).items())
    hashes = (f"- {name}: `{value}`" for name, value in certificate["hashes"].items())
    return ["## Made with", "", versions, "", *hashes, ""]
