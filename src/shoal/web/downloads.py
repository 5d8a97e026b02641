"""What a finished run hands out: release, certificate, reports, job file, and the lines that repeat it."""

from __future__ import annotations

import tempfile
from pathlib import Path

from starlette.responses import FileResponse, JSONResponse, Response

from shoal.job.job import Job
from shoal.web.settings import CERTIFICATE, PROOF, PUBLIC_CERTIFICATE, beside_job, commands, download_job
from shoal.web.workspace import ELSEWHERE, NotThereError, Project

_FILES = {
    "release": "release.*",
    "certificate": CERTIFICATE,
    "public-certificate": PUBLIC_CERTIFICATE,
    "proof": PROOF,
    "report": "report.html",
    "public-report": "public-report.html",
}
# A report draws its charts with a script of its own. In a sandbox it has no origin, so it reaches nothing of ours.
_REPORT_POLICY = (
    "sandbox allow-scripts allow-downloads; default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; "
    "style-src 'unsafe-inline'; img-src data: blob:; frame-ancestors 'none'"
)


def download(project: Project, folder: Path, name: str) -> Response:
    if name in ("job", "commands"):
        return _job(project, folder, name)
    beside = beside_job(Job.load(folder / "job.yaml")).get(name)
    if beside is not None and beside.is_file():
        return FileResponse(beside, filename=name, content_disposition_type="attachment")
    opened = name.removesuffix("-page")
    found = next(iter(folder.glob(_FILES[opened])), None) if opened in _FILES else None
    if found is None:
        raise NotThereError
    if name != opened:  # looked at in the browser
        if found.suffix != ".html":
            raise NotThereError
        return FileResponse(found, media_type="text/html", headers={"content-security-policy": _REPORT_POLICY})
    return FileResponse(found, filename=found.name, content_disposition_type="attachment")


def _job(project: Project, folder: Path, name: str) -> Response:
    """The job file as it is to be used outside of the workbench, or the commands that go with it."""
    table = project.table
    job = Job.load(folder / "job.yaml")
    if name == "commands":
        files = [name for name, pattern in _FILES.items() if next(folder.glob(pattern), None) is not None]
        return JSONResponse({**commands(job, table), "files": files})
    with tempfile.TemporaryDirectory() as place:
        file = Path(place) / "job.yaml"
        download_job(job, table, project.read()["source"]["kind"] in ELSEWHERE, Path(place)).save(file)
        text = file.read_text(encoding="utf-8")
    headers = {"content-disposition": 'attachment; filename="job.yaml"'}
    return Response(text, media_type="application/yaml", headers=headers)
