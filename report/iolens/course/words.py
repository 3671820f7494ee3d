"""The outcome of an activity in words, in the languages of the course."""

from __future__ import annotations

import os
from collections.abc import Mapping

from iolens.course.activity import LANGUAGES
from iolens.course.judge import LOOKS, NO, OPEN, SAME, YES, JudgedClaim
from iolens.metrics.statistics.intervals import Ratio

SAID: Mapping[str, Mapping[str, str]] = {
    "en": {
        "head": "Statements of the course, and results here",
        YES: "agrees with the course",
        NO: "came out otherwise",
        SAME: "no difference here",
        OPEN: "not proven",
        "slides": "On the machine of the slides",
        "here": "Here",
        "why": "Why",
        "ratio": "{ratio} times ({interval}): {a} against {b} MiB/s",
        "bound": "{ratio} of the model's bound ({interval}): {a} of {b} MiB/s",
        "interval": "95 % interval {low} to {high}",
        "single": "single runs, no interval",
        "finds": "{have} of {all} logs have the finding {rule}",
        "holds_up": "{have} of {all} logs show that other ranks waited most for the I/O on {rule}",
        "processes": "{have} of {all} runs had {count} processes",
        "margin": "the same within {margin} %",
        "nothing": "cannot be judged: {problem}",
        "leaves": "The interval allows both answers. More repetitions or a quieter machine make it narrower: "
        'run the same command with SET="repetitions=10".',
        "theory": "Theory",
        "together": "The intervals of one activity hold together, at 95 %.",
    },
    "pt": {
        "head": "O que o curso diz, e o que se obteve aqui",
        YES: "resultou como o curso diz",
        NO: "resultou de outra forma",
        SAME: "aqui não há diferença",
        OPEN: "não provado",
        "slides": "Na máquina dos slides",
        "here": "Aqui",
        "why": "Por quê",
        "ratio": "{ratio} vezes ({interval}): {a} contra {b} MiB/s",
        "bound": "{ratio} do limite do modelo ({interval}): {a} de {b} MiB/s",
        "interval": "intervalo de 95 %: de {low} a {high}",
        "single": "execuções únicas, sem intervalo",
        "finds": "{have} de {all} logs têm o achado {rule}",
        "holds_up": "segundo {have} de {all} logs os outros processos esperaram mais pela E/S em {rule}",
        "processes": "{have} de {all} execuções tiveram {count} processos",
        "margin": "iguais a menos de {margin} %",
        "nothing": "não é possível julgar: {problem}",
        "leaves": "O intervalo deixa as duas respostas em aberto. Mais repetições, ou uma máquina mais tranquila, o "
        'estreitam: repita o mesmo comando com SET="repetitions=10".',
        "theory": "Teoria",
        "together": "Os intervalos de uma atividade valem em conjunto, a 95 %.",
    },
}
"""The fixed words of every language."""


def language_of_user() -> str:
    """Returns the language of the environment if the course has it, else English."""
    asked = next((value for name in ("LC_ALL", "LC_MESSAGES", "LANG") if (value := os.environ.get(name))), "")
    return asked[:2] if asked[:2] in LANGUAGES else LANGUAGES[0]


def paragraphs(outcome: JudgedClaim, language: str) -> list[str]:
    """Returns the claim, preceded by its answer; then the results of the course's slides and of these runs; then the
    reason.
    """
    said, claim = SAID[language], outcome.claim
    lines = [f"{claim.says[language]}: {said[outcome.answer]}"]
    if claim.slides:
        lines.append(f"{said['slides']}: {claim.slides[language]}")
    lines.append(f"{said['here']}: {_answer_numbers(outcome, language)}")
    if outcome.answer == OPEN and not outcome.problem and claim.kind not in LOOKS:
        lines.append(f"{said['theory']}: {claim.because[language]}")
    why = {YES: claim.because[language], OPEN: said["leaves"]}
    if not outcome.problem and (claim.kind not in LOOKS or outcome.answer != OPEN):
        lines.append(f"{said['why']}: {why.get(outcome.answer, claim.otherwise[language])}")
    return lines


def _answer_numbers(outcome: JudgedClaim, language: str) -> str:
    """Returns the numbers behind an answer."""
    said, claim = SAID[language], outcome.claim
    if outcome.problem:
        return said["nothing"].format(problem=outcome.problem)
    if outcome.ratio is None:
        have, everything = outcome.logs
        return said[claim.kind].format(have=have, all=everything, rule=claim.rule, count=claim.count)
    a, b = (_three_digit_number(value, language) for value in outcome.values)
    form = said["bound" if claim.kind == "reaches" else "ratio"]
    text = form.format(
        ratio=_three_digit_number(outcome.ratio.value, language), interval=_interval(outcome.ratio, language), a=a, b=b
    )
    if outcome.answer == SAME or (claim.kind == "same" and outcome.answer == YES):
        text += "; " + said["margin"].format(margin=f"{100 * claim.margin:.0f}")
    return text


def _interval(ratio: Ratio, language: str) -> str:
    """Returns the interval of a ratio in words, or a remark that there is none."""
    if ratio.low is None or ratio.high is None:
        return SAID[language]["single"]
    return SAID[language]["interval"].format(
        low=_three_digit_number(ratio.low, language), high=_three_digit_number(ratio.high, language)
    )


def _three_digit_number(value: float, language: str) -> str:
    """Formats a number with three digits, or with all digits before the decimal point if there are more."""
    text = f"{value:.0f}" if value >= 100 else f"{value:.3g}"
    return text.replace(".", ",") if language == "pt" else text
