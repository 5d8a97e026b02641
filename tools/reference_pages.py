"""Pages of the documentation that come from the code: Python from docstrings, the command line from its parser, the job
file from its schema, reasons of errors from the source. `tools/make_docs.py` writes them."""

from __future__ import annotations

import ast
import inspect
import json
import typing
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).resolve().parent.parent / "src" / "shoal"
LONGEST = 88  # characters of a signature that stands on one line
# Settings of a job that have no option, or one of another name; all others are told in the words of their option.
OTHER_SETTINGS = {
    "input": "the table: a file, or the address of a table in a database",
    "models": "privacy models in their text form, e.g. `l-diversity:disease:3`",
    "class": "a label to keep predictable",
    "missing": "texts that mean 'missing'",
    "scales": "integer, decimal, date, category or ordered, by column",
    "orders": "the words of ordered columns, from low to high, by column",
    "date_formats": "how the dates of a column are written, e.g. `%m/%d/%Y`, by column",
    "parameters": "parameters of the algorithm, by name",
    "priorities": "what to keep most: names in order (the first matters most), or weights by column",
    "recodings": "recodings of single columns: range, nodes, mean or midpoint, by column",
    "at_most": "the highest level to which a column may be lifted, 0: not at all, by column",
    "round": "the unit at which ranges end (`month`, `5`, `exact`), by column",
    "hierarchies": "a folder of hierarchy files, or by column: a file, a builder, or the tree itself",
    "csv": "how the CSV file is written, where it is not found out: delimiter, encoding, quote, header, decimal_comma",
    "spark": "with the engine spark: master, and settings of its configuration",
    "earlier": "releases of the same people published before, the earliest first",
    "earlier_original": "the table behind the last of them: it tells who is new",
}


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
    """The signature of a thing, a line for each parameter where it is long."""
    try:
        found = inspect.signature(thing)
    except (TypeError, ValueError):
        return "(...)"
    parts, starred = [], False
    for parameter in found.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            parts.append("*")
        starred = starred or parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_POSITIONAL)
        parts.append(_parameter(parameter))
    answer = "" if found.return_annotation is found.empty else f" -> {_annotation(found.return_annotation)}"
    whole = f"({', '.join(parts)}){answer}"
    if len(whole) <= LONGEST:
        return whole
    return "(\n" + "".join(f"    {part},\n" for part in parts) + f"){answer}"


def _parameter(parameter: inspect.Parameter) -> str:
    """A parameter as it stands in the source; a default that is a function by its name."""
    stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
    kind = "" if parameter.annotation is parameter.empty else f": {_annotation(parameter.annotation)}"
    if parameter.default is parameter.empty:
        return f"{stars}{parameter.name}{kind}"
    default = getattr(parameter.default, "__name__", None) or repr(parameter.default)
    return f"{stars}{parameter.name}{kind}{' = ' if kind else '='}{default}"


def _annotation(kind: Any) -> str:
    return kind if isinstance(kind, str) else inspect.formatannotation(kind)


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

    schema = Job.model_json_schema(by_alias=True)
    told = setting_meanings()
    for name, entry in schema["properties"].items():
        entry["description"] = told[name].replace("`", "")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def setting_meanings() -> dict[str, str]:
    """What each setting of a job does, in the words of its option."""
    from shoal.cli.anonymize import anonymize
    from shoal.job.job import Job

    hints = typing.get_type_hints(anonymize, include_extras=True)
    helps = {name: option.help for name, hint in hints.items() for option in getattr(hint, "__metadata__", ())}
    names = [field.alias or name for name, field in Job.model_fields.items()]
    return {name: OTHER_SETTINGS.get(name) or helps[name].removesuffix(" (repeatable)") for name in names}


def job_page() -> str:
    schema = job_schema()
    lines = [
        "# Job file",
        "",
        "YAML or JSON; every setting is optional here and may be given on the command line instead. The JSON Schema",
        "for editors is [job.schema.json](job.schema.json).",
        "",
        "| setting | what it does | type | default |",
        "|---|---|---|---|",
    ]
    told = setting_meanings()
    for name, entry in schema["properties"].items():
        lines.append(f"| `{name}` | {told[name].replace('|', chr(92) + '|')} | {_type(entry)} | {_default(entry)} |")
    return "\n".join(lines) + "\n"


def _default(entry: dict[str, Any]) -> str:
    default = entry.get("default")
    return f"`{json.dumps(default)}`" if default not in (None, "", [], {}) and not isinstance(default, dict) else ""


def _type(entry: dict[str, Any]) -> str:
    if "anyOf" in entry:
        return " or ".join(dict.fromkeys(_type(part) for part in entry["anyOf"] if part.get("type") != "null"))
    if "$ref" in entry:
        return {"SqlAddress": "address"}.get(name := str(entry["$ref"]).rpartition("/")[2], name)
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
