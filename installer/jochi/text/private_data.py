"""Which kinds of personal data and secrets a line shows by its form alone: checksums, known beginnings, words before a value."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

import regex


def private_kinds(text: str) -> tuple[str, ...]:
    """Kinds that stand in ``text``, in the order of the table: `IBAN`, `card number`, `e-mail address`, `phone number`,
    `password`, `API key`, `private key`; none where nothing is found. The values themselves are never part of it.

    Placeholders (`<password>`, `$TOKEN`, `changeme`) and addresses of `example` domains aren't private. Names, places and
    what else has no form of its own aren't found.
    """
    return tuple(kind for kind, shows in _KINDS.items() if shows(text))


def _is_iban(text: str) -> bool:
    return any(_has_iban_checksum(re.sub(r"[ \u00a0-]", "", found[0])) for found in _IBAN.finditer(text))


def _has_iban_checksum(number: str) -> bool:
    """By ISO 13616, with the length of its country: what stands behind it may have been read with it."""
    part = number[: _IBAN_LENGTHS.get(number[:2], 0)]
    return bool(part) and int("".join(str(int(each, 36)) for each in part[4:] + part[:4])) % 97 == 1


def _is_card(text: str) -> bool:
    return any(_has_card_checksum(re.sub(r"\D", "", found[0])) for found in _CARD.finditer(_IBAN.sub(" ", text)))


def _has_card_checksum(digits: str) -> bool:
    """By Luhn (ISO/IEC 7812)."""
    if not 13 <= len(digits) <= 19 or len(set(digits)) == 1:
        return False
    doubled = [int(each) * (2 if at % 2 else 1) for at, each in enumerate(reversed(digits))]
    return sum(each - 9 if each > 9 else each for each in doubled) % 10 == 0


def _is_mail(text: str) -> bool:
    return any(not _EXAMPLE_DOMAIN.search(found[0]) for found in _MAIL.finditer(text))


def _is_phone(text: str) -> bool:
    """One with its country, one in groups that begins with 0, or one that a word says to be a phone's."""
    if sum(map(str.isdigit, text)) < _PHONE_DIGITS:
        return False
    from jochi.text.phones import numbers  # its tables take a tenth of a second, and few texts have so many digits

    text = _CARD.sub(" ", _IBAN.sub(" ", text))
    return any(
        number.international or _TRUNK.match(text, start, stop) or _compiled(_PHONE_WORD).search(text[:start])
        for start, stop, number in numbers(text)
    )


def _is_password(text: str) -> bool:
    return any(not _compiled(_PLACEHOLDER).match(found["value"]) for found in _compiled(_PASSWORD).finditer(text))


def _is_key(text: str) -> bool:
    return any(not _compiled(_PLACEHOLDER).search(found[0]) for found in _API_KEY.finditer(text))


def _is_private_key(text: str) -> bool:
    return "PRIVATE KEY" in text and _PRIVATE_KEY.search(text) is not None


@cache
def _compiled(pattern: str) -> regex.Pattern[str]:
    """Only once a text is read: it takes some hundredths of a second, and most commands read none."""
    return regex.compile(pattern, regex.IGNORECASE)


_PHONE_DIGITS = 7
# Of each country's IBAN, in characters (the registry of ISO 13616).
_IBAN_LENGTHS = {
    country: length
    for length, countries in {
        15: "NO", 16: "BE", 18: "DK FI FO GL NL", 19: "MK SI", 20: "AT BA EE KZ LT LU XK", 21: "CH HR LI LV",
        22: "BG BH CR DE GB GE IE ME RS VA", 23: "AE GI IL IQ TL", 24: "AD CZ ES MD PK RO SA SE SK TN VG", 25: "LY PT ST",

        26: "IS TR", 27: "FR GR IT MC MR SM", 28: "AL AZ BY CY DO GT HU LB PL SV",
        29: "BR EG PS QA UA", 30: "JO KW MU", 31: "MT SC", 32: "LC",
    }.items()
    for country in countries.split()
}  # fmt: skip
_IBAN = re.compile(r"(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?:[ \u00a0-]?[A-Z0-9]){11,30}(?![a-z])")
_CARD = re.compile(r"(?<![\w.+-])[3-6]\d{3}(?:[ -]?\d){9,15}(?![\w-]|\.\d)")
_MAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@(?:[\w-]{1,63}\.){1,8}[^\W\d_]{2,24}(?![\w-]|:\w|/)")
_EXAMPLE_DOMAIN = re.compile(
    r"[@.](?:example(?:\.(?:com|net|org))?|invalid|test|localhost)$|^(?:git|noreply|no-reply)@", re.IGNORECASE
)
_TRUNK = re.compile(r"\(?0[1-9]\d{0,4}\)?[ /]\d(?:[ /-]?\d){5,10}$")
_PHONE_WORD = (
    r"\b(?:phone|mobile|cell|telephone|tel|fax|whatsapp|telefon\w*|handy\w*|mobil\w*|festnetz\w*|rufnummer|"
    r"téléphone|portable|teléfono|móvil|telefono|cellulare|telefoon|电话|手机|電話|телефон)\b\W{0,6}"
    r"(?:(?:number|nummer|is|ist|lautet|no|nr)\b\W{0,4}){0,2}$"
)
# Between the word and its value stands a sign, or a verb. Words that mean other things, too, need a value with digits, and so
# does a verb. A value that is only a word is one where nothing is said after it.
_SIGN = r"(?:\s*\([^()\n]{1,40}\))?[ *_`\"']{0,4}[:=：→—–][ *_`\"']{0,4}"
_QUOTE = r"[`\"'*]{0,3}"
_VERB = r"(?:\s+(?:is|ist|lautet|est|es|è|é|jest|to)[: ]\s*|\s*(?:は|是|为)\s*(?!\d+\p{L}))"
_END = r"(?:(?<=[\d!?#$%&@][^\s*`\"',;]{0,40})(?![^\n]*(?: [^\s]+){4})|(?!\s+[\p{L}\p{N}]))"
_OF = r"(?:[ -]\p{L}{1,20}){0,4}"
# Letters, a digit and a mark, as few words have them: `word-word-38`.
_STRONG = r"(?P<value>(?=[^\s]*\d)(?=[^\s]*\p{L})(?=[^\s]*[!?#$%&@=+*_~^-])[^\s`\"'*,;][^\s`\"',;]{5,})"
_DIGITS = r"(?P<value>\d{4,8}|(?!\d{4}-\d\d-\d)(?=(?:\D?\d){4})\d{1,4}(?:[- ]\d{1,4}){2,3})(?![\w.:/-]\w)"
_WORD = (
    r"(?:pass(?:word|code|phrase)|passwd|pwd|(?:passwort|kennwort)(?:e?s)?|geheimzahl|zugangscode|(?<!\p{L})puk|"
    r"mots? de passe|contraseña|clave (?=del? |:)|senha|"
    r"wachtwoord|lösenord|hasło|şifre(?:si|miz|m)?|parola(?:sı)?|парол[ья]|密码|密碼|パスワード|비밀번호)"
)
_WIFI = r"(?:wi-?fi|wlan)"
_PASSWORD = (
    rf"(?:{_WORD}"
    rf"(?:{_SIGN}(?P<value>[^\s*`\"',;]{{3,}}+){_END}|{_VERB}{_QUOTE}(?P<value>(?=[^\s]*[\d!?#$%&@])[^\s`\"'*]{{4,}})"
    rf"|{_OF}(?:{_SIGN}|{_VERB}){_QUOTE}{_STRONG}|\s+{_QUOTE}{_STRONG})"
    r"|(?:password|passwort|kennwort)\s+(?:for|für) [^\n:]{1,40} (?:is|ist|lautet)[: ]\s*"
    rf"{_QUOTE}(?P<value>(?=[^\s]*[\d!?#$%&@])[^\s`\"'*]{{4,}})"
    rf"|(?<!\p{{L}})pin(?:[- ]?(?:code|number|nummer))?(?:{_OF}(?:{_SIGN}|{_VERB})|\s+)"
    + _DIGITS
    + r"|(?<!\p{L})pw\s+(?P<value>(?=[^\s]*\d)(?=[^\s]*[!?#$%&@=+*])[^\s`\"'*]{6,})"
    r"|(?:(?:door|gate|alarm|pickup|entry)[- ]code|(?:tür|tor|alarm|abhol|zugangs)code|code de la porte|código de la puerta|"
    rf"codice (?:della porta|del cancello))(?:{_OF}(?:{_SIGN}|{_VERB})|[:= ]+)(?:{_DIGITS}|(?P<value>\d{{1,4}}[A-Z]\d{{1,4}}\b))"
    rf"|{_WIFI}(?:[- ]?(?:key|pw|schlüssel))?{_SIGN}(?P<value>(?=[^\s]*\d)[^\s*`\"',;]{{8,}})"
    rf"|{_WIFI}{_OF}{_SIGN}{_STRONG}"
    rf"|(?:secret|token|api[-_ ]?key|access[-_ ]?key){_SIGN}(?P<value>(?=[^\s]*\d)(?=[^\s]*[a-zA-Z])[^\s*`\"',;]{{12,}})"
    r"|://[^\s/:@]{1,60}:(?!password@|secret@|pass@)(?P<value>[^\s/@]{3,80})@"
    r"|curl\s(?:[^\n]{0,200}\s)?(?:-u|--user)[ =][^\s:]{1,60}:(?P<value>[^\s]{4,})"
    r"|bearer\s+(?P<value>(?=[^\s]*\d)[\w.~+/-]{16,})"
    rf"|(?:login|zugang|user(?:name)?)\W{{1,3}}[^\s/]{{2,40}} ?/ ?{_STRONG}"
    r"|(?<=@)[\w.-]{3,80} ?/ ?(?P<value>(?=[^\s]*\d)(?=[^\s]*\p{L})[^\s`\"',;/]{6,})"
    r")"
)
_PLACEHOLDER = (
    r"[<{\[$%(]|\.{3}|…|x{3,}|\*{3,}|your[-_]?|dein|change[-_]?me|example|placeholder|redacted|none\b|null\b|true\b|false\b|"
    r"(?:in|see|siehe|im|the|ask|from|required|optional|stored|never|always|use|set|str|string|os|process|env)\b"
)
# As their providers document them: OpenAI and Anthropic, GitHub, GitLab, AWS, Google, Slack, Stripe, SendGrid, npm, PyPI,
# Hugging Face, and JSON Web Tokens (RFC 7519).
_API_KEY = re.compile(
    r"(?<![\w-])(?:sk-(?:ant-|proj-)?[\w-]{20,}|gh[pousr]_\w{36,}|github_pat_\w{22,}|glpat-[\w-]{20,}|(?:AKIA|ASIA)[A-Z0-9]{16}|"
    r"AIza[\w-]{35}|xox[abeprs]-[\w-]{10,}|[sr]k_(?:live|test)_\w{16,}|SG\.[\w-]{16,}\.[\w-]{16,}|npm_\w{36}|pypi-[\w-]{30,}|"
    r"hf_[A-Za-z0-9]{30,}|eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,})"
)
_PRIVATE_KEY = re.compile(r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----")

_KINDS: dict[str, Callable[[str], bool]] = {
    "IBAN": _is_iban,
    "card number": _is_card,
    "e-mail address": _is_mail,
    "phone number": _is_phone,
    "password": _is_password,
    "API key": _is_key,
    "private key": _is_private_key,
}

KINDS = tuple(_KINDS)
"""All that `private_kinds` knows, in its order."""
