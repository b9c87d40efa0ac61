"""The guard on words and how they hang together: names, negation, opposites, roles, order."""

from __future__ import annotations

import pytest

from jochi_workers.guard import judge

VETOED = [
    ("negation", "Anna smokes.", "Anna does not smoke."),
    ("negation", "Anna is a smoker.", "Anna is a non-smoker."),
    ("negation", "The bug wasn't fixed.", "The bug was fixed."),
    ("negation", "Anna isst Pilze.", "Anna isst keine Pilze."),
    ("negation", "Der Vertrag wurde nicht unterschrieben.", "Der Vertrag wurde unterschrieben."),
    ("name", "Anna likes tea very much.", "Ben likes tea very much."),
    ("name", "The team is in Lima now.", "The team is in Rome now."),
    ("name", "Quelltal beliefert die Firma.", "Norvia beliefert die Firma."),
    ("colour", "The new logo is red.", "The new logo is green."),
    ("colour", "Das neue Rad ist rot.", "Das neue Rad ist grün."),
    ("direction", "The office faces north.", "The office faces south."),
    ("antonym", "The tap opens to the left side.", "The tap opens to the right side."),
    ("antonym", "Anna loves tea.", "Anna hates tea."),
    ("antonym", "The service starts before the database.", "The service starts after the database."),
    ("antonym", "Data is copied from web-1.", "Data is copied to web-1."),
    ("antonym", "Der Schalter ist an.", "Der Schalter ist aus."),
    ("antonym", "Das Token erlaubt Lesezugriff.", "Das Token erlaubt Schreibzugriff."),
    ("word", "Anna plays the cello.", "Anna plays the trumpet."),
    ("word", "Anna isst gern Nudeln.", "Anna isst gern Bohnen."),
    ("role", "Anna paid Ben.", "Ben paid Anna."),
    ("role", "Anna paid Ben.", "Anna was paid by Ben."),
    ("role", "Anna was paid by Ben.", "Ben was paid by Anna."),
    ("role", "Anna hat Ben geholfen.", "Ben hat Anna geholfen."),
    ("role", "Anna wurde von Ben eingeladen.", "Anna hat Ben eingeladen."),
    ("role", "Am Montag vertritt Anna Ben.", "Ben vertritt Anna am Montag."),
    ("role", "The train goes from Rome to Lima.", "The train goes from Lima to Rome."),
    ("role", "Anna's mother likes Ben.", "Ben's mother likes Anna."),
    ("role", "Anna has 5 apples and 3 pears.", "Anna has 3 apples and 5 pears."),
]


@pytest.mark.parametrize(("reason", "left", "right"), VETOED, ids=[f"{v[0]}: {v[1]} / {v[2]}" for v in VETOED])
def test_a_difference_in_meaning_is_a_veto_that_names_it(reason: str, left: str, right: str) -> None:
    said = judge(left, right, cosine=1.0)
    assert said.verdict == "veto"
    assert reason in said.reasons
    assert judge(right, left, cosine=1.0) == said


APART = [
    ("The man in Lima called the woman near Rome.", "The man near Rome called the woman in Lima."),
    ("Carlos lives in Lima and works near Rome.", "Carlos lives near Rome and works in Lima."),
    ("Den Hund biss der Mann.", "Der Hund biss den Mann."),
    ("Anna has a teacher.", "Anna is a teacher."),
    ("Anna was invited.", "Anna invited."),
    ("Anna ist eingeladen.", "Anna hat eingeladen."),
    ("The dog bit the man.", "The man bit the dog."),
    ("Anna moved to Rome.", "Anna will move to Rome."),
    ("Anna lives in Rome.", "Anna lived in Rome."),
    ("Anna wohnt in Rom.", "Anna wohnte in Rom."),
    ("Anna war Lehrerin.", "Anna ist Lehrerin."),
    ("Anna has lived in Rome for 3 years.", "Anna lived in Rome for 3 years."),
    ("Er geht in die Küche.", "Er geht in der Küche."),
    ("Anna is coming?", "Anna is coming."),
    ("No, Anna is coming.", "No Anna is coming."),
    ("Anna can swim.", "Anna must swim."),
    ("Anna likes tea, not coffee.", "Anna likes coffee, not tea."),
    ("Anna likes tea but not coffee.", "Anna likes coffee but not tea."),
    ("Anna is not sure Ben will come.", "Anna is sure Ben will not come."),
    ("The cat is faster than the dog.", "The dog is faster than the cat."),
    ("The red box is on the blue table.", "The blue box is on the red table."),
    ("Anna mag schwarzen Kaffee und heiße Milch.", "Anna mag heißen Kaffee und schwarze Milch."),
    ("The flight on Monday was booked in May.", "The flight in May was booked on Monday."),
    ("On Monday Anna flies to Rome and on Friday to Lima.", "On Friday Anna flies to Rome and on Monday to Lima."),
    ("If Anna calls, Ben leaves.", "If Ben leaves, Anna calls."),
    ("Anna stopped to smoke.", "Anna stopped smoking."),
    ("Anna adopted a dog.", "Anna adopted dogs."),
    ("Anna's car is fast.", "Anna's car is faster."),
    ("The list has A, B and C.", "The list has A, B or C."),
    ("He likes his dog.", "He likes her dog."),
    ("Er sah sie gestern.", "Sie sah ihn gestern."),
    ("Anna works for IT.", "Anna works for it."),
    ("The value is x > 5.", "The value is x < 5."),
    ("Anna left 👍", "Anna left 👎"),
    ("Anna hat Ben gesehen, Carl nicht.", "Anna hat Carl gesehen, Ben nicht."),
    ("Anna liebt Ben und hasst Carl.", "Anna liebt Carl und hasst Ben."),
    ("Anna loves Ben and hates Carl.", "Anna loves Carl and hates Ben."),
    ("The password is Secret.", "The password is secret."),
    ("Anna stellt Ben Carl vor.", "Anna stellt Carl Ben vor."),
    ("Nicht alle Nutzer können sich anmelden.", "Alle Nutzer können sich nicht anmelden."),
    ("Not all users can log in.", "All users can not log in."),
    ("Tea is something Anna said Ben likes.", "Tea is something Ben said Anna likes."),
    ("Tea was something Anna likes.", "Anna likes tea."),
    ("When it rains, Anna reads books.", "When Anna reads books, it rains."),
    ("When it rains, Anna reads books.", "It rains when Anna reads books."),
    ("If Anna calls, Ben leaves.", "Anna calls if Ben leaves."),
    ("Anna hätte Ben geholfen.", "Anna hat Ben geholfen."),
    ("Increase the limit from 5 to 10.", "Increase the limit from 10 to 5."),
    ("All users can log in.", "Some users can log in."),
    ("Anna never smokes.", "Anna does not smoke."),
]


@pytest.mark.parametrize(("left", "right"), APART, ids=[f"{one[0]} / {one[1]}" for one in APART])
def test_what_means_something_else_does_not_merge(left: str, right: str) -> None:
    assert judge(left, right, cosine=1.0).verdict != "merge"
    assert judge(right, left, cosine=1.0).verdict != "merge"


TOGETHER = [
    ("Anna paid Ben.", "Ben was paid by Anna."),
    ("Anna did not pay Ben.", "Ben was not paid by Anna."),
    ("Anna hat Ben eingeladen.", "Ben wurde von Anna eingeladen."),
    ("On Monday, Anna calls Ben.", "Anna calls Ben on Monday."),
    ("Am Montag ruft Anna Ben an.", "Anna ruft Ben am Montag an."),
    ("Im Mai hat Anna Ben geheiratet.", "Anna hat Ben im Mai geheiratet."),
    ("Anna likes tea, milk and coffee.", "Anna likes coffee, tea and milk."),
    ("Anna braucht Tee, heiße Milch und Kaffee.", "Anna braucht Kaffee, Tee und heiße Milch."),
    ("Ben's new car is red.", "The new car of Ben is red."),
    ("The bug isn't fixed.", "The bug is not fixed."),
    ("Anna is learning the cello.", "Anna is learning the cello"),
    ("Tea is something Anna likes.", "Anna likes tea."),
    ("Tea is something Anna does not like in summer.", "Anna does not like tea in summer."),
    ("When it rains, Anna reads books.", "Anna reads books when it rains."),
    ("FYI: Anna moved to Rome.", "Anna moved to Rome."),
    ("Anna moved to Rome. Just so you know.", "Anna moved to Rome."),
    ("Übrigens: Anna ist nach Rom gezogen.", "Anna ist nach Rom gezogen."),
    ("Please send the report to Ben.", "Send the report to Ben."),
    ("ANNA MOVED TO ROME IN MAY.", "Anna moved to Rome in May."),
    ("Anna\u00admoved to  Rome.".replace("\u00adm", "\u00a0m"), "Anna moved to Rome."),
    ("* Anna moved to Rome!", "Anna moved to Rome."),
]


@pytest.mark.parametrize(("left", "right"), TOGETHER, ids=[f"{one[0]} / {one[1]}" for one in TOGETHER])
def test_the_same_in_other_words_merges(left: str, right: str) -> None:
    assert judge(left, right, cosine=0.96).verdict == "merge"
    assert judge(right, left, cosine=0.96).verdict == "merge"
