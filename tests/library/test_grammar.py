"""A problem in words: every problem is read from its name and from its words; any other text is one clear error."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import langford
from langford.errors import BadProblem
from langford.problem import Problem
from langford.problem.grammar import families, further_words, read
from langford.problem.reference import SEQUENCES
from langford.problem.sequences import OEIS
from langford.problem.variants import VARIANTS
from tests.support.problems import SMALL_SETS


@st.composite
def named_problems(draw: st.DrawFn) -> Problem:
    variant = VARIANTS[draw(st.sampled_from(list(VARIANTS)))]
    n = draw(st.integers(variant.least, 60))
    holes = sorted(draw(st.sets(st.integers(1, 2 * n + 1), min_size=2, max_size=2)))
    values = {"hole": holes[0], "second_hole": holes[1], "missing": draw(st.integers(1, n)), "defect": 2 + holes[0]}
    copies = 2 if variant.pairs_only else draw(st.integers(2, 9))
    return Problem.named(
        variant.name, n, copies, **{each.keyword: values[each.keyword] for each in variant.parameters}
    )


@given(named_problems() | SMALL_SETS)
def test_a_problem_is_read_from_its_name_and_from_its_words(problem: Problem) -> None:
    assert Problem.parse(problem.name) == problem
    assert Problem.parse(problem.words) == problem
    assert Problem.parse(f"  {problem.words.upper().replace(',', ' , ')}\n") == problem
    assert Problem.parse(" ".join(problem.arguments)) == problem


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ("near-skolem 12 missing 5", Problem.named("near-skolem", 12, missing=5)),
        ("17 defect 9", Problem.langford(17, defect=9)),
        ("8 copies 3", Problem.langford(8, 3)),
        ("skolem 9 x3", Problem.skolem(9, 3)),
        ("extended-skolem 11 hole 5", Problem.named("extended-skolem", 11, hole=5)),
        ("extended rosa 6, second hole 9, hole 3", Problem.named("extended-rosa", 6, hole=3, second_hole=9)),
        ("differences 1, 2, 5, 7", Problem.from_differences([1, 2, 5, 7])),
        ("cyclic 1,2,4 empty 1,4", Problem.from_differences([1, 2, 4], empty=[1, 4], circle=True)),
        ("A059106 12", Problem.skolem(12)),
        ("a002047 4", Problem.langford(9, defect=5)),
        ("A002047 (4)", Problem.langford(9, defect=5)),
        ("A390360-1", Problem.named("cyclic-skolem", 5)),
    ],
)
def test_words(words: str, problem: Problem) -> None:
    assert Problem.parse(words) == problem


def test_the_library_counts_what_is_named_in_words() -> None:
    assert langford.count("near-skolem 8 missing 3") == langford.count(Problem.named("near-skolem", 8, missing=3))
    assert langford.plan("A059106 8", depth=2).problem == Problem.skolem(8)
    assert next(langford.arrangements("skolem-1")) == (1, 1)
    assert langford.estimate("7", walks=100).value > 0
    assert langford.estimate("A004075 1", walks=100).value == 1  # the arrangement is its own mirror image


@pytest.mark.parametrize("name", OEIS)
def test_a_sequence_names_the_problems_whose_terms_it_has(name: str) -> None:
    published = SEQUENCES[name]
    assert OEIS[name].images == published.mirror_images
    for index in range(published.first, published.first + 4):
        assert Problem.parse(f"{name} {index}") == published.problem(index)
        assert Problem.parse(f"{name}({index})") == published.problem(index)
        assert langford.count(f"{name} {index}", anyway=True) == published.term(index)
    first = OEIS[name].first
    with pytest.raises(BadProblem, match=f"no term {first - 1} of {name}: it begins at {first}"):
        Problem.parse(f"{name}({first - 1})" if first else f"{name} -1")


@pytest.mark.parametrize(
    "words",
    [
        "12", "skolem 9 copies 3", "near-skolem 12 missing 5", "17 defect 9", "rosa 8",
        "extended-rosa 6 hole 3 second-hole 9", "hooked-langford 6 defect 3", "even-starter 6",
        "skolem 4 fold 2", "5 fold 2 holes 1",
    ],
)  # fmt: skip
def test_a_problem_is_read_as_it_is_printed(words: str) -> None:
    assert Problem.parse(str(Problem.parse(words))) == Problem.parse(words)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ("split-skolem 8", "did you mean rosa"),
        ("hooked 12", "choose hooked-langford or hooked-skolem or hooked-near-skolem or hooked-rosa"),
        ("A000001 5", "Known are A014552, Langford rows, up to reversal; A176127, Langford rows; "),
    ],
)
def test_what_may_be_meant(wrong: str, says: str) -> None:
    with pytest.raises(BadProblem, match=says):
        Problem.parse(wrong)


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("near-skolm 12", "near-skolem"),
        ("nearskolem 12", "near-skolem"),
        ("langfrod 12", "langford"),
        ("diferences 1,2", "differences"),
        ("cycilc 1,2", "cyclic"),
        ("near-skolem 12 mising 5", "missing"),
        ("17 deffect 9", "defect"),
        ("extended-rosa 6 hole 3 secondhole 9", "second-hole"),
        ("8 copys 3", "copies"),
        ("A059107a 3", "A059107"),
        ("A014522 3", "A014552"),
        ("A59106 12", "A059106"),
    ],
)
def test_a_wrong_word_gets_the_nearest_right_one(wrong: str, right: str) -> None:
    with pytest.raises(BadProblem, match=f"did you mean {right}\\?"):
        Problem.parse(wrong)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("missing 5 near-skolem 12", "missing follows a family and its number: write 12, skolem 9, near-skolem 12"),
        ("copies 3 8", "copies follows a family and its number"),
        ("12 skolem", "a family comes first: write skolem 12"),
        ("12 defect 3 near-skolem", "a family comes first: write near-skolem 12"),
    ],
)
def test_words_in_another_order_are_told_where_they_belong(words: str, says: str) -> None:
    with pytest.raises(BadProblem, match=says):
        Problem.parse(words)


WORDS = st.sampled_from(
    [*families(), *further_words(), *OEIS, "x3", "-", ",", ".", "12", "-5", "1,2,5", "2..4", "0"]
)
NEAR = st.lists(WORDS | st.text(max_size=4) | st.integers().map(str)).flatmap(
    lambda parts: st.sampled_from(["", " ", "-", ", "]).map(lambda between: between.join(parts))
)


@pytest.mark.exhaustive
@given(st.text() | NEAR)
@example("\x00")
@example("-" * 200_000)
@example("1" * 90_000)
@example(f"differences {','.join(['1'] * 40_000)}")
@example("ſkolem 9")
def test_any_text_is_a_problem_or_one_clear_error(text: str) -> None:
    try:
        problem = Problem.parse(text)
    except BadProblem as error:
        message = str(error)
        lists_sequences = "counts no family of this program" in message
        assert 10 < len(message) < (4_000 if lists_sequences else 600), message
        assert "\n" not in message.replace(text, "")
    else:
        assert Problem.parse(problem.name) == Problem.parse(problem.words) == problem


def test_the_words_of_a_table_may_be_ranges() -> None:
    assert dict(read("near-skolem 10 missing 3..5").more) == {"missing": "3..5"}
    with pytest.raises(BadProblem, match=r"missing must be a whole number .* not '3\.\.5'"):
        Problem.parse("near-skolem 10 missing 3..5")
