"""The documentation as a site that needs no network: `make docs` writes it to `site/`.

    python tools/make_docs.py [--only-pages]

The pages of `docs/` are copied to `build/docs`, the tutorial with the outputs of a run made now. Pages that come from
the code are written beside them (command line from the parser, job file from its schema, Python from docstrings,
reasons of errors from the source), and MkDocs makes the site with its search.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
from reference_pages import command_line_page, errors_page, job_page, job_schema, python_page  # neighbours
from run_tutorial import executed

ROOT = Path(__file__).resolve().parent.parent
PAGES = ROOT / "build" / "docs"
NAVIGATION: list[tuple[str, list[str]]] = [
    ("Begin", ["index.md", "start.md", "tutorial.md"]),
    (
        "How to",
        ["howto/*.md", "several_releases.md", "cluster_analysis.md", "databases.md", "scale.md", "workbench.md"],
    ),
    ("Coming from elsewhere", ["from_arx.md", "from_sdcmicro.md"]),
    ("Concepts", ["concepts.md", "models.md", "metrics.md", "recodings.md", "evaluation.md", "flagship.md"]),
    ("Limits", ["lower_bound.md", "limitations.md", "reliability.md"]),
    ("Reference", ["reference/*.md"]),
    ("Behind it", ["architecture.md", "scaling.md", "papers.md", "papers/*.md", "changelog.md"]),
]


def main() -> int:
    shutil.rmtree(PAGES, ignore_errors=True)
    shutil.copytree(ROOT / "docs", PAGES)
    shutil.copy(ROOT / "CHANGELOG.md", PAGES / "changelog.md")
    if "--only-pages" not in sys.argv:
        with tempfile.TemporaryDirectory() as folder:
            tutorial = executed((PAGES / "tutorial.md").read_text(encoding="utf-8"), Path(folder))
        (PAGES / "tutorial.md").write_text(tutorial, encoding="utf-8")
    (PAGES / "look.css").write_text(LOOK, encoding="utf-8")
    reference = PAGES / "reference"
    reference.mkdir(exist_ok=True)
    (reference / "python.md").write_text(python_page(), encoding="utf-8")
    (reference / "command_line.md").write_text(command_line_page(), encoding="utf-8")
    (reference / "job_file.md").write_text(job_page(), encoding="utf-8")
    (reference / "job.schema.json").write_text(json.dumps(job_schema(), indent=2) + "\n", encoding="utf-8")
    (reference / "errors.md").write_text(errors_page(), encoding="utf-8")
    configuration = ROOT / "build" / "mkdocs.json"
    configuration.write_text(json.dumps(site_settings(), indent=2), encoding="utf-8")
    if "--only-pages" in sys.argv:
        return 0
    quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--clean", "-f", str(configuration)]
    code = subprocess.run(command, env=quiet, check=False).returncode
    if code == 0:
        without_network(ROOT / "site")
        print(f"written: {ROOT / 'site' / 'index.html'}")
    return code


# The colours of the reports; headings that can be read; long lines of code go on below, so that all words are in sight.
LOOK = """
:root { --md-primary-fg-color: #17457c; --md-primary-fg-color--dark: #0d2c52; --md-accent-fg-color: #2563a8;
  --md-typeset-a-color: #2563a8 }
.md-typeset h1 { color: var(--md-default-fg-color); font-weight: 650; letter-spacing: -.01em }
.md-typeset h2, .md-typeset h3 { font-weight: 620; letter-spacing: -.005em }
.md-typeset pre > code { white-space: pre-wrap }
.md-typeset table:not([class]) th { min-width: 4rem }
.md-typeset table:not([class]) td:first-child code { white-space: nowrap }
.md-typeset img { border-radius: 6px }
"""

# Search runs in a worker. A page that is opened from the disk may start none, so a hidden frame takes its place; the
# theme would fetch a script for that from elsewhere.
WORKER = """
if (location.protocol === "file:") window.Worker = class extends EventTarget {
  constructor(url) {
    super();
    const frame = document.createElement("iframe");
    frame.hidden = true;
    document.body.appendChild(frame);
    this.ready = new Promise(done => { frame.onload = () => done(frame.contentWindow); });
    window.addEventListener("message", event => {
      if (event.source !== frame.contentWindow) return;
      const message = new MessageEvent("message", {data: event.data});
      if (this.onmessage) this.onmessage(message);
      this.dispatchEvent(message);
    });
    frame.srcdoc = `<script>
      window.postMessage = (data) => parent.postMessage(data, "*");
      window.importScripts = (...urls) => urls.reduce((before, url) => before.then(() => new Promise(done => {
        const script = document.createElement("script");
        script.src = new URL(url, "${url}");
        script.onload = script.onerror = done;
        document.body.appendChild(script);
      })), Promise.resolve());
    <\\/script><body><script src="${url}"><\\/script></body>`;
  }
  postMessage(data) { this.ready.then(inside => inside.dispatchEvent(new MessageEvent("message", {data}))); }
};
"""
FETCHED = "https://unpkg.com/iframe-worker/shim"


def without_network(site: Path) -> None:
    """Replace what the theme would fetch by a file of ours, relative to each page."""
    (site / "assets" / "worker.js").write_text(WORKER, encoding="utf-8")
    for page in site.rglob("*.html"):
        depth = len(page.relative_to(site).parts) - 1
        text = page.read_text(encoding="utf-8")
        page.write_text(text.replace(FETCHED, "../" * depth + "assets/worker.js"), encoding="utf-8")


def site_settings() -> dict[str, Any]:
    """What MkDocs is told (JSON is YAML): no font, script or search from elsewhere."""
    return {
        "site_name": "Shoal",
        "site_description": "Publish tables about people so that nobody in them can be singled out.",
        "docs_dir": str(PAGES),
        "site_dir": str(ROOT / "site"),
        "use_directory_urls": False,  # so that links work from the disk
        "theme": {
            "name": "material",
            "font": False,
            "features": [
                "navigation.sections",
                "navigation.top",
                "content.code.copy",
                "toc.follow",
                "search.highlight",
            ],
            "palette": [{"scheme": "default", "primary": "custom", "accent": "custom"}],
            "icon": {"logo": "material/fish"},
        },
        "extra_css": ["look.css"],
        "plugins": ["search", "offline"],
        "markdown_extensions": ["tables", "admonition", "toc", "pymdownx.superfences", "pymdownx.highlight"],
        "nav": list(navigation()),
    }


def navigation() -> Iterator[dict[str, list[Any]]]:
    """The sections; pages that no section names come last, so that none is lost."""
    named: list[str] = []
    for title, patterns in NAVIGATION:
        found = [str(page.relative_to(PAGES)) for pattern in patterns for page in sorted(PAGES.glob(pattern))]
        named += found
        if found:
            yield {title: [{"Overview": page} if page == "index.md" else page for page in found]}
    rest = [str(page.relative_to(PAGES)) for page in sorted(PAGES.rglob("*.md"))]
    rest = [page for page in rest if page not in named]
    if rest:
        yield {"More": rest}


if __name__ == "__main__":
    sys.exit(main())
