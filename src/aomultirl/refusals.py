"""Bad input as a record: what is refused, and the sentence that says so."""

from typing import Any


class Refusal(ValueError):  # noqa: N818
    """Bad input, in one sentence that begins with the argument that it is about.

    Nobody needs to look into the words: code that knows more of where the argument comes from, such as the key of a
    file, asks for the fields.

    Parameters
    ----------
    name
        the argument, with the place in it: "failure", "distinguishing_set[2] state".
    words
        the rest of the sentence.

    Attributes
    ----------
    argument
        the name without the place: "distinguishing_set".
    place
        where in it: "[2] state"; empty where all of it is refused.

    Examples
    --------
    >>> refusal = Refusal("distinguishing_set[2] state", "must be at least 0, not -1")
    >>> str(refusal), refusal.argument, refusal.place
    ('distinguishing_set[2] state must be at least 0, not -1', 'distinguishing_set', '[2] state')
    """

    def __init__(self, name: str, words: str) -> None:
        super().__init__(f"{name} {words}")
        self.name, self.words = name, words
        root, bracket, rest = name.partition("[")
        self.argument, self.place = (root, bracket + rest) if root.isidentifier() else (name, "")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.name, self.words)
