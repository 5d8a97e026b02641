"""The library's front door: the verbs of the command line as functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from shoal.algorithms.base import Algorithm
from shoal.algorithms.registry import algorithm_names, name_and_parameters
from shoal.cluster_release.publish import publish_for_clustering as publish_for_clustering
from shoal.errors import InputError, Problem
from shoal.job.job import Job, Recoding, Scheme, as_tuple
from shoal.models.base import Model
from shoal.pipeline.earlier import after
from shoal.pipeline.result import Result
from shoal.pipeline.run import run as run
from shoal.pipeline.run import run_frame
from shoal.progress import ProgressCallback, Watch, silent
from shoal.tables.frames.frames import to_polars
from shoal.tables.schema import Role, Scale

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from shoal.evaluation.evaluate import Evaluation
    from shoal.reports.frontier import Comparison
    from shoal.verification.result import Verification


def anonymize(
    frame: Any,
    *,
    quasi: Sequence[str] | str,
    k: int | None = None,
    sensitive: Sequence[str] | str = (),
    identifiers: Sequence[str] | str = (),
    keep: Sequence[str] | str = (),
    keep_rest: bool = False,
    drop_rest: bool = False,
    allow: Sequence[str] | str = (),
    class_column: str | None = None,
    person: str | None = None,
    population: str | Path | None = None,
    models: Sequence[Model | str] | Model | str = (),
    suppression_limit: float = 0.0,
    hierarchies: Mapping[str, Any] | str | Path | None = None,
    scales: Mapping[str, Scale | str] | None = None,
    orders: Mapping[str, Sequence[str]] | None = None,
    missing: Sequence[str] | str = (),
    date_formats: Mapping[str, str] | None = None,
    algorithm: str | Algorithm = "shoal",
    parameters: Mapping[str, Any] | None = None,
    effort: str | float | None = None,
    objective: str | None = None,
    priorities: Mapping[str, float] | Sequence[str] | None = None,
    recoding: Recoding | Scheme = "range",
    recodings: Mapping[str, Recoding] | None = None,
    at_most: Mapping[str, int] | None = None,
    round: Mapping[str, str | float] | None = None,
    suppressed: Literal["star", "drop"] = "star",
    seed: int = 0,
    threads: int | None = None,
    output: str | Path | None = None,
    certificate: str | Path | None = None,
    public_certificate: str | Path | None = None,
    sign: str | Path | None = None,
    report: str | Path | None = None,
    prices: str | Path | None = None,
    order: Literal["released", "input"] = "released",
    key: str | Path | None = None,
    earlier: Sequence[Any] = (),
    earlier_original: Any = None,
    person_key: Sequence[str] | str = (),
    strategy: Literal["keep", "search"] = "keep",
    setting: Literal["growing", "moving"] = "growing",
    changing: Sequence[str] | str = (),
    join_key: Sequence[str] | str = (),
    new_values: Literal["refuse", "root"] = "refuse",
    progress: ProgressCallback = silent,
    watch: Watch | None = None,
) -> Result:
    """Anonymize a pandas or polars frame or a pyarrow table.

    `quasi` columns are generalized until every record shares its values with at least k - 1 others, `identifiers` are
    dropped, `sensitive` and `keep` are published as they are. Every other column needs a word: `keep_rest=True` or
    `drop_rest=True`. A kept column that tells who somebody is has to be named in `allow` too. The index of a pandas
    frame is not released. `models` may be objects (`shoal.LDiversity(3, "disease")`) or their text form. `hierarchies`
    maps columns to hierarchies (files, nested dicts, builders) or names a folder of files. `scales`, `orders` and
    `missing` say how columns are to be read, `date_formats` (`{"birth": "%m/%d/%Y"}`) how texts of
    dates are written, `priorities` (weights, or names in order) what to keep most, `recoding`
    and `recodings` how groups are released. `at_most` caps generalization (`{"age": 2, "sex": 0}`: at most level 2 of
    the hierarchy, and not at all); a quasi-identifier in `keep` is not generalized at all. `round` names the unit
    at which the ranges of a column end (`{"birth": "month", "age": 5}`); dates and times have one that costs little,
    unless it is "exact". With `suppressed="drop"` suppressed records are left out instead of released as `*`.
    `class_column` is a label to keep predictable; with `person`, k counts persons. The files `output`, `certificate`,
    `report` and `prices` (what proves the lower bound) are written if they are named; the rows of a file are sorted by
    their released values, unless `order` is "input", and `key` is a private file that tells which is which.
    `public_certificate` is the part of the certificate that may be published, `sign` a private key (Ed25519, PEM) that
    signs both. `watch` is progress, trace and the wish to stop in one object.

    `earlier` are frames of releases of the same people, the earliest first: the new one is made so that all of them
    hold together (docs/several_releases.md). `earlier_original`, the frame behind the last of them, tells who is new;
    `person_key` are columns that tell persons apart in both. `strategy="search"` finds new classes for everybody that
    hold with the earlier ones. With `setting="moving"` people may have left since then, and values of `changing`
    columns may be others: less is promised (the page says what). By a `join_key`, kept columns, releases can be joined
    record by record, which is checked then. `new_values="root"` puts values that a hierarchy lacks below its root.

    The result's `release` is the kind of frame that came in, in the same row order; the input is untouched.
    """
    if frame is None:
        raise InputError(Problem("no-input", "no frame is given"))
    given = as_tuple(models)
    name, its_parameters = name_and_parameters(algorithm, parameters)
    if isinstance(algorithm, Algorithm) and class_column is None:
        class_column = its_parameters.get("class_column")  # so that the column is read
    job = Job.make(
        quasi=as_tuple(quasi),
        k=k,
        sensitive=as_tuple(sensitive),
        identifiers=as_tuple(identifiers),
        keep=as_tuple(keep),
        keep_rest=keep_rest,
        drop_rest=drop_rest,
        allow=as_tuple(allow),
        class_column=class_column,
        person=person,
        population=population,
        models=tuple(model for model in given if not isinstance(model, Model)),
        suppression_limit=suppression_limit,
        hierarchies=dict(hierarchies) if isinstance(hierarchies, Mapping) else (hierarchies or {}),
        scales=scales or {},
        orders={**_orders_of(frame, (*as_tuple(quasi), *as_tuple(sensitive)), scales, hierarchies), **(orders or {})},
        missing=missing if missing is None else as_tuple(missing),
        date_formats=dict(date_formats or {}),
        algorithm=name,
        parameters=its_parameters,
        effort=effort,
        objective=objective,
        priorities={} if priorities is None else priorities,
        recoding=recoding,
        recodings=recodings or {},
        at_most=dict(at_most or {}),
        round=dict(round or {}),
        suppressed=suppressed,
        seed=seed,
        threads=threads,
        output=output,
        certificate=certificate,
        public_certificate=public_certificate,
        sign=sign,
        report=report,
        prices=prices,
        order=order,
        key=key,
        person_key=as_tuple(person_key),
        strategy=strategy,
        setting=setting,
        changing=as_tuple(changing),
        join_key=as_tuple(join_key),
        new_values=new_values,
    )
    objects = tuple(model for model in given if isinstance(model, Model))
    purpose = after(earlier, earlier_original, strategy) if len(earlier) else None
    return run_frame(job, frame, models=objects, watch=watch or Watch(progress), purpose=purpose)


def verify(
    release: Any,
    *,
    quasi: Sequence[str] | str,
    k: int | None = None,
    models: Sequence[Model | str] = (),
    earlier: Sequence[Any] = (),
    sensitive: Sequence[str] | str = (),
    changing: Sequence[str] | str = (),
    setting: str = "growing",
    same_order: bool = False,
    join_key: Sequence[str] | str = (),
    strict: bool = False,
    hierarchies: Mapping[str, Any] | None = None,
    orders: Mapping[str, Sequence[str]] | None = None,
    scales: Mapping[str, Scale | str] | None = None,
    missing: Sequence[str] | str = (),
    population: Any = None,
    hidden: Any = None,
    suppression_limit: float = 0.0,
    counts: NDArray[np.int64] | None = None,
) -> Verification:
    """Check a released frame: k-anonymity if k is given, and the given models (objects or their text form).

    `hierarchies`, in every form that `anonymize` takes, and `orders` are for the distances of sensitive values and for
    cells that k-map has to read; `population` is the frame of k-map. `hidden` is a frame of columns that are not
    released but that a model counts, such as persons, row by row. No more than the share `suppression_limit` of fully
    suppressed records is exempt. With `counts` every row stands for so many records.

    With `earlier` releases of the same people, the earliest first, also what an attacker learns who has all of them
    (docs/several_releases.md); the answer's `together` tells. `setting` is `growing`, `same` (versions of one table) or
    `moving` (people may leave). With `same_order`, or columns that are a `join_key`, the attacker joins the releases
    record by record.
    """
    from shoal.pipeline.verify_files import Asked, GivenFrames, verify_frames
    from shoal.pipeline.verify_together import TogetherOptions
    from shoal.verification.reading import Knowledge

    tables = [None if frame is None else to_polars(frame)[0] for frame in (population, hidden)]
    return verify_frames(
        release,
        Asked(quasi=as_tuple(quasi), k=k, models=tuple(models), suppression_limit=suppression_limit),
        GivenFrames(
            Knowledge({}, orders or {}, as_tuple(missing), Job.make(scales=scales or {}).scales, *tables),
            hierarchies or {},
        ),
        counts=counts,
        earlier=earlier,
        how=TogetherOptions(as_tuple(sensitive), as_tuple(changing), setting, same_order, strict, as_tuple(join_key)),
    )


def _orders_of(frame: Any, columns: Sequence[str], *decided: Any) -> dict[str, list[str]]:
    """The orders of ordered categories of pandas: their type says it, unless a scale or hierarchy is given for them."""
    if type(frame).__module__.partition(".")[0] != "pandas":
        return {}
    given = {name for settings in decided if isinstance(settings, Mapping) for name in settings}
    dtypes = {name: frame.dtypes[name] for name in columns if name not in given and name in frame.columns}
    return {
        name: [str(category) for category in dtype.categories]
        for name, dtype in dtypes.items()
        if getattr(dtype, "ordered", None) is True
    }


def evaluate(
    original: Any,
    release: Any,
    *,
    quasi: Sequence[str] | str = (),
    k: int | None = None,
    sensitive: Sequence[str] | str = (),
    class_column: str | None = None,
    person: str | None = None,
    hierarchies: Mapping[str, Any] | str | Path | None = None,
    scales: Mapping[str, Scale | str] | None = None,
    orders: Mapping[str, Sequence[str]] | None = None,
    missing: Sequence[str] | str = (),
    date_formats: Mapping[str, str] | None = None,
    priorities: Mapping[str, float] | Sequence[str] | None = None,
    certificate: Mapping[str, Any] | None = None,
    beta: float = 1.0,
    key: str | Path | None = None,
    earlier: Sequence[Any] = (),
    earlier_original: Any = None,
    person_key: Sequence[str] | str = (),
    join_key: Sequence[str] | str = (),
    seed: int = 0,
    progress: ProgressCallback = silent,
) -> Evaluation:
    """Loss, risk and usefulness of any release of a frame, ours or another tool's.

    Rows are compared one by one if they belong together: they do in `result.release` and in most tools' releases; a
    file of ours is sorted by its values, and its private `key` tells which row is which.

    What is not given is taken from the `certificate` of our own release, if that is given, or found out: without
    `quasi` every common column that differs is a quasi-identifier. `beta` is the exponent of the height weights of
    distortion.

    With `earlier` releases of the same people, the earliest first, the answer's `together` measures what all of them
    give away (docs/several_releases.md). `earlier_original`, the frame behind the last of them, tells who is new, by
    the `person_key` if there is one. By a `join_key`, columns of all releases, they can be joined record by record.
    """
    from shoal.evaluation.options import PARTS, EvaluationOptions
    from shoal.pipeline.evaluate_files import evaluate_frames
    from shoal.pipeline.evaluate_together import EarlierFrames

    job = Job.make(
        quasi=as_tuple(quasi),
        k=k,
        sensitive=as_tuple(sensitive),
        class_column=class_column,
        person=person,
        hierarchies=dict(hierarchies) if isinstance(hierarchies, Mapping) else (hierarchies or {}),
        scales=scales or {},
        orders={
            **_orders_of(original, (*as_tuple(quasi), *as_tuple(sensitive)), scales, hierarchies),
            **(orders or {}),
        },
        missing=as_tuple(missing),
        date_formats=dict(date_formats or {}),
        priorities={} if priorities is None else priorities,
        seed=seed,
    )
    options = EvaluationOptions(
        k=k,
        sensitive=job.sensitive,
        class_column=class_column,
        person=person,
        beta=beta,
        seed=seed,
        parts=PARTS if class_column is not None else tuple(part for part in PARTS if part != "models"),
    )
    frames = [to_polars(frame)[0] for frame in (original, release)]
    return evaluate_frames(
        *frames,
        job=job,
        options=options,
        certificate=certificate,
        key=Path(key) if key is not None else None,
        before=EarlierFrames.of(earlier, earlier_original, as_tuple(person_key), as_tuple(join_key)),
        progress=progress,
    )


def inspect(
    frame: Any,
    *,
    quasi: Sequence[str] | str = (),
    sensitive: Sequence[str] | str = (),
    identifiers: Sequence[str] | str = (),
    missing: Sequence[str] | str = (),
    scales: Mapping[str, Scale | str] | None = None,
    largest: int = 3,
    person: str | None = None,
) -> dict[str, Any]:
    """What is in a frame: its columns with suggested roles and why, columns that say the same or settle another, the
    column that probably tells persons apart, and the combinations of columns that single people out most.

    `role` is one of the four roles or "decide yourself"; `safe_role` is what to take until somebody has decided.
    What you name (`quasi`, `sensitive`, `identifiers`, `scales`, `person`) is taken as decided.
    """
    from shoal.inspection.inspect import inspect_table

    roles = {
        **dict.fromkeys(as_tuple(sensitive), Role.SENSITIVE),
        **dict.fromkeys(as_tuple(identifiers), Role.IDENTIFYING),
    }
    found = inspect_table(
        to_polars(frame)[0],
        as_tuple(quasi),
        as_tuple(missing),
        largest,
        person,
        Job.make(scales=scales or {}).scales,
        roles,
    )
    return found.as_dict()


def compare(
    job: Job,
    *,
    algorithms: Sequence[str] | str = "all",
    ks: Sequence[int] = (5, 10, 25),
    usefulness: bool = False,
    results: str | Path | None = None,
    processes: int = 1,
    progress: ProgressCallback = silent,
) -> Comparison:
    """Algorithms side by side on the input file of a job: loss, risk, time and memory, one record for every run. A list
    of records, which notebooks draw.

    `results` is a file that keeps finished runs, so that an interrupted comparison goes on where it stopped.
    """
    from shoal.comparison.compare_algorithms import compare_algorithms, not_by_classes

    names = algorithm_names() if algorithms == "all" else as_tuple(algorithms)
    if algorithms == "all":
        names = tuple(name for name in names if name not in not_by_classes(job, names))
    return compare_algorithms(
        job,
        names,
        ks,
        usefulness=usefulness,
        results=Path(results) if results is not None else None,
        processes=processes,
        progress=progress,
    )
