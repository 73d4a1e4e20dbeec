"""Signing, against the specification's own vector."""

from __future__ import annotations

import base64

from alert_api.domain.webhooks.signature import PREFIX, Secrets, new_secret, signed_headers


def test_the_specifications_vector() -> None:
    secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    headers = signed_headers(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}')
    assert headers == {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }


def test_each_part_is_signed() -> None:
    secret = new_secret()
    made = {
        signed_headers(key, message_id, seconds, body)["webhook-signature"]
        for key, message_id, seconds, body in (
            (secret, "a", 1, b"x"),
            (secret, "b", 1, b"x"),
            (secret, "a", 2, b"x"),
            (secret, "a", 1, b"y"),
            (new_secret(), "a", 1, b"x"),
        )
    }
    assert len(made) == 5


def test_of_two_secrets_either_opens_it_until_the_former_ends() -> None:
    new, old = new_secret(), new_secret()
    secrets = Secrets(new, old, former_until=2000)
    assert [secrets.former_at(now) for now in (1999, 2000)] == [old, None]
    both = signed_headers(new, "a", 1, b"x", old)["webhook-signature"].split(" ")
    assert both == [signed_headers(secret, "a", 1, b"x")["webhook-signature"] for secret in (new, old)]
    assert new not in repr(secrets)


def test_secrets_are_as_the_specification_writes_them() -> None:
    secret = new_secret()
    assert secret.startswith(PREFIX)
    assert len(base64.b64decode(secret.removeprefix(PREFIX), validate=True)) == 24
    assert secret != new_secret()
