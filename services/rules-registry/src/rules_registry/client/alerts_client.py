"""The alert API as the guard sees it: counts."""

from __future__ import annotations

from rules_registry.client.http_session import HttpSession


class AlertsClient:
    """Every method raises RequestRefused and RegistryUnreachable. Spans are event times in ms, both ends included."""

    def __init__(self, session: HttpSession) -> None:
        self._session = session

    def by_rule(self, earliest: int, latest: int) -> dict[int, int]:
        """The number of alerts of each rule that has any."""
        answer = self._session.get("/v1/alerts/summary", {"from": str(earliest), "to": str(latest)})
        return {item["ruleId"]: item["open"] + item["acknowledged"] for item in answer["byRule"]}

    def of_version(self, rule_id: int, version: int, earliest: int, latest: int) -> int:
        """The number of alerts by one version of a rule."""
        query = {"ruleId": rule_id, "ruleVersion": version, "from": earliest, "to": latest}
        answer = self._session.get("/v1/alerts/summary", {name: str(value) for name, value in query.items()})
        return int(answer["byState"]["open"] + answer["byState"]["acknowledged"])
