"""Queues of requests and prompts of serving engines. Times in seconds, rates per second."""

from __future__ import annotations

from math import erf, exp, expm1, log, pi, sqrt

from clusterspec.cost.formulas import formula
from clusterspec.cost.formulas.compute import larger, power, smaller

MOST_FLAT = 0.01
"""Lower bound of the curvature of a distribution of requests over places, relative to its curvature if the service time
does not depend on the number of requests.
"""
MOST_ALIKE = 1e-6
"""Relative difference below which two means are taken as equal."""
FULLEST_COUNTED = 500
"""The largest number of prompts in a step that is evaluated term by term."""


@formula("max(0, concurrency - places) / places * output_tokens * tpot")
def queue_wait(concurrency: float, places: float, output_tokens: float, tpot: float) -> float:
    """The seconds that a request waits if more requests are in flight than there are places.

    Source: Little, Operations Research 9(3), 1961.

    Range: places > 0.

    >>> queue_wait(150, 100, 1000, 0.02)
    10.0
    """
    return larger(0.0, concurrency - places) / places * output_tokens * tpot


@formula("busy * prompt / 2 + load * load / (2 * (1 - load)) * service")
def prompt_wait(load: float, service: float, busy: float, prompt: float) -> float:
    """Mean wait of a prompt in seconds: half the running step (if any, probability ``busy``) and earlier prompts.

    ``service`` is the time of each prompt at a ``load`` below 1, ``prompt`` the time of a step. Arrivals are a Poisson
    process.

    Source: the Pollaczek–Khinchine formula of a queue with one server and equal service times (M/D/1), of which the
    residual step is the first part.

    Range: load < 1.

    >>> prompt_wait(0.5, 0.2, 0.5, 0.2)
    0.1
    """
    return busy * prompt / 2 + load * load / (2 * (1 - load)) * service


def variation_wait(load: float, service: float, bunching: float, spread: float) -> float:
    """The additional mean wait of a prompt, in seconds, relative to Poisson arrivals of equal prompts of ``service``
    seconds.

    ``spread`` is the squared coefficient of variation of service times; ``bunching`` is the squared variation of
    interarrival times, minus one. For batches of geometric size, ``bunching`` is twice the number of requests that
    arrive together with one, and these wait for each other at any load. At low load gamma arrivals wait less: with the
    cube root of the load as a factor, the wait is within 12 % of theirs at loads from 0.02 to 0.9 with variations from
    2 to 8, by Spitzer's identity (Trans. Amer. Math. Soc. 82, 1956).

    Source: the Pollaczek–Khinchine formula, with service times that vary, and with batches of arrivals (Kleinrock,
    Queueing Systems 1, 1975, section 5.10).

    Range: load > 0, load < 1.

    >>> variation_wait(0.5, 0.2, 0.0, 1.0)
    0.1
    >>> round(0.25 + variation_wait(0.5, 1.0, 15.0, 0.0), 1)  # with the wait of a Poisson process; exact is 12.3
    12.2
    """
    return service * (bunching * power(load, 1 / 3) + spread * load) / (2 * (1 - load))


def bunched_requests(flight: float, bunching: float) -> float:
    """The additional requests in flight that an average request meets, relative to Poisson arrivals with ``flight`` in
    flight.

    ``bunching`` is the squared coefficient of variation of interarrival times, minus one. The requests in flight
    arrived within a window of time. In a clustered process a request meets (variance − mean) / mean more requests: all
    of ``bunching`` for long windows, less for windows shorter than a cluster. The result is within 0.1 of gamma
    arrivals.

    Source: Cox and Lewis, The Statistical Analysis of Series of Events, 1966, section 4.5 (index of dispersion).

    Range: flight > 0.

    >>> bunched_requests(10.0, 0.0), round(bunched_requests(10.0, 15.0), 1)  # exact is 11.9
    (0.0, 11.7)
    """
    return bunching * power(flight / (flight + abs(bunching) + 1e-300), 0.27)


def prompts_left_behind(busy: float, load: float, places: float, *, engines: float = 1.0) -> float:
    """The mean number of prompts that wait on an engine when a prompt ends, if engines run all prompts before they
    decode: prompts that arrived while it ran, and prompts beyond the token budget of earlier steps.

    An engine runs prompts for the share ``busy`` of the time; ``load`` is the rate of prompts over the rate of full
    steps with ``places`` prompts each. On average, as many prompts remain when a prompt ends as it found when it came.
    It goes to the engine with the fewest prompts, so it finds a prompt only if each of the n engines has one.

    Source: Burke, "The output of a queuing system", Oper. Res. 4, 1956; Sakasegawa, "An approximation formula L_q = α
    ρ^β / (1 − ρ)", Ann. Inst. Statist. Math. 29, 1977, for times that do not vary.

    Range: busy <= 1, load < 1, places >= 1, engines >= 1.

    >>> prompts_left_behind(0.5, 0.5, 1.0)  # one place: 0.5 and 0.5² / 2 (1 − 0.5)
    0.75
    >>> round(prompts_left_behind(0.5, 0.5, 1.0, engines=7), 3)  # 0.5³ and 0.5⁴ / 7 · 2 (1 − 0.5)
    0.134
    """
    queued = power(load, sqrt(2 * (places * engines + 1))) / (2 * (1 - load)) / engines
    return power(busy, sqrt(2 * (engines + 1)) - 1) + queued


def gamma_median(mean: float, shape: float) -> float:
    """The median of a gamma distribution: mean (1 − 1 / 9 k)³, and 0 where its shape k is small.

    Source: Wilson and Hilferty, "The distribution of chi-square", Proc. Natl. Acad. Sci. 17, 1931.

    Range: shape > 0.

    >>> round(gamma_median(2.0, 2.0), 2)  # exact is 1.678
    1.68
    """
    return mean * power(larger(0.0, 1 - 1 / (9 * shape)), 3)


def requests_amid_run(requests: float, rate: float, seconds: float) -> float:
    """The average number of requests in flight during a request of a benchmark run, including the request itself.

    ``requests`` come at a ``rate`` per second, and each runs for ``seconds``.

    The number in flight rises linearly, stays constant, and falls linearly. With ``a`` seconds of arrivals, a request
    meets rate · seconds (1 - seconds / 3a) if seconds < a, else requests (1 - a / 3 seconds).

    Source: the integral of n² divided by the integral of n, with n requests running at a time.

    Range: requests > 0, rate > 0, seconds > 0.

    >>> round(requests_amid_run(1e6, 2.0, 5.0), 2), round(requests_amid_run(30.0, 1e9, 5.0), 2)
    (10.0, 30.0)
    >>> round(requests_amid_run(200.0, 10.0, 20.0), 6), round(requests_amid_run(200.0, 10.0, 10.0), 6)
    (133.333333, 83.333333)
    """
    arriving = requests / rate
    part = smaller(seconds, arriving) / larger(seconds, arriving)
    return requests * smaller(1.0, seconds / arriving) * (1 - part / 3)


def requests_before(rate: float, arriving: float, seconds: float) -> float:
    """The average number of requests in flight when a request of a benchmark run arrives.

    Requests come at a ``rate`` per second for ``arriving`` seconds, and each runs for ``seconds``: the number rises
    until the first one ends.

    Source: the mean of min(t, seconds) over the arrivals, times the rate.

    Range: rate > 0, arriving > 0, seconds > 0.

    >>> requests_before(10.0, 20.0, 40.0), requests_before(10.0, 20.0, 10.0)  # half of 200; 100, fewer at first
    (100.0, 75.0)
    """
    rising = smaller(seconds, arriving)
    return rate * rising * (1 - rising / (2 * arriving))


def arrivals_of_run(met: float) -> float:
    """The duration of a request divided by the duration of a run's arrivals, at most 1.

    ``met`` is the share of the run's requests that one meets on average (`requests_amid_run`); x solves met = x (1 - x
    / 3).

    Source: arithmetic.

    Range: met > 0, met <= 1.

    >>> arrivals_of_run(5 / 12), arrivals_of_run(1.0)
    (0.5, 1.0)
    """
    return smaller(1.0, (3 - power(larger(0.0, 9 - 12 * met), 0.5)) / 2)


def prompts_amid_run(met: float) -> float:
    """The mean number of prompts that arrive during a request of a run, divided by the mean of requests in flight.

    A request that runs for the share x of the arrival time meets the prompts of the next x of the requests, fewer at
    the end.

    Source: arithmetic; integration of min(x, rest of the arrivals).

    Range: met > 0, met <= 1.

    >>> round(prompts_amid_run(5 / 12), 3), prompts_amid_run(1.0)  # (1 / 2 - 1 / 8) / (5 / 12)
    (0.9, 0.5)
    """
    share = arrivals_of_run(met)
    return share * (1 - share / 2) / met


def median_prompts_amid_run(met: float) -> float:
    """`prompts_amid_run` for the median request. If requests run for a share x below 1/2 of the arrival time, more than
    half of them meet all prompts of the next x.

    Source: arithmetic.

    Range: met > 0, met <= 1.

    >>> round(median_prompts_amid_run(5 / 12), 3), median_prompts_amid_run(1.0)
    (1.2, 0.5)
    """
    return smaller(arrivals_of_run(met), 0.5) / met


def steps_wait(load: float, places: float, running: float) -> float:
    """Seconds that a prompt waits on average for full steps of earlier prompts; ``running`` is the length of a step.

    Each step has ``places`` for prompts and uses the share ``load`` of them; with one place, load / (1 - load) steps.

    Source: Sakasegawa, "An approximation formula L_q = α ρ^β / (1 − ρ)", Ann. Inst. Statist. Math. 29, 1977, for
    queues with several servers, here the places of a step.

    Range: load < 1, places >= 1.

    >>> steps_wait(0.5, 1, 0.1), round(steps_wait(0.5, 8, 0.1), 6)
    (0.1, 0.002641)
    """
    return running * power(load, sqrt(2 * (places + 1)) - 1) / (places * (1 - load))


def prompt_steps(steps: float, prompts: float, decoding: float, each: float) -> float:
    """An improved estimate of the number of prompt-only steps per decode step, where prompts have priority. A
    prompt-only step takes ``each`` seconds, a decode step ``decoding`` seconds; per decode step ``prompts`` arrive as a
    Poisson process.

    A prompt-only step follows any step in which a prompt arrived. The number is therefore (1 - exp(-r decoding)) exp(r
    each), with r = prompts / (decoding + steps each) prompts per second. The function makes one Newton step from
    ``steps``, in logarithms.

    Source: the stationary state of a Markov chain of two states.

    Range: steps > 0, prompts > 0, decoding > 0, each > 0.

    >>> found = prompt_steps(prompt_steps(prompt_steps(2.0, 5.0, 0.01, 0.02), 5.0, 0.01, 0.02), 5.0, 0.01, 0.02)
    >>> rate = 5.0 / (0.01 + found * 0.02)
    >>> round(found, 6), round((1 - exp(-rate * 0.01)) * exp(rate * 0.02), 6)
    (2.660042, 2.660042)
    """
    share = steps * each / (decoding + steps * each)
    came, more = (prompts / (decoding + steps * each) * seconds for seconds in (decoding, each))
    none = exp(-came)
    wanted = log(1 - none) + more
    rising = 1 + share * (more + came * none / (1 - none))
    return steps * exp((wanted - log(steps)) / rising)


def share_of_fuller_steps(mean: float, most: float) -> float:
    """The share of steps with prompts that have more than ``most`` prompts: 1 − Σ P(1 … m) / (1 − P(0)).

    Prompts arrive independently, ``mean`` per step, so their number P is Poisson distributed.

    Range: mean > 0, most >= 0, mean <= 50.

    >>> share_of_fuller_steps(1e-9, 0), round(share_of_fuller_steps(1.0, 1), 6), round(share_of_fuller_steps(1.0, 2), 6)
    (1.0, 0.418023, 0.127035)
    """
    each, count, found = exp(-mean), 0, 0.0
    while count + 1 <= most and count < FULLEST_COUNTED:
        count += 1
        each *= mean / count
        found += each
    return max(0.0, 1 + found / expm1(-mean))


def share_formed_ahead(rate: float, launching: float, step: float) -> float:
    """The share of a prefill engine's steps that the host forms while the previous step is still running.

    The host looks for requests when it has launched a step, after ``launching`` seconds. If some have arrived, it forms
    the next step from them, and looks again when the running step of ``step`` seconds ends; else it waits for that end.
    Requests arrive as a Poisson process at a ``rate`` per second.

    Source: the stationary state of a Markov chain of two states.

    Range: rate >= 0, launching > 0, step > 0.

    >>> round(share_formed_ahead(2.0, 0.1, 0.5), 4)  # (1 - exp(-0.2)) / (1 - exp(-0.2) + exp(-1))
    0.3301
    >>> share_formed_ahead(0.0, 0.1, 0.5)
    0.0
    """
    formed = 1 - exp(-rate * launching)
    return formed / (formed + exp(-rate * step))


def highest_load(requests: float) -> float:
    """The utilization at which an open queue waits as long as a closed loop of ``requests`` with a busy server.

    The mean queue of n requests in such a loop, with equal service times, is √(n / π): 1 − 1 / (1 + 2 √(n / π)).

    Source: the diffusion limit of the machine-repair model at balanced load (Iglehart, "Limiting diffusion
    approximations for the many server queue and the repairman problem", J. Appl. Prob. 2, 1965).

    >>> round(highest_load(1), 3), round(highest_load(1000), 3)
    (0.53, 0.973)
    """
    return 1 - 1 / (1 + 2 * sqrt(requests / pi))


@formula("load / (load + spread * (1 - load))")
def wave_load(load: float, spread: float) -> float:
    """The utilization of a server while a wave of requests arrives.

    Requests that start together still arrive close together in later cycles: within a part of the cycle.

    ``load`` is the load of the whole cycle, ``spread`` the part of its idle time that arrivals fill.

    Source: arithmetic.

    Range: load <= 1, spread > 0, spread <= 1.

    >>> wave_load(0.5, 0.25), wave_load(0.5, 1.0)
    (0.8, 0.5)
    """
    return load / (load + spread * (1 - load))


def share_without_place(rate: float, places: float, alone: float, full: float) -> float:
    """The share of the requests of an open load that find all places taken.

    Requests come at random times at a ``rate``, and a plan with n of them completes n / s(n) per second. s is the time
    that a request keeps its place: The time per request is ``alone`` seconds at the mean number a = rate · s(a) of
    requests in places, ``full`` seconds with all places taken, and linear between the two. The probability of n
    requests is then proportional to the product of rate · s(k) / k for k = 1 … n, whatever the lengths of the requests;
    beyond the number of places it falls by the ratio of the rate to that of a full plan. The sum over smaller numbers
    is that of the normal distribution with the same curvature at a. It holds while rate · alone and rate · full are
    below the places, as everywhere in the range below.

    Source: Kelly, Reversibility and stochastic networks, 1979, section 3.3 (servers with a rate by the number of
    customers); Halfin and Whitt, Operations Research 29(3), 1981, for a constant time.

    Range: rate > 0, rate <= 1, places >= 2, alone > 0, alone <= 1, full > 0, full <= 1.

    >>> round(share_without_place(13.7, 16.0, 1.0, 1.0), 2)  # Erlang's formula: 0.45
    0.46
    >>> share_without_place(100.0, 200.0, 1.0, 1.0) < 1e-9
    True
    """
    taken = rate * alone
    longer = (full - alone) / (places - taken)
    falling = places * log(places / taken) - (places - taken)
    if longer:
        falling -= (full * log(full / alone) - (full - alone)) / longer
    curvature = larger(1 / taken - longer / alone, MOST_FLAT / taken)
    fewer = sqrt(pi / 2 / curvature) * (1 + erf((places - taken) * sqrt(curvature / 2)))
    more = exp(-falling) / (1 - rate * full / places)
    return more / (fewer + more)


def two_waits_beyond(seconds: float, first: float, second: float) -> float:
    """The probability that the sum of two independent exponential waits, with means of ``first`` and ``second``
    seconds, exceeds ``seconds``.

    Source: the sum of two exponential waits (hypoexponential distribution).

    Range: seconds >= 0, first > 0, second > 0.

    >>> round(two_waits_beyond(1.0, 1.0, 1e-9), 6) == round(exp(-1), 6), two_waits_beyond(1.0, 1.0, 1.0) == 2 * exp(-1)
    (True, True)
    """
    if abs(first - second) < MOST_ALIKE * first:
        return (1 + seconds / first) * exp(-seconds / first)
    return (first * exp(-seconds / first) - second * exp(-seconds / second)) / (first - second)


def median_wait(mean: float, busy: float, step: float) -> float:
    """The median wait of a queue, in seconds. With probability ``busy`` an arrival finds the server busy; otherwise it
    arrives during a step of ``step`` seconds.

    Arrivals at a busy server wait with an exponential tail; all others wait for a uniformly distributed part of the
    step.

    Source: Kingman, "The single server queue in heavy traffic", Proc. Camb. Phil. Soc. 57(4), 1961.

    Range: busy > 0, busy <= 1.

    >>> median_wait(1.0, 0.4, 0.0), round(median_wait(1.0, 0.8, 0.0), 3), round(median_wait(1.0, 0.2, 0.4), 3)
    (0.0, 0.588, 0.25)
    """
    found = larger(step / 2 / larger(1 - busy, 0.5), (mean - (1 - busy) * step / 2) / busy * log(2 * busy))
    return smaller(mean, found)


def wait_above_median(mean: float, share: float) -> float:
    """The wait at a percentile over the median wait, for exponentially distributed waits.

    Source: Kingman, "The single server queue in heavy traffic", Proc. Camb. Phil. Soc. 57(4), 1961.

    Range: share >= 0.5, share < 1.

    >>> wait_above_median(1.0, 0.5), round(wait_above_median(2.0, 0.95), 3)
    (0.0, 4.605)
    """
    return mean * log(0.5 / (1 - share))
