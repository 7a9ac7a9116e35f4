"""The paper's symbols, and numbers with the signs that print has for them."""

import math
import re

from aomultirl.analysis.phrases import RAISED, number

SIGNS = {"lambda": "λ", "delta": "δ", "Delta": "Δ", "Gamma": "Γ", "eps": "ε", "rho": "\u03c1", "sqrt": "√"}
"""The paper's symbols, by the names that texts in ASCII give them."""


def signed(value: float) -> str:
    """A number with a minus sign in place of a hyphen."""
    return number(float(value)).replace("-", "\u2212")


def power(value: float) -> str:
    """A number on a logarithmic axis.

    Examples
    --------
    >>> [power(value) for value in (0.00001, 0.2, 1000, 20000, 1000000)]
    ['10⁻⁵', '0.2', '1,000', '20,000', '10⁶']
    """
    exponent = round(math.log10(value))
    if (value >= 1e4 or value < 1e-3) and math.isclose(value, 10.0**exponent):
        return f"10{str(exponent).translate(RAISED)}"
    return number(value)


def symbols(text: str) -> str:
    """A text with the paper's symbols in place of their names.

    Examples
    --------
    >>> symbols("sqrt(D S A H) - D / 8, lambda^-2 <= -1.5, H^1.05")
    '√(D S A H) − D / 8, λ⁻² ≤ −1.5, H^1.05'
    >>> symbols("6.25e-06")
    '6.25 × 10⁻⁶'
    """
    text = re.sub(rf"\b({'|'.join(SIGNS)})\b", lambda name: SIGNS[name[0]], text)
    text = re.sub(r"(?<=\d)e([-+]\d+)\b", lambda exponent: f" \u00d7 10^{int(exponent[1])}", text)
    text = re.sub(r"\^(-?\d+)\b(?!\.\d)", lambda exponent: exponent[1].translate(RAISED), text)
    text = re.sub(r"(?<![\w.)])-(?=\d)|(?<= )-(?= )", "\u2212", text)
    return text.replace("<=", "≤").replace(">=", "≥")


def sentence(words: str) -> str:
    """Words with the paper's symbols, as a sentence: with a capital where that is a plain letter, and a full stop.

    Examples
    --------
    >>> sentence("too few"), sentence("lambda is small."), sentence("")
    ('Too few.', 'λ is small.', '')
    """
    words = symbols(words)
    return capital(words).rstrip(".") + "." if words else ""


def capital(words: str) -> str:
    """Words that begin with a capital, where they begin with a plain letter."""
    return words[0].upper() + words[1:] if words[0].isascii() else words
