"""The engine as its metrics describe it, for people to look at."""

from __future__ import annotations

from typing import Any, Final

from prometheus_client.parser import text_string_to_metric_families

from alert_api.adapters.upstream import Question, Upstream
from alert_api.errors import UpstreamUnavailable

PREFIX: Final = "tripline_engine_"
_LEFT_OUT: Final = ("_bucket", "_created")


class EngineMetrics:
    """Asks the engine's metrics address."""

    def __init__(self, engine: Upstream) -> None:
        self._engine = engine

    def read(self) -> dict[str, Any]:
        """`ready`, and the samples by name (without prefix): `[{"labels": {…}, "value": …}]`; no histogram buckets.

        Raises UpstreamUnavailable.
        """
        answer = self._engine.ask(Question("GET", "/metrics", headers={"Accept": "text/plain"}))
        if answer.status != 200:
            raise UpstreamUnavailable("The engine", f"answered {answer.status} when asked for its metrics")
        ready = self._engine.ask(Question("GET", "/readyz")).status == 200
        try:
            samples = _samples(answer.body.decode("utf-8"))
        except ValueError as error:
            raise UpstreamUnavailable("The engine", f"has metrics that cannot be read: {error}") from error
        return {"ready": ready, "samples": samples}

    def close(self) -> None:
        """Free the connections."""
        self._engine.close()


def _samples(text: str) -> dict[str, list[dict[str, Any]]]:
    samples: dict[str, list[dict[str, Any]]] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            is_shown = sample.name.startswith(PREFIX) and not sample.name.endswith(_LEFT_OUT)
            # NaN and the infinities are no JSON.
            if is_shown and abs(sample.value) < float("inf"):
                entry = {"labels": dict(sample.labels), "value": sample.value}
                samples.setdefault(sample.name.removeprefix(PREFIX), []).append(entry)
    return samples
