"""What a text demands of a design: the figure, its subject, and the key that breaks it."""

from __future__ import annotations

import pytest

from clusterspec.rules.readers.demands.figures import MEASURES, demand_figures
from clusterspec.rules.readers.demands.places import PLACES
from clusterspec.rules.readers.demands.quantities import OF_KEYS, QUANTITIES
from clusterspec.rules.readers.demands.quantity_subjects import QUANTITY_SUBJECTS
from clusterspec.rules.readers.demands.quantity_words import WORDS as QUANTITY_WORDS
from clusterspec.rules.readers.demands.reading import demands_in
from clusterspec.rules.readers.demands.subjects import SUBJECTS
from clusterspec.rules.readers.demands.words import SUBJECTS as SUBJECT_WORDS
from clusterspec.rules.readers.demands.words import WORDS
from clusterspec.rules.readers.lexicon import Lexicon

KILO, TERA = 1e3, 1e12
WEEK, YEAR = 604800.0, 31557600.0

DEMANDS = [
    ("Los estatutos permiten pagar antes de la entrega a lo más la cuarta parte, 7,9 millones.", "advance", 0.25),
    ("Die Leute stellen 216.000 Fragen in 21.600 Sekunden.", "request rate", 10.0),
    # a sentence, and what it demands of which subject
    ("The switchboard on our floor was built for 160 kW.", "power", 160 * KILO),
    ("El taller nos cede una línea de 38 kW, ni un vatio más.", "power", 38 * KILO),
    ("Das Archiv von 780 TB muss auf dem Speichersystem liegen.", "store", 780 * TERA),
    # 90 groups of 8 TB
    ("Cada uno de los 90 grupos tiene derecho a 8 TB en el almacenamiento.", "store", 720 * TERA),
    # 4 TB a day for 180 days
    ("Le règlement impose de garder 4 To par jour pendant 180 jours sur le stockage.", "retention", 720 * TERA),
    # 30 % of 850
    ("Of 850 assessors 30 % have a request running at the same moment.", "concurrency", 255.0),
    # 28,800 in 3,600 s
    ("At the busiest time 28,800 callers an hour ask a question.", "request rate", 8.0),
    # 900 x 2 / 60 s
    ("At the peak 900 agents are logged in, and each of them sends 2 requests a minute.", "request rate", 30.0),
    # two sentences, of which the second refers to the first
    ("Les archives font 3,2 Po. Elles doivent tenir en entier sur le stockage.", "store", 3200 * TERA),
    # net of the cooling
    ("The transformer, less pumps and cooling, leaves 120 kW and cannot give more.", "power", 120 * KILO),
    ("Ningún pago anterior a la entrega puede pasar del 20 % del precio.", "advance", 0.2),
    (
        "El protocolo exige que los últimos 48 puntos de control estén siempre en el almacenamiento.",
        "checkpoints kept",
        48.0,
    ),
    ("Il capitolato vuole la prima parola entro 1,5 secondi.", "first token", 1.5),
    ("La fundación paga solo lo que llegue en 16 semanas.", "delivery", 16 * WEEK),
    ("O edital manda reter 40 % do preço até depois da aceitação.", "retained", 0.4),
    ("The policy demands a guarantee for the full 5 years.", "warranty", 5 * YEAR),
    ("De opdrachtgever aanvaardt ten hoogste 20 minuten verloren rekenwerk.", "lost work", 1200.0),
    ("The biggest bundle runs to 48,000 tokens and nothing may be left out.", "prompt", 48000.0),
    ("Every question is answered 16 times by the model.", "samples", 16.0),
    # a time of one unit, and a kept time
    ("At no time may more than one hour of training be lost.", "lost work", 3600.0),
    ("All checkpoints of the last seven days must remain readable.", "kept time", WEEK),
    ("The regulator demands that every saved state of the last seven days can be restored.", "kept time", WEEK),
    ("Die Aufsicht verlangt, dass jeder gespeicherte Stand der letzten sieben Tage lesbar ist.", "kept time", WEEK),
    ("El regulador exige conservar los estados guardados de los últimos siete días.", "kept time", WEEK),
    # 25 TB a day for 30 days, in two sentences
    ("Rohdaten müssen 30 Tage liegen bleiben. Pro Tag fallen 25 TB an.", "retention", 750 * TERA),
    ("Power comes over one feed of 70 kW.", "power", 70 * KILO),
    ("Die zulässige Abwärme des Raums beträgt achtzig kW.", "heat", 80 * KILO),
    # 1,800 x 1 / 60 s, behind what is about a pilot
    (
        "Lo usa el programa piloto: 1.800 docentes entran, y cada uno de ellos envía una pregunta por minuto.",
        "request rate",
        30.0,
    ),
    # 1,800 x 40 / 3,600 s, in two sentences
    (
        "Of 2,300 agents 1,800 sit at a desk at 19:00. Each of them asks for 40 replies in that hour.",
        "request rate",
        20.0,
    ),
    ("The director signed for three full passes, 1.26 trillion tokens.", "tokens", 1.26e12),
    ("Une sauvegarde ne doit jamais arrêter le calcul plus de 20 secondes.", "checkpoint pause", 20.0),
    ("La licencia permite como máximo ocho tarjetas.", "accelerators of a license", 8.0),
    ("Cada nodo lleva cuatro tarjetas de red.", "nics", 4.0),
    ("Jeder Motor nimmt vier Karten.", "accelerators of an engine", 4.0),
    ("Les huit nœuds tiennent dans quatre baies.", "racks", 4.0),
    ("O comitê exige que o lote tenha no máximo 4 milhões de tokens.", "tokens of a step", 4e6),
    ("The price is granted only to those who commit for three years.", "commitment", 3 * YEAR),
    ("De volledige uitvoer moet binnen 20 seconden klaar zijn, tot en met het laatste woord.", "whole answer", 20.0),
    # 900 x 1 / 120 s, and 36,000 / 3,600 s
    ("900 people are logged in and each asks one question every two minutes.", "request rate", 7.5),
    ("Am Stichtag kommen 36.000 Anfragen in der Stunde, und keine darf warten.", "request rate", 10.0),
    ("In the last hour 36,000 questions arrive, and all have to be answered.", "request rate", 10.0),
    ("Zwischen zwei Token dürfen höchstens 30 ms liegen.", "token gap", 0.03),
    ("No cabinet may draw more than 36 kW.", "rack power", 36 * KILO),
    ("Nella sala e nei locali del piano non si superano 80 kW di potenza.", "power", 80 * KILO),
    ("Es darf nie mehr als eine halbe Stunde Rechenarbeit verloren gehen.", "lost work", 1800.0),
    ("The insurer pays only where a state not older than 90 minutes is there.", "lost work", 5400.0),
    ("La convention promet le premier mot en une seconde et demie.", "first token", 1.5),
    ("Les sauvegardes des dix derniers jours doivent rester lisibles.", "kept time", 10 * WEEK / 7),
    ("The contract demands at least 3,000 output tokens per second.", "token rate", 3000.0),
    ("A context of at least 16,384 tokens is required.", "context", 16384.0),
    ("The batch may have at most 512 sequences.", "batch", 512.0),
    ("Il contratto con i revisori prevede un addestramento su almeno 350 miliardi di token.", "tokens", 3.5e11),
    ("Dopo un guasto il calcolo deve essere di nuovo in marcia entro 5 minuti.", "restart time", 300.0),
]


@pytest.mark.parametrize(("text", "subject", "value"), DEMANDS)
def test_a_figure_belongs_to_the_nearest_subject(text: str, subject: str, value: float) -> None:
    found = {each.subject.name: each.value for each in demands_in(text)}
    assert found == {subject: pytest.approx(value)}


NONE = [
    "Checkpoints drain to a bucket in six minutes while training goes on.",
    "The quote is 963,792 after 4 % and 1,060,171.20 with tax.",  # a discount
    "The old cluster had a line of 60 kW.",  # another machine
    "A bidder offered 120 kW in another hall.",
    "If we grew, the hall would have to give 200 kW.",
    "Two UPS units of 90 kW carry the room.",
    "At least 20 % are paid with the order.",  # no upper limit
    "In each rack of the hall stand four servers at 40.8 kW.",  # of one rack
    "12 kW = 4 x 3 kW are what the room must give.",  # figures of a calculation
    "A site in Al Ain offered a low price but only 180 kW.",  # what is set against another site goes on about it
    "The clerks work from 19:00 to 20:30 at the peak.",  # a time of the day
    "Electricity: 26 kW at 70 % are 159 MWh a year before cooling.",  # energy
    "25 TB arrive each day.",  # no delivery
    "A rack draws at most 30.6 kW.",  # what it draws
    "The old state of 5 May is not older than the rack.",  # no figure of a demand
    "The mean prompt of a case file has at most 2,000 tokens.",  # a mean
]


@pytest.mark.parametrize("text", NONE)
def test_a_figure_of_something_else_is_no_demand(text: str) -> None:
    assert [*demands_in(text)] == []


def test_the_tables_name_only_what_exists() -> None:
    meanings = {each for each, _ in (*WORDS, *SUBJECT_WORDS, *QUANTITY_WORDS)}
    for subject in (*SUBJECTS, *QUANTITY_SUBJECTS):
        needed = {each for one in f"{subject.about} {subject.facts}".split() for each in one.split("+")}
        assert needed | {each.lstrip("!") for each in subject.unless.split()} <= meanings, subject.name
        assert subject.measures in MEASURES, subject.name
    assert set(PLACES) == {each.name for each in SUBJECTS} - {"load", "heat", "paid on delivery"}
    assert set(QUANTITIES) == {*OF_KEYS, *(each.name for each in QUANTITY_SUBJECTS)}


def test_a_word_is_in_one_row_of_a_meaning_and_language() -> None:
    for meaning, words in (*WORDS, *SUBJECT_WORDS, *QUANTITY_WORDS):
        assert len(words.split()) == len(set(words.split())), meaning


@pytest.mark.parametrize(
    ("rows", "text", "found"),
    [
        ([("room", "*raum")], "Serverraum, Raumplan", ["room"]),
        ([("most", "no_later_than"), ("other", "later")], "no later than noon, later", ["most", "other"]),
        ([("site", "room")], "the room's door", ["site"]),
    ],
)
def test_words_stems_and_phrases_have_a_meaning(rows: list[tuple[str, str]], text: str, found: list[str]) -> None:
    assert [each.meaning for each in Lexicon(rows).mentions(text)] == found


def test_an_amount_follows_from_two_figures() -> None:
    computed = [each.value for each in demand_figures("500 TB in 1 hour, 12 nodes with 3 TB each") if each.is_computed]
    # 500 TB / 3,600 s, and 12 x 3 TB
    assert computed == [pytest.approx(500 * TERA / 3600), 36 * TERA]
