"""The guard on values: a difference is a veto that says which, the same value in another way is none."""

from __future__ import annotations

import pytest

from jochi_workers.guard import judge

DIFFERENT = [
    ("number", "Anna has 3 dogs at home.", "Anna has 4 dogs at home."),
    ("number", "Anna has three dogs at home.", "Anna has 4 dogs at home."),
    ("number", "The balance is -3 points.", "The balance is 3 points."),
    ("number", "The load is 1.5 on average.", "The load is 15 on average."),
    ("number", "The load is 1.10 on average.", "The load is 1.1 on average."),
    ("number", "Anna finished second in the race.", "Anna finished third in the race."),
    ("number", "Der Preis ist 1.234 Euro.", "Der Preis ist 1,234 Euro."),
    ("number", "The price is 1,234 euros.", "The price is 1.234 euros."),
    ("number", "Anna hat einundzwanzig Bücher gelesen.", "Anna hat zwölf Bücher gelesen."),
    ("number", "The PIN of the door is 0042.", "The PIN of the door is 42."),
    ("unit", "The trip to Rome takes 5 hours.", "The trip to Rome takes 5 days."),
    ("unit", "The freezer is at 20 °C.", "The freezer is at 20 °F."),
    ("unit", "Anna weighs 60 kg.", "Anna weighs 60 lbs."),
    ("unit", "Das Paket wiegt 5 Kilo.", "Das Paket wiegt 5 Gramm."),
    ("currency", "The ticket costs $5.", "The ticket costs €5."),
    ("currency", "The ticket costs 5 CAD.", "The ticket costs 5 dollars."),
    ("currency", "Das Essen hat 5 Franken gekostet.", "Das Essen hat 5 Euro gekostet."),
    ("date", "The contract ends on March 5, 2025.", "The contract ends on March 6, 2025."),
    ("date", "The contract ends on March 5, 2025.", "The contract ends on 2024-03-05."),
    ("date", "Der Vertrag endet am 5. März 2025.", "Der Vertrag endet am 05.04.2025."),
    ("date", "The library came out in 2018.", "The library came out in 2019."),
    ("date", "The call is on 3/4/2025 with the team.", "The call is on 4/3/2025 with the team."),
    ("month", "Anna moved to Rome in May.", "Anna moved to Rome in June."),
    ("month", "Anna ist im März umgezogen.", "Anna ist im Mai umgezogen."),
    ("weekday", "The shop is closed on Monday.", "The shop is closed on Tuesday."),
    ("weekday", "The shop is closed on Monday.", "The shop is closed on Mondays."),
    ("weekday", "Am Samstag hat der Laden zu.", "Am Sonntag hat der Laden zu."),
    ("time", "The standup is at 3 pm.", "The standup is at 3 am."),
    ("time", "The standup is at 15:00.", "The standup is at 15:30."),
    ("time", "Das Treffen ist um 9 Uhr.", "Das Treffen ist um 10 Uhr."),
    ("version", "The client needs version 1.2.3 of the library.", "The client needs version 1.2.4 of the library."),
    ("version", "The client needs version v2 of the library.", "The client needs version v3 of the library."),
    ("identifier", "The logs are on web-03 today.", "The logs are on web_03 today."),
    ("identifier", "The logs are in /srv/Report of the host.", "The logs are in /srv/report of the host."),
    ("identifier", "The switch dark_mode is on again.", "The switch dark.mode is on again."),
    ("identifier", "The switch dark_mode is on again.", "The switch Dark_mode is on again."),
    ("identifier", "Write to anna.b@example.org about it.", "Write to anna_b@example.org about it."),
    (
        "identifier",
        "The fix is in commit fa5ae57 of the repository.",
        "The fix is in commit fa5ae58 of the repository.",
    ),
    ("identifier", "Run the build with --force on the host.", "Run the build with --no-force on the host."),
    ("identifier", "The server answers at 10.0.0.1 again.", "The server answers at 10.0.0.2 again."),
    ("quoted", 'The book is called "North of nowhere".', 'The book is called "Paper boats".'),
    ("quoted", "Das Buch heißt „Der Weg“ bei uns.", "Das Buch heißt „Das Ziel“ bei uns."),
]


@pytest.mark.parametrize(("reason", "left", "right"), DIFFERENT, ids=[f"{d[0]}: {d[1]}" for d in DIFFERENT])
def test_a_difference_is_a_veto_that_names_it(reason: str, left: str, right: str) -> None:
    said = judge(left, right, cosine=1.0)
    assert said.verdict == "veto"
    assert reason in said.reasons
    assert judge(right, left, cosine=1.0) == said


SAME = [
    ("Anna has 5 dogs.", "Anna has five dogs."),
    ("Anna paid 25 euros for it.", "Anna paid twenty-five euros for it."),
    ("Anna has 2.5 million users.", "Anna has 2,500,000 users."),
    ("Anna has two hundred and five users.", "Anna has 205 users."),
    ("Anna has 6,850 users.", "Anna has 6850 users."),
    ("Anna hat zweihundertfünf Nutzer.", "Anna hat 205 Nutzer."),
    ("Anna hat 2,5 Millionen Nutzer.", "Anna hat 2.500.000 Nutzer."),
    ("Der Rechner hat 1.500 Euro gekostet.", "Der Rechner hat 1500 € gekostet."),
    ("The clock has an offset of −7 seconds.", "The clock has an offset of minus 7 s."),
    ("The clock has an offset of +7 seconds.", "The clock has an offset of 7 seconds."),
    ("The ticket costs $5.", "The ticket costs USD 5."),
    ("The ticket costs $5.00.", "The ticket costs five dollars."),
    ("The ticket costs CHF 90.", "The ticket costs 90 Swiss francs."),
    ("Anna runs 5 km every day.", "Anna runs 5 kilometres every day."),
    ("Anna lost 12 pounds in a year.", "Anna lost 12 lbs in a year."),
    ("The rent is 800 pounds a month.", "The rent is £800 a month."),
    ("The freezer is at -16 °C.", "The freezer is at -16°C."),
    ("The freezer is at 16 degrees Celsius.", "The freezer is at 16 °C."),
    ("The disk is 90 % full.", "The disk is 90 percent full."),
    ("The standup is at 3 pm.", "The standup is at 15:00."),
    ("The standup is at 3 p.m.", "The standup is at 3:00 PM."),
    ("The standup is at noon.", "The standup is at 12 pm."),
    ("Das Treffen ist um 16.45 Uhr.", "Das Treffen ist um 16:45 Uhr."),
    ("Das Treffen ist um 16 Uhr.", "Das Treffen ist um 16:00 Uhr."),
    ("The contract ends on March 5, 2025.", "The contract ends on 2025-03-05."),
    ("The contract ends on 5 March 2025.", "The contract ends on the 5th of March 2025."),
    ("Der Vertrag endet am 5. März 2025.", "Der Vertrag endet am 05.03.2025."),
    ("Der Vertrag endet am 5. März.", "Der Vertrag endet am 5.3."),
    ("Am Sonnabend hat der Laden zu.", "Am Samstag hat der Laden zu."),
    ("The client needs version v1.2.3 of the library.", "The client needs version 1.2.3 of the library."),
    ("The new logo is grey.", "The new logo is gray."),
    ("Anna doesn't like tea.", "Anna does not like tea."),
]


@pytest.mark.parametrize(("left", "right"), SAME, ids=[one[0] for one in SAME])
def test_the_same_value_in_another_way_merges(left: str, right: str) -> None:
    assert judge(left, right, cosine=0.96).verdict == "merge"
    assert judge(right, left, cosine=0.96).verdict == "merge"


def test_a_time_that_may_be_in_the_morning_or_in_the_evening_is_left_to_a_person() -> None:
    assert judge("The call is at 7:15.", "The call is at 7:15 am.", cosine=1.0).verdict == "flag"
    assert judge("The call is at 7:15.", "The call is at 7:15 pm.", cosine=1.0).verdict != "merge"


def test_more_said_is_no_contradiction_but_no_duplicate_either() -> None:
    said = judge("Anna moved to Rome.", "Anna moved to Rome in May.", cosine=1.0)
    assert said.verdict == "flag"
    assert "month" in said.reasons


@pytest.mark.parametrize("cosine", [None, float("nan"), float("inf")], ids=["None", "nan", "inf"])
def test_without_a_cosine_only_the_same_words_merge(cosine: float | None) -> None:
    assert judge("Anna has 5 dogs.", "Anna has five dogs.", cosine=cosine).verdict == "flag"
    assert judge("Anna has 5 dogs.", "anna has 5 dogs", cosine=cosine).verdict == "merge"
