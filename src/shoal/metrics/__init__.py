"""Loss, distortion, discernibility and others: each with name, goal and range, from original and release alone."""

from shoal.metrics.base import Metric, metric, metric_names, metrics
from shoal.metrics.score import Scores, score
from shoal.released.domain import Domain, make_domains

__all__ = ["Domain", "Metric", "Scores", "make_domains", "metric", "metric_names", "metrics", "score"]
