"""Shoal as a transformer of scikit-learn (needs the extra `eval`).

    from shoal.sklearn import Anonymizer
    Pipeline([("safe", Anonymizer(quasi=["age", "zip"], k=10)), ("encode", ...), ("model", ...)])

Every table that is transformed is a release of its own and meets the requirement by itself: nothing is carried over
from `fit`, because groups of one table do not make another table safe. So a batch of fewer than k records is refused,
and rows are not transformed one by one. Numbers are released as means of their group by default, so that they stay
numbers for what follows in a pipeline; `recoding="range"` gives texts such as `[20, 29]`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

try:
    from sklearn.base import BaseEstimator, TransformerMixin
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as error:  # the name of the extra is all that helps here
    raise ImportError('scikit-learn is not installed: pip install "shoal[eval]"') from error

from shoal.api import anonymize
from shoal.pipeline.result import Result

# Checks of scikit-learn that do not apply, with the reason.
NOT_APPLICABLE = {
    "check_methods_subset_invariance": "a part of a table is another table: its groups must hold by themselves",
    "check_dict_unchanged": "transform remembers its result, so that the certificate can be asked for",
    "check_estimators_pickle": "missing and present numbers of one group are released as '*', which is a text",
}


class Anonymizer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Anonymize tables in a pipeline.

    Parameters are those of `shoal.anonymize`. `quasi=None` takes all columns that have no other role. The columns of an
    array are named x0, x1, ... After `transform`, `result_` is the whole result: certificate, metrics, report.
    """

    def __init__(
        self,
        quasi: Sequence[str] | None = None,
        *,
        k: int = 5,
        sensitive: Sequence[str] = (),
        identifiers: Sequence[str] = (),
        keep: Sequence[str] = (),
        keep_rest: bool = False,
        drop_rest: bool = False,
        allow: Sequence[str] = (),
        models: Sequence[Any] = (),
        hierarchies: Mapping[str, Any] | None = None,
        suppression_limit: float = 0.0,
        algorithm: str = "shoal",
        effort: str | float | None = None,
        recoding: str = "mean",
        seed: int = 0,
    ) -> None:
        self.quasi = quasi
        self.k = k
        self.sensitive = sensitive
        self.identifiers = identifiers
        self.keep = keep
        self.keep_rest = keep_rest
        self.drop_rest = drop_rest
        self.allow = allow
        self.models = models
        self.hierarchies = hierarchies
        self.suppression_limit = suppression_limit
        self.algorithm = algorithm
        self.effort = effort
        self.recoding = recoding
        self.seed = seed

    def fit(self, X: Any, y: Any = None) -> Anonymizer:
        """Remember the columns; nothing of the values."""
        self._validated(X, reset=True)
        names = getattr(self, "feature_names_in_", None)
        self.columns_ = [f"x{place}" for place in range(self.n_features_in_)] if names is None else list(names)
        return self

    def transform(self, X: Any) -> Any:
        """A release of this table, in the same row order, as the kind of table that came in."""
        check_is_fitted(self)
        checked = self._validated(X, reset=False)
        frame = X if hasattr(X, "columns") else _as_frame(np.asarray(checked), self.columns_)
        self.result_: Result = anonymize(frame, **self._settings(frame))
        release = self.result_.release
        return release.to_numpy() if frame is not X else release

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """The names of the released columns."""
        check_is_fitted(self)
        dropped = set(self.identifiers)
        if self.drop_rest and self.quasi is not None:
            dropped |= set(self.columns_) - {*self.quasi, *self.sensitive, *self.keep}
        return np.asarray([name for name in self.columns_ if name not in dropped], dtype=object)

    def _validated(self, X: Any, *, reset: bool) -> Any:
        return validate_data(self, X, reset=reset, dtype=None, ensure_all_finite="allow-nan")

    def _settings(self, frame: Any) -> dict[str, Any]:
        others = {*self.sensitive, *self.identifiers, *self.keep}
        quasi = [name for name in self.columns_ if name not in others] if self.quasi is None else list(self.quasi)
        return {
            "quasi": quasi,
            "k": self.k,
            "sensitive": list(self.sensitive),
            "identifiers": list(self.identifiers),
            "keep": list(self.keep),
            "keep_rest": self.keep_rest,
            "drop_rest": self.drop_rest,
            "allow": list(self.allow),
            "models": list(self.models),
            "hierarchies": self.hierarchies,
            "suppression_limit": self.suppression_limit,
            "algorithm": self.algorithm,
            "effort": self.effort,
            "recodings": _recodings(frame, quasi, self.recoding),
            "seed": self.seed,
        }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


def _as_frame(values: Any, names: list[str]) -> Any:
    import polars as pl

    if values.dtype.kind != "O":
        return pl.DataFrame({name: values[:, place] for place, name in enumerate(names)})
    return pl.DataFrame({name: pl.Series(values[:, place].tolist(), strict=False) for place, name in enumerate(names)})


def _recodings(frame: Any, quasi: list[str], recoding: str) -> dict[str, str]:
    """Means are for numbers only; texts are released as they are otherwise."""
    if recoding == "range":
        return {}
    import narwhals as nw

    schema = nw.from_native(frame, eager_only=True).schema
    return {name: recoding for name in quasi if name in schema and schema[name].is_numeric()}
