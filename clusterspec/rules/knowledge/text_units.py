"""Words that texts write behind numbers, in lower case: units of time in seconds, and words that scale a number."""

from __future__ import annotations

from clusterspec.quantity import DAY, HOUR, YEAR

MINUTE = 60.0
MONTH = YEAR / 12
"""Seconds."""


def _table(*rows: tuple[float, str]) -> dict[str, float]:
    return {word: value for value, words in rows for word in words.split()}


TIME_WORDS = _table(
    (1.0, "s sec secs second seconds sekunde sekunden seconde secondes segundo segundos"),
    (MINUTE, "min mins minute minutes minuten minuto minutos"),
    (HOUR, "h hour hours hr hrs std stunde stunden heure heures hora horas ore uur timmar timer"),
    (DAY, "day days tag tage tagen jour jours día días dia dias giorni giorno dagen dag"),
    (7 * DAY, "week weeks woche wochen semaine semaines semana semanas settimane settimana weken"),
    (MONTH, "month months monat monate monaten mois mes meses mesi mese maanden maand månader måneder"),
    (YEAR, "year years yr yrs annum jahr jahre jahren an ans année années año años ano anos anni anno jaar år"),
)
"""Seconds of the units of time, in the singular and the plural."""
SCALE_WORDS = {
    **_table(
        (1e3, "thousand tausend tsd mille mil"),
        (1e6, "million millions millionen millones milhões miljoen milioni mn mio mln mill"),
        (1e9, "billion billions milliarden milliards mrd mld bn"),
        (1e12, "trillion billionen billones"),
    ),
    "mil millones": 1e9,
}
"""What words multiply the number before them by."""
