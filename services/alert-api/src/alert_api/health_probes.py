"""Which parts of the line are asked how they are, and by which address."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import structlog
from confluent_kafka import KafkaError, KafkaException

from alert_api.adapters.health.part_probe import PartProbe
from alert_api.adapters.newest_transactions import NewestTransactions
from alert_api.adapters.upstream import Upstream
from alert_api.domain.health.part_health import PARTS
from alert_api.domain.health.reading import Reading
from alert_api.errors import UpstreamUnavailable
from alert_api.service.health.health_desk import HealthDesk, Probe
from alert_api.settings import ApiSettings

log = structlog.get_logger(__name__)

_NO_TOPIC: Final = (KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC)  # noqa: SLF001 - the client's name


def health_desk(
    settings: ApiSettings,
    database: Callable[[], None],
    transactions: NewestTransactions | None,
    clock: Callable[[], int],
) -> HealthDesk:
    """`database` passes or raises; `clock` gives ms since the epoch."""
    addresses = {"registry": settings.registry_url, **settings.parts}
    if settings.engine_metrics_url is not None:
        addresses["engine"] = settings.engine_metrics_url
    asked = {
        name: _process(f"The {PARTS[name].lower()}", url, has_metrics=name != "registry")
        for name, url in addresses.items()
    }
    probes: dict[str, Probe] = {"alert-api": Reading, "postgres": lambda: _database(database), **asked}
    if transactions is not None:
        probes |= {"kafka": lambda: _kafka(transactions), "topics": lambda: _topics(transactions)}
    return HealthDesk(probes, clock, closing=[probe.close for probe in asked.values()])


def _process(title: str, url: str, *, has_metrics: bool) -> PartProbe:
    return PartProbe(title, Upstream(title, url), has_metrics=has_metrics)


def _database(check: Callable[[], None]) -> Reading:
    try:
        check()
    except Exception as error:  # whatever a check meets: it does not answer
        log.warning("not seen", part="postgres", reason=str(error))
        raise UpstreamUnavailable("Postgres", f"does not answer: {type(error).__name__}") from error
    return Reading()


def _kafka(transactions: NewestTransactions) -> Reading:
    """A broker that says that a topic is not there is there itself."""
    try:
        transactions.look()
    except UpstreamUnavailable as error:
        if not _lacks_the_topic(error):
            raise
    return Reading()


def _topics(transactions: NewestTransactions) -> Reading:
    try:
        transactions.look()
    except UpstreamUnavailable as error:
        if _lacks_the_topic(error):
            return Reading("the topic of transactions is not there; the job that makes topics has not run.")
        raise
    return Reading()


def _lacks_the_topic(error: UpstreamUnavailable) -> bool:
    cause = error.__cause__
    return isinstance(cause, KafkaException) and cause.args[0].code() in _NO_TOPIC
