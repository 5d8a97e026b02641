"""Formats that need a package which is not always there: the error says which, and how to install it."""

from __future__ import annotations

from importlib.util import find_spec

from shoal.errors import InputError, Problem


def need(extra: str, *modules: str, what: str) -> None:
    """Raise InputError with the pip line unless all modules of an extra can be imported."""
    missing = [name for name in modules if find_spec(name) is None]
    if missing:
        message = f"{what}, {' and '.join(missing)} is needed, which is not installed"
        raise InputError(Problem("missing-extra", message, hint=f'pip install "shoal[{extra}]"'))
