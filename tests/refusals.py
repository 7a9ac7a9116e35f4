"""What a refusal must be: a sentence, of at most three lines."""

LONGEST = 600
"""Characters."""


def check_refusal(error, word=""):
    """Fail if an error says nothing, says too much, or does not name what it should."""
    words = str(error)
    assert words
    assert word in words
    assert len(words) < LONGEST
    assert words.count("\n") < 3
