"""Examples for the help of every verb: what people type most."""

from __future__ import annotations

EXAMPLES: dict[str, tuple[str, ...]] = {
    "demo": ("shoal demo",),
    "inspect": ("shoal inspect patients.csv", "shoal inspect survey.csv --missing '?' --person patient_id"),
    "init": ("shoal init patients.csv", "shoal init patients.csv -o first.yaml -k 20"),
    "hierarchies": ("shoal hierarchies suggest patients.csv", "shoal hierarchies export patients.csv -o hierarchies"),
    "suggest": ("shoal hierarchies suggest patients.csv",),
    "check": (
        "shoal hierarchies check patients.csv --hierarchies hierarchies",
        "shoal hierarchies check patients.csv --job job.yaml --show-values",
    ),
    "edit": ("shoal hierarchies edit job.csv --add Nurse=Technical --rename Other=Rest -o job.csv",),
    "export": ("shoal hierarchies export patients.csv -o trees --columns age,postcode",),
    "anonymize": (
        "shoal anonymize --job job.yaml",
        "shoal anonymize patients.csv -o release.csv --quasi age,sex,postcode --sensitive diagnosis --identifiers name "
        "--keep ward -k 10 --model l-diversity:diagnosis:3 --certificate certificate.json --report report.html",
    ),
    "verify": (
        "shoal verify release.csv --quasi age,sex,postcode -k 10",
        "shoal verify release.csv --certificate certificate.json",
    ),
    "evaluate": (
        "shoal evaluate patients.csv release.csv --certificate certificate.json --report evaluation.html",
        "shoal evaluate patients.csv release.csv --certificate certificate.json --report public.html --public",
    ),
    "compare": ("shoal compare patients.csv --quasi age,sex,postcode --algorithms all -k 5,10,50",),
    "cluster-release": (
        "shoal cluster-release patients.csv -o release.csv --quasi age,sex,postcode --identifiers name "
        "--keep-rest -k 20 --clusters 6",
    ),
    "publish-versions": (
        "shoal publish-versions patients.csv -o versions --quasi age,sex,postcode --identifiers name "
        "--keep-rest -k 20 --clusters 2,6,10",
    ),
    "m-invariant": (
        "shoal m-invariant spring.csv -o spring_release.csv --quasi age,sex --sensitive disease --person-key id -m 3 "
        "--counterfeits spring_counterfeits.csv --persons spring.parquet",
        "shoal m-invariant autumn.csv -o autumn_release.csv --quasi age,sex --sensitive disease --person-key id -m 3 "
        "--counterfeits autumn_counterfeits.csv --persons autumn.parquet --before spring.parquet",
    ),
    "experiment": ("shoal experiment", "shoal experiment koc --quick --data tables"),
    "serve": ("shoal serve", "shoal serve patients.csv --workspace projects"),
    "explain": ("shoal explain certificate.json", "shoal explain certificate.json --language de"),
    "pack": ("shoal pack release-folder -o evidence.zip",),
    "import-arx": ("shoal import-arx project.deid -o project",),
    "man": ("shoal man | man -l -", "shoal man > ~/.local/share/man/man1/shoal.1"),
    "doctor": ("shoal doctor", "shoal doctor --warm"),
    "algorithms": ("shoal algorithms",),
    "models": ("shoal models", "shoal models l-diversity"),
    "metrics": ("shoal metrics",),
}


def epilog(verb: str | None) -> str | None:
    """The examples of a verb, one paragraph each, for the end of its help."""
    lines = EXAMPLES.get(verb or "")
    return "\n\n".join(("Examples:", *lines)) if lines else None
