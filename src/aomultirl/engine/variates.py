"""Random numbers of the distributions that posteriors are made of, drawn from a stream inside compiled code.

Normal by the polar method (Marsaglia, Bray 1964), gamma by squeeze (Marsaglia, Tsang 2000), beta as a share of two
gammas.  Each takes as many draws as its rejections need.
"""

import math

from aomultirl.engine.compiling import kernel
from aomultirl.engine.random import RandomStream, draw_unit


@kernel
def draw_normal(stream: RandomStream) -> float:
    """A standard normal number."""
    while True:
        x, y = 2.0 * draw_unit(stream) - 1.0, 2.0 * draw_unit(stream) - 1.0
        radius = x * x + y * y
        if 0.0 < radius < 1.0:
            return x * math.sqrt(-2.0 * math.log(radius) / radius)


@kernel
def draw_gamma(shape: float, stream: RandomStream) -> float:
    """A gamma number of this shape, above 0, and scale 1; 0 where it is below the least number that there is."""
    if shape < 1.0:
        # As the gamma of one more, times a uniform number to the power 1 / shape.
        return float(draw_gamma_above_one(shape + 1.0, stream) * (1.0 - draw_unit(stream)) ** (1.0 / shape))
    return draw_gamma_above_one(shape, stream)


@kernel
def draw_gamma_above_one(shape: float, stream: RandomStream) -> float:
    """A gamma number of a shape of at least 1, by Marsaglia and Tsang's squeeze."""
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = draw_normal(stream)
        v = (1.0 + c * x) ** 3
        if v > 0.0 and math.log(1.0 - draw_unit(stream)) < 0.5 * x * x + d - d * v + d * math.log(v):
            return d * v


@kernel
def draw_beta(a: float, b: float, stream: RandomStream) -> float:
    """A number of Beta(a, b), both above 0; where both are tiny it is 1 with probability a / (a + b), and else 0."""
    x, y = draw_gamma(a, stream), draw_gamma(b, stream)
    if x + y > 0.0:
        return x / (x + y)
    return 1.0 if draw_unit(stream) * (a + b) < a else 0.0
