"""Answers of models: the grade or the choice that was meant, or why none can be read.

JSON of the form that was asked for is read first. Otherwise an answer counts if it is marked as
such ("Grade: 2") or stands alone. Where two are marked, or none, that is a fault: no grade is
guessed.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from idealist.judging.llm.answer_text import Unreadable, find_answer, is_complete
from idealist.judging.llm.prompts import Prompt
from idealist.notation import tidy

#: The fault of samples that say two grades equally often.
NO_MAJORITY = "no majority of the samples"
#: What a token may be, with its log-probability; the likeliest at one place of an answer.
Likely = tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class Token:
    """A piece of an answer, and what could have stood in its place."""

    text: str
    likely: Likely


@dataclass(frozen=True)
class Reply:
    """What a server sent back: the text, why it ends, and what it cost.

    `logprobs` are the tokens of the text with their log-probabilities, if the server tells them.
    `fault` says why there is no text.

    >>> Reply.of('{"choices": [{"message": {"content": "2"}, "finish_reason": "stop"}]}').text
    '2'
    """

    text: str = ""
    logprobs: tuple[Token, ...] = ()
    finish: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    fault: str = ""

    @classmethod
    def of(cls, raw: str | Mapping[str, Any]) -> Reply:
        """Read the reply of an OpenAI-compatible server; what it lacks is empty."""
        try:
            body = json.loads(raw) if isinstance(raw, str) else raw
            usage, choice = _mapping(body.get("usage")), _mapping(body["choices"][0])
        except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError):
            return cls(fault="no answer in the reply")
        message = _mapping(choice.get("message"))
        return cls(
            text=_text(message.get("content")),
            logprobs=_tokens(_mapping(choice.get("logprobs")).get("content")),
            finish=str(choice.get("finish_reason") or ""),
            tokens_in=_count(usage.get("prompt_tokens")),
            tokens_out=_count(usage.get("completion_tokens")),
            fault="refused" if message.get("refusal") else "",
        )


@dataclass(frozen=True)
class Answer:
    """What a model answered: a `grade`, or which document is `preferred`, or the `fault`.

    Where the server tells log-probabilities, `confidence` is the probability of the answer and
    `expected` the mean grade, both among the answers that are allowed; `mass` is the probability
    that these had together. Of several samples, `confidence` is the share that agree. The words of
    a `fault` before a colon say of what kind it is.
    """

    grade: float | None = None
    expected: float | None = None
    confidence: float | None = None
    mass: float | None = None
    preferred: str = ""
    fault: str = ""


def read_answer(prompt: Prompt, reply: Reply) -> Answer:
    """Read what a model answered to a prompt.

    >>> from idealist.judging.llm.prompts import read_prompt
    >>> graded = read_prompt("graded")
    >>> read_answer(graded, Reply('{"grade": 2}')).grade
    2.0
    >>> read_answer(graded, Reply("Grade: 2. The text tells of 7 lists.")).grade
    2.0
    >>> read_answer(graded, Reply("2 or 3")).fault
    'several answers: 2, 3'
    """
    if fault := _unfinished(prompt, reply):
        return Answer(fault=fault)
    try:
        found = find_answer(prompt, reply.text)
    except Unreadable as unreadable:
        return Answer(fault=str(unreadable))
    chances = _chances(prompt, reply, found.at)
    mass = math.fsum(chances.values())
    sure = {value: chance / mass for value, chance in chances.items()} if mass else {}
    answer = Answer(confidence=sure.get(found.value), mass=mass if sure else None)
    if prompt.kind == "preference":
        return replace(answer, preferred=found.value)
    expected = math.fsum(float(value) * chance for value, chance in sure.items()) if sure else None
    return replace(answer, grade=float(found.value), expected=expected)


def _unfinished(prompt: Prompt, reply: Reply) -> str:
    """Say why a reply cannot hold an answer."""
    if reply.fault or reply.finish == "content_filter":
        return reply.fault or "refused: content filter"
    if reply.finish == "length" and not is_complete(prompt, reply.text):
        return "cut off"
    return ""


def _chances(prompt: Prompt, reply: Reply, at: int) -> dict[str, float]:
    """Add up the probability of the tokens that begin each answer, where the answer stands.

    A token that could begin two answers, such as 1 on a scale with 1 and 10, counts for neither.
    """
    words = [str(one) if isinstance(one, str) else str(tidy(one)) for one in prompt.answers]
    # Servers take marks of code, or thoughts, off the text; among the tokens they are.
    start = -"".join(token.text for token in reply.logprobs).rfind(reply.text)
    if start > 0:
        return {}
    for token in reply.logprobs:
        if start <= at < start + len(token.text):
            break
        start += len(token.text)
    else:
        return {}
    found: dict[str, list[float]] = {}
    for text, logprob in token.likely:
        begun = [word for word in words if _begins(text.lstrip(" \t\n\"':"), word)]
        if len(begun) == 1:
            found.setdefault(begun[0], []).append(math.exp(logprob))
    return {word: math.fsum(some) for word, some in found.items()}


def _begins(text: str, word: str) -> bool:
    """Whether a token begins a word, or holds it all and goes on with something else."""
    if text.startswith(word):
        return not text[len(word) :][:1].isalnum()
    return bool(text) and word.startswith(text)


def combined(answers: Sequence[Answer]) -> Answer:
    """Make one answer of several samples: what most of them say.

    `confidence` is the share of all samples that say so, and `expected` the mean of what they
    expect or say. If half of the samples or more cannot be read, or two grades are said equally
    often, that is a fault: no grade is guessed.

    >>> answer = combined([Answer(2.0), Answer(2.0), Answer(0.5), Answer(fault="empty")])
    >>> answer.grade, answer.expected, answer.confidence
    (2.0, 1.5, 0.5)
    """
    read = [one for one in answers if not one.fault]
    if 2 * len(read) <= len(answers):
        kinds = Counter(one.fault.split(":")[0] for one in answers if one.fault)
        words = ", ".join(f"{n} {kind}" for kind, n in kinds.most_common())
        return Answer(fault=f"too few samples can be read: {words}")
    if read[0].grade is None:
        (first, votes), *rest = Counter(one.preferred for one in read).most_common()
        chosen = "tie" if rest and rest[0][1] == votes else first
        agree = sum(one.preferred == chosen for one in read)
        return Answer(preferred=chosen, confidence=agree / len(answers))
    grades = [one.grade for one in read if one.grade is not None]
    told = [
        g if one.expected is None else one.expected for one, g in zip(read, grades, strict=True)
    ]
    (grade, n), *others = Counter(grades).most_common()
    if others and others[0][1] == n:
        split = sorted({g for g in grades if grades.count(g) == n})
        return Answer(fault=f"{NO_MAJORITY}: {' or '.join(str(tidy(g)) for g in split)}")
    return Answer(
        grade=grade, expected=math.fsum(told) / len(told),
        confidence=n / len(answers),
    )  # fmt: skip


def _tokens(content: Any) -> tuple[Token, ...]:
    """Read log-probabilities; none, if they are not as they should be."""
    try:
        return tuple(Token(str(one["token"]), _likely(one)) for one in content or ())
    except (TypeError, KeyError, ValueError):
        return ()


def _likely(token: Mapping[str, Any]) -> Likely:
    others = {str(one["token"]): float(one["logprob"]) for one in token.get("top_logprobs") or ()}
    known = {str(token["token"]): float(token["logprob"])} | others
    return tuple(
        (text, min(chance, 0.0)) for text, chance in known.items() if not math.isnan(chance)
    )


def _text(content: Any) -> str:
    """Return the text of a message, which may be in parts."""
    if isinstance(content, list):
        return "".join(_text(_mapping(part).get("text")) for part in content)
    return content if isinstance(content, str) else ""


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
