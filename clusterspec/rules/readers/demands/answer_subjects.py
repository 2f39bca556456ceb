"""What the demands of texts on services, caches and reinforcement learning are about."""

from __future__ import annotations

from functools import partial

from clusterspec.rules.readers.demands.subjects import ABOVE, CAPPED, FLOORED, Subject, bound_meanings

# fmt: off
WORDS: tuple[tuple[str, str], ...] = (
    ("finished", "finished complete completed done ready over fertig vollständig* abgeschlossen terminé terminée complet complète fini finie terminad* complet* acabad* terminat* pronta concluíd* gotow* zakończon*"),
    ("cutoff", "cuts cut_off gives_up give_up aborts abort hangs_up timeout times_out disconnects bricht_ab abbricht abbrechen abandonne coupe désiste desiste cuelga corta rinuncia chiude interrompe przerywa rozłącza"),
    ("holding", "able hold handle serve support carry sustain halten bedienen tragen tenir supporter servir soportar atender sostener reggere sostenere suportar obsłużyć utrzymać"),
    ("userword", "user users person people reader readers nutzer nutzerin utilisateur utilisateurs usuario usuarios utente utenti usuário usuários użytkownik użytkownika"),
    ("hitword", "hit hits come comes cached treffer trefferquote succès acierto aciertos procedan venir provenir trafień"),
    ("dialogword", "conversation conversations dialogue dialog session sessions chat gespräch gespräche dialoge sitzung conversación conversaciones sesión sesiones conversazione conversazioni sessione conversa conversas sessão rozmowa rozmowy sesja"),
    ("scored", "score scores scored judge judges judged grade grades graded rate rates bewert* benot* évalue évaluer note puntúa puntuar evalúa valuta valutare avalia avaliar ocenia ocenić"),
    ("rolloutword", "rollout rollouts samples sampling generation stichproben échantillons muestras campioni amostras próbek próbki"),
    ("sendword", "send sends sent transfer transfers übertragen senden envoyer envoie enviar envía inviare invia wysyła wysłać"),
    ("idleword", "idle idles waits waiting wait untätig wartet attend attente inactif espera ocioso attesa inattivo czeka bezczynny"),
    ("rlword", "reinforcement rollout rl policy trainer grpo ppo"),
)
# fmt: on
_CAPS = ("most", "ceil", "upper", "limitword", "permits")
_FLOORS = ("least", "floor", "lower", "must", "duty")
_STRICT = ("most", "ceil", "upper", "limitword")
_bound = partial(bound_meanings, by=_CAPS)
"""Sets of meanings with one of the meanings that bind."""


ANSWER_SUBJECTS = (
    Subject("mean time to the first token", "seconds", ABOVE, _bound("firstword+mean", by=(*_STRICT, "must")), "latencynot", 0.001, 110, 3600.0),
    Subject("mean time between tokens", "time", ABOVE, _bound("pertoken+mean", by=(*_STRICT, "must")), "latencynot firstword", 0.0005, 110, 60.0),
    Subject("rate of a user", "tokens/s of a user", FLOORED, "least floor must duty lower", "mean prompt", 0.5, 90, 5e3),
    Subject("tokens in the cache", "tokens", FLOORED, _bound("cacheword", by=_FLOORS), "each mean prompt answer context", 1e5, 90),
    Subject("hits of the cache", "share", FLOORED, _bound("cacheword+hitword", by=_FLOORS), "mean", 0.05, 110),
    Subject(
        "cached time",
        "time",
        FLOORED,
        _bound("cacheword+kept", "dialogword+pausing", "cacheword+keeps", by=_FLOORS),
        "firstword pertoken checkpoint mean",
        1.0,
        110,
        604800.0,
    ),
    Subject(
        "samples of a step",
        "answers of a step",
        CAPPED,
        _bound("sample+batch", by=("ceil", "upper", "limitword", "permits", "floor", "lower")),
        "mean samplenot question tokens prompt",
        2,
        60,
        counted="sample",
    ),
    Subject("samples of a step", "count of samples", CAPPED, _bound("scored+onestep", by=_STRICT), "mean", 8, 90, counted="sample"),
    Subject("samples a second", "samples/s", FLOORED, "rolloutword+must rolloutword+least rolloutword+floor", "mean", 0.01, 90),
    Subject(
        "bytes of new weights",
        "size",
        ABOVE,
        _bound("weightword+sendword", "newweights+sendword", "weightword+transfer", by=_STRICT),
        "checkpoint stored store keeps devicemem",
        1e8,
        110,
    ),
)  # fmt: skip
"""Subjects of demands on services, caches and reinforcement learning."""
