"""The documentation as a site that needs no network: `make docs` writes it to `site/`.

    python tools/make_docs.py [--only-pages]

The pages of `docs/` are copied to `build/docs`, the tutorial with the outputs of a run made now. Pages that come from
the code are written beside them (command line from the parser, job file from its schema, Python from docstrings,
reasons of errors from the source), and MkDocs makes the site with its search.
"""

from __future__ import annotations

import ast
import inspect
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
from run_tutorial import executed  # a neighbour

ROOT = Path(__file__).resolve().parent.parent
PAGES, SOURCE = ROOT / "build" / "docs", ROOT / "src" / "shoal"
NAVIGATION: list[tuple[str, list[str]]] = [
    ("Start", ["index.md", "start.md", "tutorial.md"]),
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
            "palette": [{"scheme": "default", "primary": "indigo"}],
        },
        "plugins": ["search", "offline"],
        "markdown_extensions": ["tables", "admonition", "toc", "pymdownx.superfences", "pymdownx.highlight"],
        "nav": list(navigation()),
    }


def navigation() -> Iterator[dict[str, list[str]]]:
    """The sections; pages that no section names come last, so that none is lost."""
    named: list[str] = []
    for title, patterns in NAVIGATION:
        found = [str(page.relative_to(PAGES)) for pattern in patterns for page in sorted(PAGES.glob(pattern))]
        named += found
        if found:
            yield {title: found}
    rest = [str(page.relative_to(PAGES)) for page in sorted(PAGES.rglob("*.md"))]
    rest = [page for page in rest if page not in named]
    if rest:
        yield {"More": rest}


def python_page() -> str:
    """Every public name with its signature and docstring."""
    import shoal

    lines = ["# Python", "", "Everything below is in `import shoal`.", ""]
    for name in shoal._HOMES:
        thing = getattr(shoal, name)
        lines += [f"## shoal.{name}", "", "```python", f"{name}{_signature(thing)}", "```", "", *_docstring(thing), ""]
        if inspect.isclass(thing):
            for method, function in inspect.getmembers(thing, inspect.isfunction):
                if not method.startswith("_") and function.__qualname__.startswith(thing.__name__ + "."):
                    lines += [f"### {name}.{method}", "", "```python", f"{method}{_signature(function)}", "```", ""]
                    lines += [*_docstring(function), ""]
    return "\n".join(lines)


def _signature(thing: Any) -> str:
    try:
        return str(inspect.signature(thing)).replace("'", "")
    except (TypeError, ValueError):
        return "(...)"


def _docstring(thing: Any) -> list[str]:
    return (inspect.getdoc(thing) or "").splitlines()


def command_line_page() -> str:
    """Every verb with its help, arguments and options, from the parser itself."""
    import typer.main

    from shoal.cli.main import put_together
    from shoal.cli.man import verbs

    command = typer.main.get_command(put_together([]))
    lines = [
        "# Command line",
        "",
        "Exit codes: 0 done, 1 our fault, 2 bad input or usage, 3 the requirement does not hold.",
        "",
    ]
    for path, verb in verbs(command, "shoal"):
        lines += [f"## {path}", "", verb.help or "", "", "| option | what it does |", "|---|---|"]
        for parameter in verb.params:
            names = ", ".join(f"`{name}`" for name in [*parameter.opts, *parameter.secondary_opts])
            text = (getattr(parameter, "help", "") or "").replace("|", "\\|")
            lines.append(f"| {names} | {text} |")
        if verb.epilog:
            lines += ["", "```sh", *verb.epilog.split("\n\n")[1:], "```"]
        lines.append("")
    return "\n".join(lines)


def job_schema() -> dict[str, Any]:
    """The JSON Schema of job files, for editors that complete and check them."""
    from shoal.job.job import Job

    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **Job.model_json_schema(by_alias=True)}


def job_page() -> str:
    schema = job_schema()
    lines = [
        "# Job file",
        "",
        "YAML or JSON; every setting is optional here and may be given on the command line instead. The JSON Schema",
        "for editors is [job.schema.json](job.schema.json).",
        "",
        "| setting | type | default |",
        "|---|---|---|",
    ]
    for name, entry in schema["properties"].items():
        lines.append(f"| `{name}` | {_type(entry)} | {json.dumps(entry.get('default', ''))} |")
    return "\n".join(lines) + "\n"


def _type(entry: dict[str, Any]) -> str:
    if "anyOf" in entry:
        return " or ".join(dict.fromkeys(_type(part) for part in entry["anyOf"] if part.get("type") != "null"))
    if "$ref" in entry:
        return str(entry["$ref"]).rpartition("/")[2]
    if "enum" in entry:
        return ", ".join(map(str, entry["enum"]))
    return str(entry.get("type", "any"))


def errors_page() -> str:
    """Every reason code that stands in the source, with a message that uses it."""
    found: dict[str, tuple[str, str]] = {}
    for file in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Problem" and node.args:
                reason = node.args[0]
                if isinstance(reason, ast.Constant) and isinstance(reason.value, str):
                    text = _words(node.args[1]) if len(node.args) > 1 else ""
                    if not found.get(reason.value, ("", ""))[0]:
                        found[reason.value] = (text, str(file.relative_to(SOURCE)))
    lines = ["# Reasons of errors", "", "Every problem has a stable reason code; `--json` gives it.", ""]
    lines += ["| reason | message, for example | told by |", "|---|---|---|"]
    lines += [f"| `{reason}` | {text} | `{place}` |" for reason, (text, place) in sorted(found.items())]
    return "\n".join(lines) + "\n"


def _words(node: ast.expr) -> str:
    """A message as it stands in the source, with its parts that change as ..."""
    if isinstance(node, ast.Constant):
        return str(node.value).replace("|", "\\|")
    if isinstance(node, ast.JoinedStr):
        parts = [str(part.value) if isinstance(part, ast.Constant) else "..." for part in node.values]
        return "".join(parts).replace("|", "\\|")
    return ""


if __name__ == "__main__":
    sys.exit(main())
