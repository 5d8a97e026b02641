"""`shoal algorithms`, `shoal models` and `shoal metrics`: what there is."""

from __future__ import annotations

import math
from typing import Annotated, Any

import typer

from shoal.cli import options
from shoal.cli.output import print_json, print_table, print_text

Json = Annotated[bool, typer.Option("--json", help=options.JSON_HELP)]


def register(app: typer.Typer) -> None:
    app.command("algorithms", help="List the algorithms, with their papers.")(algorithms)
    app.command("models", help="List the privacy models, or explain one.")(models)
    app.command("metrics", help="List the measures of loss.")(metrics)


def algorithms(as_json: Json = False) -> None:
    from shoal.algorithms.registry import algorithm_class, algorithm_names

    found = [algorithm_class(name) for name in algorithm_names()]
    if as_json:
        print_json({"algorithms": [{"name": a.name, "title": a.title, "citation": a.citation} for a in found]})
        return
    rows = [(kind.name, kind.title, kind.citation) for kind in found]
    print_table("Algorithms", ("name", "how it works", "paper"), rows)


def models(
    name: Annotated[str | None, typer.Argument(help="tell what this model stops and what not")] = None,
    explained: Annotated[str | None, typer.Option("--explain", help="the same")] = None,
    as_json: Json = False,
) -> None:
    from shoal.models.catalogue import explain, explain_model
    from shoal.models.registry import model_class, model_form, model_names

    explained = name if name is not None else explained
    if explained is not None:
        if as_json:
            print_json(explain_model(explained).as_dict())
        else:
            print_text(explain(explained))
        return
    found = [model_class(name) for name in model_names()]
    if as_json:
        entries = [
            {"name": m.name, "form": model_form(m.name), "title": m.title, "citation": m.citation} for m in found
        ]
        print_json({"models": entries})
        return
    rows = [(model_form(kind.name), kind.title, kind.citation) for kind in found]
    print_table("Models", ("on the command line", "what it asks of a group", "paper"), rows)


def metrics(as_json: Json = False) -> None:
    from shoal.metrics.base import metrics as all_metrics

    found = all_metrics()
    if as_json:
        shown = ("name", "title", "goal", "minimum", "maximum", "meaning")
        entries = [{key: _finite(getattr(metric, key)) for key in shown} for metric in found]
        print_json({"metrics": entries})
        return
    rows = [(m.name, m.goal, _range(m.minimum, m.maximum), m.meaning) for m in found]
    print_table("Metrics", ("name", "better is", "range", "meaning"), rows)


def _finite(value: Any) -> Any:
    """JSON has no infinity: no limit is null."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _range(minimum: float | None, maximum: float | None) -> str:
    low = "-" if minimum is None else f"{minimum:g}"
    high = "no limit" if maximum is None or maximum == float("inf") else f"{maximum:g}"
    return f"{low} to {high}"
