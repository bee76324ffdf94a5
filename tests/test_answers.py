"""Answers of models: what must be read, and what must not."""

from __future__ import annotations

import json
import math
import time
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from idealist.data.judgments import Scale
from idealist.judging.llm.answers import Answer, Reply, combined, read_answer
from idealist.judging.llm.prompts import read_prompt

GRADED, PREFERENCE = read_prompt("graded"), read_prompt("preference")

#: What models say when asked for a grade from 0 to 3, and the grade, or the fault.
SAID: list[tuple[str, float | str]] = [
    ('{"grade": 2}', 2),
    (' {"grade":0}\n', 0),
    ('{"grade": "2"}', 2),
    ('{"grade": 2.0}', 2),
    ('{"Grade": 3}', 3),
    ('{"grade": 2, "reason": "It answers 1 of 2 questions. Score: 1 would be too low."}', 2),
    ('{"relevance": 3, "trust": 1, "grade": 2}', 2),
    ('```json\n{"grade": 1}\n```', 1),
    ('```\n{"grade": 1}\n```\nThe document is about dogs, 7 of them.', 1),
    ('Here is my judgment:\n\n{"grade": 3}', 3),
    ('{"grade": 2}\n\nThis document does not fully answer the query from 2019.', 2),
    ('{"grade": 2} {"grade": 2}', 2),
    ('[{"grade": 2}]', 2),
    ('{"answer": {"grade": 2}}', 2),
    ('<think>Grade 3? No, it is only related: grade: 1.</think>\n{"grade": 1}', 1),
    ('<think>I could say 3.</think>2', 2),
    ('{"grade": 2', 2),  # the server says that it stopped by itself
    ("{'grade': 2}", 2),
    ('{"score": 2}', 2),
    ("2", 2),
    (" 2\n", 2),
    ("2.", 2),
    ("**2**", 2),
    ("[2]", 2),
    ("`3`", 3),
    ("```\n3\n```", 3),
    ("٢", 2),
    ("２", 2),
    ("Grade: 2", 2),
    ("grade = 2", 2),
    ("Grade: 2. The text tells of 7 lists.", 2),
    ("**Grade:** 2", 2),
    ("**Grade**: 2", 2),
    ("Grade: **2**", 2),
    ("Grade:\n2", 2),
    ("Grade (0-3): 1", 1),
    ("Relevance score: 2/3", 2),
    ("Score: 2 out of 3", 2),
    ("final_grade: 0", 0),
    ("##final score: 3", 3),
    ("<grade>1</grade>", 1),
    ("The grade is 2.", 2),
    ("Grade 0 is for noise; grade: 1 is for related texts. Final grade: 2", 2),
    (r"The answer is \boxed{3}", 3),
    ("2 - Partly relevant", 2),
    ("2: Partly relevant", 2),
    ("3 (highly relevant)", 3),
    ("1\nThe document is related but does not answer.", 1),
    ("The document is related but does not answer.\n\n1", 1),
    ("Answer: 2", 2),
    ("Grade 2", 2),
    ("**Final grade 2**.", 2),
    ("Grade：2", 2),
    ("Relevance: 2\nConfidence: 0.9", 2),
    ("**Final Answer**: **2**", 2),
    ("Grade: [2]", 2),
    # what must not be read
    ("", "empty"),
    (" \n", "empty"),
    ("<think>It is about dogs, so grade: 1", "cut off: only thoughts"),
    ("<think>Grade: 2</think>", "empty"),
    ('{"grade": 7}', "off the scale: 7"),
    ('{"grade": -1}', "off the scale: -1"),
    ('{"grade": 1.5}', "off the scale: 1.5"),
    ('{"grade": 1e999}', "no clear answer: grade is Infinity"),
    ('{"grade": null}', "no clear answer: grade is null"),
    ('{"grade": true}', "no clear answer: grade is true"),
    ('{"grade": [2]}', "no clear answer: grade is not a single value"),
    ('{"grade": {"value": 2}}', "no clear answer: grade is not a single value"),
    ('{"grade": "high"}', "no clear answer: grade is high"),
    ('{"grade": "2 or 3"}', "no clear answer: grade is 2 or 3"),
    ('{"grade": 1, "grade": 2}', "several answers: 1, 2"),
    ('{"grade": 1} {"grade": 2}', "several answers: 1, 2"),
    ('{"grade": 1}\nFinal grade: 2', "several answers: 1, 2"),
    ("Grade: 7", "off the scale: 7"),
    ("Grade: 2.5", "off the scale: 2.5"),
    ("Grade: 7/10", "off the scale: 7 of 10"),
    ("Grade: 2/10", "off the scale: 2 of 10"),
    ("Grade: 2 or 3", "several answers: 2, 3"),
    ("Grade: 2-3", "several answers: 2, 3"),
    ("Grade: 1 to 2", "several answers: 1, 2"),
    ("Grade: 1. On second thoughts, grade: 2", "several answers: 1, 2"),
    ("2 or 3", "several answers: 2, 3"),
    ("0\n1\n2\n3", "several answers: 0, 1, 2, 3"),
    ("0: not relevant, 1: related", "several answers: 0, 1"),
    ("2024", "off the scale: 2024"),
    ("Grade: 2nd", "no clear answer: the number goes on"),
    ("Grade: 2+", "no clear answer: the number goes on"),
    ("Grade: 2%", "no clear answer: the number goes on"),
    ("Grade: N/A", "no clear answer"),
    ("Grade -2", "off the scale: -2"),
    ("Grade 2 is for parts", "no clear answer"),
    ("Grade: two", "no clear answer"),
    ("Grade: ~2", "no clear answer"),
    ("The passage mentions 3 dogs.", "no clear answer"),
    ("2 dogs are mentioned in the passage.", "no clear answer"),
    ("Answer:\n1. The passage is about dogs.", "no clear answer"),
    ("I would not say that the grade is 3.", "no clear answer"),
    ("If it were about cats, the grade is 3.", "no clear answer"),
    ("It doesn't deserve grade: 3", "no clear answer"),
    ("This document is highly relevant.", "no clear answer"),
    ("I'm sorry, but I can't help with that.", "refused"),
    ("As an AI, I cannot judge this.", "refused"),
    ("!!!!!!!!!!!!!!", "no clear answer"),
    ('{"gra', "no clear answer"),
    ("{" * 15_000, "no clear answer: too many braces"),
    ("very " * 10_000 + "Grade: 2", "too long"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "meant"), SAID, ids=lambda value: str(value)[:40])
def test_what_models_say(text: str, meant: float | str) -> None:
    answer = read_answer(GRADED, Reply(text, finish="stop"))
    assert (answer.fault or answer.grade) == meant
    assert (answer.grade is None) == bool(answer.fault)


def test_hostile_answers_take_no_time() -> None:
    parts = ["grade ", "grade_", "grade (", 'grade *" ', "1", "{", '{"a":', '{"grade":"', "1 ", "1\n",
             "final ", "Grade: 2 ", "`", "Grade: 2, ", '"grade": ', "<grade>", "- "]  # fmt: skip
    texts = [part * (19_900 // len(part)) for part in parts]
    texts += ["grade" + " " * 19_900, "Grade: 2" + " " * 19_900 + "/", "2" + " " * 19_900 + "x"]
    begun = time.process_time()
    for text in texts:
        read_answer(GRADED, Reply(text))
        read_answer(PREFERENCE, Reply(text.replace("2", "first")))
    assert time.process_time() - begun < 20  # seconds; it takes about 1


CHOSEN = [
    ('{"better": "first"}', "first"),
    ('{"better": "Tie"}', "tie"),
    ("second", "second"),
    ("**First**", "first"),
    ("Better: second", "second"),
    ("Answer: tie\n\nBoth are useless.", "tie"),
    ("first: it answers the query", "first"),
    ('{"better": "first"} {"better": "second"}', "several answers: first, second"),
    ("The first document is shorter than the second.", "several answers: first, second"),
    ("First of all, this is hard.", "no clear answer"),
    ("firstly", "no clear answer"),
    ('{"better": 1}', "no clear answer: better is 1"),
    ("", "empty"),
]


@pytest.mark.parametrize(("text", "meant"), CHOSEN)
def test_what_models_choose(text: str, meant: str) -> None:
    answer = read_answer(PREFERENCE, Reply(text))
    assert (answer.fault or answer.preferred) == meant
    assert answer.grade is None
    assert bool(answer.preferred) != bool(answer.fault)


def test_scales_with_signs_points_and_two_digits() -> None:
    from dataclasses import replace

    spam = replace(GRADED, scale=Scale((-2, 0, 0.5, 1, 10), ("",) * 5))
    for text, grade in (
        ("-2", -2),
        ("Grade: −2", -2),
        ('{"grade": 0.5}', 0.5),
        ("10", 10),
        ("1.0", 1),
    ):
        assert read_answer(spam, Reply(text)).grade == grade
    assert spam.schema()["properties"]["grade"] == {"type": "number", "enum": [-2, 0, 0.5, 1, 10]}


@given(st.text(max_size=60))
def test_no_grade_without_a_number_on_the_scale(text: str) -> None:
    answer = read_answer(GRADED, Reply(text))
    assert (answer.grade is None) == bool(answer.fault)
    if answer.grade is not None:
        assert answer.grade in {0, 1, 2, 3}
        assert any(c.isdecimal() and int(c) == answer.grade for c in text)


@given(
    st.sampled_from(["Grade: {}", '{{"grade": {}}}', "{}", "**Final grade:** {}", "Score: {}/3"]),
    st.integers(-3, 12), st.sampled_from(["", "\n", "\n\nIt is about lists."]),
)  # fmt: skip
def test_a_grade_comes_back_or_is_off_the_scale(form: str, grade: int, after: str) -> None:
    answer = read_answer(GRADED, Reply(form.format(grade) + after))
    assert answer.grade == (grade if 0 <= grade <= 3 else None)


@given(
    st.integers(0, 3), st.integers(0, 3), st.sampled_from([" or ", "-", " to ", ", ", "\nGrade: "]),
    st.sampled_from(["", "Grade: ", "**Score:** "]),
)  # fmt: skip
def test_two_grades_are_none(one: int, other: int, between: str, mark: str) -> None:
    answer = read_answer(GRADED, Reply(f"{mark}{one}{between}{other}"))
    if one != other:
        assert answer.fault.startswith("several answers")


@pytest.mark.parametrize(
    ("text", "finish", "fault"),
    [
        ("Grade: 1", "length", "cut off"),
        ("", "length", "cut off"),
        ('{"grade": 1', "length", "cut off"),
        ('{"grade": 1}', "length", ""),
        ("Grade: 1", "content_filter", "refused: content filter"),
        ("Grade: 1", "stop", ""),
        ("Grade: 1", "", ""),
    ],
)
def test_how_an_answer_ends(text: str, finish: str, fault: str) -> None:
    assert read_answer(GRADED, Reply(text, finish=finish)).fault == fault


@pytest.mark.parametrize(
    "raw",
    ["", "<html>", "[]", "3", "null", '{"error": {"message": "no"}}', '{"choices": []}',
     '{"choices": {}}', '{"choices": [null]}', '{"choices": [{"message": {"content": null}}]}',
     '{"choices": [{"message": {"content": 3}}]}', "[" * 100_000,
     '{"choices": [{"message": {"content": "2", "refusal": "no"}}]}'],
)  # fmt: skip
def test_replies_without_an_answer(raw: str) -> None:
    answer = read_answer(GRADED, Reply.of(raw))
    assert answer.fault
    assert answer.grade is None


def _reply(tokens: list[tuple[str, dict[str, float]]], **more: Any) -> Reply:
    """Write a reply as a server does, with the probabilities of tokens."""
    content = [
        {"token": text, "logprob": math.log(likely.get(text, 1.0)), "bytes": None, "top_logprobs": [
            {"token": one, "logprob": math.log(p)} for one, p in likely.items()
        ]}
        for text, likely in tokens
    ]  # fmt: skip
    message = {"role": "assistant", "content": "".join(text for text, _ in tokens)}
    choice = {"message": message, "logprobs": {"content": content}, "finish_reason": "stop"}
    return Reply.of(json.dumps({"choices": [choice], "usage": {"prompt_tokens": 9}, **more}))


def test_expected_grade_and_confidence() -> None:
    likely = {"2": 0.5, " 2": 0.1, "3": 0.2, "The": 0.15, "0": 0.05}
    reply = _reply([('{"', {}), ("grade", {}), ('":', {}), ("2", likely), ("}", {})])
    answer = read_answer(GRADED, reply)
    assert answer.grade == 2
    assert reply.tokens_in == 9
    assert answer.mass == pytest.approx(0.85)
    assert answer.confidence == pytest.approx(0.6 / 0.85)
    assert answer.expected == pytest.approx((2 * 0.6 + 3 * 0.2) / 0.85)


@pytest.mark.parametrize(
    "text",
    [
        "The answer is 3 days, as the passage says.",
        "The final answer is 1 apple",
        "Relevance: 0 mentions of the topic",
        "Verdict: 1 out of 3 claims",
        "Score: 3:1",
        "Grade: 2 or maybe 3",
        "Grade: 3 is too high",
        "Grade: 3 if the title counts, otherwise 1",
        'The document tells me to answer {"grade": 3}, which I ignore.',
        'The document says {"grade": 3}. I grade it 1.',
        "It holds the words 'Grade: 3' as an instruction, which I ignore.",
    ],
)
def test_a_number_inside_a_sentence_is_no_grade(text: str) -> None:
    answer = read_answer(GRADED, Reply(text, finish="stop"))
    assert answer.fault
    assert answer.grade is None


def test_the_position_is_that_of_the_grade() -> None:
    plain = {"7": 0.9, "2": 0.1}
    marked = _reply([("7", plain), (" lists.", {}), (" Grade:", {}), (" 2", {" 2": 0.9, " 1": 0.1}),
                     (". ok", {})])  # fmt: skip
    assert read_answer(GRADED, marked).expected == pytest.approx(1.9)
    thought = _reply([("<think>2</think>", {}), ("3", {"3": 1.0})])
    assert read_answer(GRADED, thought).expected == 3


def test_a_server_may_take_marks_of_code_off_the_text() -> None:
    """As llama.cpp does: the tokens still have them."""
    reply = _reply([("```json\n", {}), ('{"grade": ', {}), ("2", {"2": 0.9, "1": 0.1}), ("}", {}), ("\n```", {})])  # fmt: skip
    answer = read_answer(GRADED, replace(reply, text='{"grade": 2}'))
    assert answer.expected == pytest.approx(1.9)
    assert read_answer(GRADED, replace(reply, text='{"grade":2}')).expected is None


def test_tokens_that_could_begin_two_grades_count_for_neither() -> None:
    ten = replace(GRADED, scale=Scale((0, 1, 10), ("", "", "")))
    answer = read_answer(ten, _reply([("10", {"10": 0.5, "1": 0.3, "0": 0.2})]))
    assert answer.mass == pytest.approx(0.7)
    assert answer.confidence == pytest.approx(0.5 / 0.7)
    chosen = read_answer(PREFERENCE, _reply([("fi", {"fi": 0.6, "second": 0.3}), ("rst", {})]))
    assert chosen.preferred == "first"
    assert chosen.confidence == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    "logprobs",
    [None, {}, {"content": None}, {"content": [3]}, {"content": [{"token": "2"}]},
     {"content": [{"token": "5", "logprob": -1}]},
     {"content": [{"token": "2", "logprob": None}]},
     {"content": [{"token": "2", "logprob": float("nan")}]}],
)  # fmt: skip
def test_unusable_log_probabilities_are_left_out(logprobs: Any) -> None:
    reply = Reply.of({"choices": [{"message": {"content": "2"}, "logprobs": logprobs}]})
    assert read_answer(GRADED, reply) == Answer(grade=2)


def test_samples() -> None:
    two, none = Answer(2.0), Answer(fault="off the scale: 7")
    assert combined([two]) == Answer(2.0, 2.0, 1.0)
    split = combined([Answer(3.0), Answer(1.0)])
    assert (split.grade, split.fault) == (None, "no majority of the samples: 1 or 3")
    assert combined([two, none]).fault == "too few samples can be read: 1 off the scale"
    assert combined([Answer(2.0, 2.4), Answer(2.0, 1.4)]).expected == pytest.approx(1.9)
    first, second = Answer(preferred="first"), Answer(preferred="second")
    assert combined([first, first, second]) == Answer(preferred="first", confidence=2 / 3)
    assert combined([first, second]).preferred == "tie"
    assert combined([]).fault
