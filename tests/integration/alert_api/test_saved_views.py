"""Saved views in a real database: bounded however they are saved, and each its owner's."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from alert_api.adapters.postgres_alerts import open_pool
from alert_api.adapters.postgres_saved_views import PostgresSavedViews
from alert_api.errors import TooManyViews, ViewNotFound
from alert_api.service.saved_views import MOST_VIEWS, SavedView
from tests.integration.alert_api.conftest import AlertsDatabase

pytestmark = pytest.mark.integration


@pytest.fixture
def views(module_database: AlertsDatabase) -> Iterator[PostgresSavedViews]:
    with psycopg.connect(module_database.owner) as connection:
        connection.execute("TRUNCATE alerts.saved_views")
    with open_pool(module_database.api, 4) as pool:
        yield PostgresSavedViews(pool)


def test_a_view_is_its_owner_s_until_it_is_replaced_or_removed(views: PostgresSavedViews) -> None:
    first = SavedView("Große", {"state": "open", "ruleId": [1, 2], "subject": "payeeId:\\ “25”"}, 1)
    views.save("ada", first)
    views.save("eve", SavedView("Große", {}, 2))
    views.save("ada", SavedView("All", {"state": "all"}, 3))
    assert views.of("ada") == [SavedView("All", {"state": "all"}, 3), first]
    views.save("ada", SavedView("Große", {}, 4))
    assert views.of("ada")[1] == SavedView("Große", {}, 4)
    views.remove("ada", "Große")
    with pytest.raises(ViewNotFound):
        views.remove("ada", "Große")
    assert [view.name for view in views.of("ada")] == ["All"]
    assert views.of("eve") == [SavedView("Große", {}, 2)]


def test_many_that_save_at_once_keep_the_bound(views: PostgresSavedViews) -> None:
    def save(number: int) -> bool:
        try:
            views.save("ada", SavedView(f"view {number}", {}, number))
        except TooManyViews:
            return False
        return True

    with ThreadPoolExecutor(4) as pool:
        kept = list(pool.map(save, range(MOST_VIEWS + 8)))
    assert kept.count(True) == MOST_VIEWS == len(views.of("ada"))
    views.save("ada", SavedView(views.of("ada")[0].name, {"state": "all"}, 99))
    assert views.of("ada")[0].filter == {"state": "all"}
