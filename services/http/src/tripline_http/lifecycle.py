"""The life of a process that runs until it is told to stop: signals, and retries that end with them."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable

import tenacity


def stop_on_signals() -> threading.Event:
    """The event that SIGTERM and SIGINT set; to be called in the main thread, before the loop begins."""
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda _number, _frame: stop.set())
    return stop


def retrying(
    recoverable: type[Exception] | tuple[type[Exception], ...],
    stop: threading.Event,
    wait: tenacity.wait.wait_base,
    before_sleep: Callable[[tenacity.RetryCallState], None],
) -> tenacity.Retrying:
    """Attempts until one succeeds, or raises another error, or `stop` is set: then `tenacity.RetryError`."""
    return tenacity.Retrying(
        retry=tenacity.retry_if_exception_type(recoverable),
        wait=wait,
        stop=tenacity.stop_when_event_set(stop),
        sleep=tenacity.sleep_using_event(stop),
        before_sleep=before_sleep,
    )


def run_sessions(
    session: Callable[[], None],
    recoverable: tuple[type[Exception], ...],
    stop: threading.Event,
    report: Callable[[BaseException], None],
) -> None:
    """Run sessions one after the other until `stop` is set; after one that failed wait, longer each time.

    A session that got something done returns instead of raising, so that the waiting begins anew.

    :param report: told of each error of a session that is tried again
    """

    def before_sleep(state: tenacity.RetryCallState) -> None:
        error = state.outcome.exception() if state.outcome else None
        if error is not None:
            report(error)

    wait = tenacity.wait_random_exponential(multiplier=0.1, max=5)
    while not stop.is_set():
        try:
            retrying(recoverable, stop, wait, before_sleep)(session)
        except tenacity.RetryError:
            return
