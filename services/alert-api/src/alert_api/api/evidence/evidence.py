"""/v1/…/evidence and /v1/evidence-keys: signed bundles, and the keys that they are checked with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, Final, Protocol
from uuid import UUID

import structlog
from flask import Response, jsonify

from alert_api.adapters.upstream import Upstream
from alert_api.api.alerts import ID_PATH, Alerts
from alert_api.api.cases.case_readings import CASE_PATH, component
from alert_api.api.evidence.collection import Collection
from alert_api.api.proofs.explanation import asking
from alert_api.api.proofs.verification import connected
from alert_api.domain.events import AlertId
from alert_api.domain.evidence.bundle import BundleTooLarge, Signer, Subject, pack
from alert_api.errors import EvidenceNotSigned
from alert_api.service.cases.case_queries import CaseReader
from alert_api.service.proofs import Prover
from tripline_contracts.event_type import EventType
from tripline_http.auth import current_actor
from tripline_http.errors import ProblemError
from tripline_http.openapi import ApiBlueprint, new_blueprint

log = structlog.get_logger(__name__)

ZIP: Final = "application/zip"
NOT_SET: Final = (
    "TRIPLINE_EVIDENCE_KEY_FILE is not set; `alert-api evidence new-key` makes the key that it names"
)
_BUNDLE_DOC: Final[dict[str, Any]] = {
    "description": "A zip of JSON files, with a manifest of their hashes and its signature",
    "content": {ZIP: {"schema": {"type": "string", "format": "binary"}}},
}


class PublicKey(Protocol):
    """The public half of a key."""

    @property
    def key_id(self) -> str: ...

    @property
    def pem(self) -> str: ...


class EvidenceSigner(Signer, Protocol):
    """A signer that shows its public key, and those of before."""

    @property
    def public(self) -> PublicKey: ...

    @property
    def retired(self) -> Sequence[PublicKey]: ...


@dataclass(frozen=True, slots=True)
class Sources:
    """Where evidence comes from. Of the registry the caller's own key asks."""

    alerts: Alerts
    cases: CaseReader
    prover: Prover | None
    registry: Upstream


def evidence_blueprint(
    sources: Sources, signer: EvidenceSigner | None, event_type: EventType, clock: Callable[[], int]
) -> ApiBlueprint:
    """The views; `clock` gives ms since the epoch. Without a signer they say what to set."""
    blueprint = new_blueprint("evidence", __name__, "What can be shown to others, signed")
    draw = _Drawing(sources, signer, event_type, clock)

    @blueprint.route(f"{ID_PATH}/evidence", methods=["POST"])
    @blueprint.requires("alerts:read")
    @blueprint.problems(404, 422, 503)
    @blueprint.doc(operationId="drawEvidenceOfAlert", responses={"200": _BUNDLE_DOC})
    def draw_alert(alert_id: UUID) -> Response:
        """All there is about an alert, as a signed zip

        The alert as it is stored, what people did, the rule as it was then with author and approval, the verification,
        and the transactions of each condition, the newest 10,000. `alert-api evidence verify` checks it without a
        network. Where there is no proof, its file says why.
        """
        return draw.of("alert", str(alert_id), lambda by: by.of_alert(AlertId(str(alert_id))))

    @blueprint.route(f"{CASE_PATH}/evidence", methods=["POST"])
    @blueprint.requires("alerts:read")
    @blueprint.problems(404, 422, 503)
    @blueprint.doc(operationId="drawEvidenceOfCase", responses={"200": _BUNDLE_DOC})
    def draw_case(case_id: int) -> Response:
        """All there is about a case, as a signed zip

        The case, its episodes, what people did, and its newest 1,000 alerts; of the newest 20 of them all that is in
        the evidence of an alert. `extent.json` says how many there are of each.
        """
        return draw.of("case", str(case_id), lambda by: by.of_case(case_id))

    @blueprint.route("/v1/evidence-keys", methods=["GET"])
    @blueprint.requires("alerts:read")
    @blueprint.response(200, component("EvidenceKeys"))
    @blueprint.doc(operationId="listEvidenceKeys")
    def list_keys() -> Response:
        """The public keys of evidence: the one that signs now, then those of before, newest first

        A bundle's manifest names its key. Get it from somebody you trust, rather than with the bundle.
        """
        keys = [] if signer is None else [signer.public, *signer.retired]
        return jsonify(
            items=[
                {"keyId": one.key_id, "publicKey": one.pem, "signs": number == 0}
                for number, one in enumerate(keys)
            ]
        )

    return blueprint


class _Drawing:
    """Makes bundles, and logs who has drawn which."""

    def __init__(
        self,
        sources: Sources,
        signer: EvidenceSigner | None,
        event_type: EventType,
        clock: Callable[[], int],
    ) -> None:
        self._sources, self._signer, self._event_type, self._clock = sources, signer, event_type, clock

    def of(self, kind: str, identity: str, collect: Callable[[Collection], Mapping[str, Any]]) -> Response:
        """The answer. Raises EvidenceNotSigned, ProblemError, and what collecting raises."""
        if self._signer is None:
            raise EvidenceNotSigned(NOT_SET)
        sources = self._sources
        collection = Collection(
            sources.alerts, sources.cases, connected(sources.prover), asking(sources.registry)
        )
        contents = collect(collection)
        subject = Subject(
            kind,
            identity,
            current_actor(),
            self._clock(),
            self._event_type.name,
            version("tripline-alert-api"),
        )
        try:
            packed = pack(subject, contents, self._signer)
        except BundleTooLarge as error:
            raise ProblemError(422, "evidence-too-large", f"There is too much: {error}.") from error
        log.info("evidence_drawn", kind=kind, id=identity, actor=subject.made_by, bytes=len(packed))
        response = Response(packed, mimetype=ZIP)
        response.headers["Content-Disposition"] = f'attachment; filename="evidence-{kind}-{identity}.zip"'
        return response


def evidence_schemas() -> dict[str, dict[str, Any]]:
    """Components of the OpenAPI document."""
    key = {
        "type": "object",
        "properties": {
            "keyId": {"type": "string", "pattern": "^[0-9a-f]{16}$"},
            "publicKey": {"type": "string", "description": "PEM"},
            "signs": {"type": "boolean", "description": "Whether it is the one that signs now"},
        },
        "required": ["keyId", "publicKey", "signs"],
        "additionalProperties": False,
    }
    return {
        "EvidenceKeys": {
            "type": "object",
            "properties": {"items": {"type": "array", "items": key}},
            "required": ["items"],
            "additionalProperties": False,
        }
    }
