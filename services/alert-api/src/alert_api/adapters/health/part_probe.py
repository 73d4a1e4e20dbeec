"""A process of the line, asked for `/readyz` and `/metrics`."""

from __future__ import annotations

import json
from typing import Final

from prometheus_client.parser import text_string_to_metric_families

from alert_api.adapters.upstream import Question, Upstream
from alert_api.domain.health.reading import Reading, Sample
from alert_api.errors import UpstreamUnavailable

_LEFT_OUT: Final = ("_bucket", "_created", "_sum", "_count")
MOST_TROUBLE: Final = 300


class PartProbe:
    """Asks one process; without metrics for whether it is ready alone. `title` begins sentences about it."""

    def __init__(self, title: str, part: Upstream, *, has_metrics: bool = True) -> None:
        self._title, self._part, self._has_metrics = title, part, has_metrics

    def __call__(self) -> Reading:
        """Raises UpstreamUnavailable."""
        ready = self._part.ask(Question("GET", "/readyz"))
        trouble = None if ready.status == 200 else _sentence(ready.body)
        if not self._has_metrics:
            return Reading(trouble)
        answer = self._part.ask(Question("GET", "/metrics", headers={"Accept": "text/plain"}))
        if answer.status != 200:
            raise UpstreamUnavailable(self._title, f"answered {answer.status} when asked for its metrics")
        try:
            return Reading(trouble, _samples(answer.body.decode("utf-8")))
        except ValueError as error:
            raise UpstreamUnavailable(self._title, f"has metrics that cannot be read: {error}") from error

    def close(self) -> None:
        """Free the connections."""
        self._part.close()


def _sentence(body: bytes) -> str:
    """Of a problem document its detail, else the text itself: the engine's probes say a sentence."""
    text = body.decode("utf-8", "replace").strip()
    try:
        problem = json.loads(text)
    except ValueError:
        problem = None
    if isinstance(problem, dict):
        text = str(problem.get("detail") or problem.get("title") or "")
    return (text or "it does not say why")[:MOST_TROUBLE]


def _samples(text: str) -> dict[str, tuple[Sample, ...]]:
    samples: dict[str, list[Sample]] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            is_kept = sample.name.startswith("tripline_") and not sample.name.endswith(_LEFT_OUT)
            # NaN and the infinities cannot be counted.
            if is_kept and abs(sample.value) < float("inf"):
                samples.setdefault(sample.name, []).append(Sample(sample.value, dict(sample.labels)))
    return {name: tuple(kept) for name, kept in samples.items()}
