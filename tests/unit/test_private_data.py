"""Personal data and secrets by their form, and what only looks like them."""

from __future__ import annotations

import pytest

from jochi.text.private_data import private_kinds


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("IBAN DE89 3704 0044 0532 0130 00 at the bank", "IBAN"),
        ("GB29NWBK60161331926819", "IBAN"),
        ("Card 4111 1111 1111 1111, until 08/29", "card number"),
        ("Write to alex.moon@posteo.net", "e-mail address"),
        ("Mum: +49 170 1234567", "phone number"),
        ("Handynummer 0170 1234567", "phone number"),
        ("Phone: (415) 555-2671", "phone number"),
        ("WLAN-Passwort: Sonnenblume", "password"),
        ("Wi-Fi password is blue!whale7", "password"),
        ("Kennwort für das NAS lautet Mond_2031", "password"),
        ("**Password:** `hunter2`", "password"),
        ("DB_PASSWORD=tr0ub4dor", "password"),
        ("Call the surgery, 0221 9876 543", "phone number"),
        ("user moon, pw Blue-Whale-7!", "password"),
        ("Door code 4711", "password"),
        ("PIN: 4711", "password"),
        ("密码：月亮2031", "password"),
        ("contraseña: girasol9", "password"),
        ("key ghp_" + "a1B2" * 9, "API key"),
        ("AKIA" + "Q7" * 8, "API key"),
        ("-----BEGIN RSA PRIVATE KEY-----", "private key"),
    ],
)
def test_private(text: str, kind: str) -> None:
    assert kind in private_kinds(text)


@pytest.mark.parametrize(
    "text",
    [
        "IBAN DE89 3704 0044 0532 0130 01 fails its checksum",
        "4111 1111 1111 1112 fails Luhn",
        "The server listens on 127.0.0.1:8080 and port 5432",
        "Version 2026.09.0, build 20261129013458",
        "ISBN 978-3-16-148410-0",
        "commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
        "550e8400-e29b-41d4-a716-446655440000",
        "Password: <your password>",
        "DB_PASSWORD=$DB_PASSWORD",
        "password: changeme",
        "Password: see the vault",
        "The password is kept in the vault",
        "Password rules: at least twelve letters and one digit in each of them",
        "Pin the versions of all 4 packages",
        "Tokens: 2,000 at most; the token: 2000",
        "Wi-Fi: the router stands in the hall",
        "git clone git@github.com:moon/rocket.git",
        "Write to someone@example.com",
        "pytest@8.3.1 and npm i left-pad@1.3.0",
        "2026-11-29 01:34:58, due 12/04/2026",
        "Call the movers at 10:30",
        "error code 4711 and status code 2004",
    ],
)
def test_only_looks_private(text: str) -> None:
    assert private_kinds(text) == ()
