"""A picture of pixels with bars, signs and words on it, as frames of animations are."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from PIL.Image import Image

INK, EMPTY = "#1f2933", "#e4e9ee"
"""The colours of words and lines, and of what is not full."""
SMALLEST = 9
"""Pixels of the smallest words that can be read."""


class Canvas:
    """A picture that is painted again for every frame; places are pixels from the top left corner.

    Words are written by Pillow, with the font that comes with matplotlib: it takes a tenth of matplotlib's time.

    Parameters
    ----------
    width, height
        in pixels.
    """

    def __init__(self, width: int, height: int) -> None:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
        from matplotlib.transforms import IdentityTransform

        self.height = height
        self.figure = Figure(figsize=(width / 100.0, height / 100.0), dpi=100)
        canvas: Any = FigureCanvasAgg(self.figure)
        self.renderer = canvas.get_renderer()
        self.pixels = np.asarray(canvas.buffer_rgba())
        self.identity = IdentityTransform()
        self.fonts: dict[tuple[int, bool], Any] = {}
        self.clear()

    def clear(self) -> None:
        """Make the picture white again, and forget the words."""
        self.pixels[:] = 255
        self.words: list[tuple[tuple[float, float], str, dict[str, Any]]] = []

    def finished(self) -> "Image":
        """What was painted, with the words on top."""
        from PIL import Image, ImageDraw

        picture = Image.fromarray(self.pixels[:, :, :3].copy())
        pen = ImageDraw.Draw(picture)
        for place, words, looks in self.words:
            pen.text(place, words, **looks)
        return picture

    def text(
        self,
        x: float,
        y: float,
        words: str,
        *,
        size: float = 12,
        colour: str = INK,
        bold: bool = False,
        anchor: str = "lm",
        room: float = math.inf,
    ) -> None:
        """Words, centred vertically at y, ``size`` pixels high; anchor: as in Pillow.

        Words wider than ``room`` pixels are written smaller, and where the smallest are still too wide, cut short.
        """
        pixels = round(size)
        while pixels > SMALLEST and self.font(pixels, bold).getlength(words) > room:
            pixels -= 1
        font = self.font(pixels, bold)
        if font.getlength(words) > room:
            while words and font.getlength(f"{words}…") > room:
                words = words[:-1]
            words = f"{words.rstrip()}…"
        self.words.append(((x, y), words, {"font": font, "fill": colour, "anchor": anchor}))

    def font(self, size: int, bold: bool) -> Any:
        """The font of words that are ``size`` pixels high."""
        from matplotlib.font_manager import FontProperties, findfont
        from PIL import ImageFont

        if (size, bold) not in self.fonts:
            path = findfont(FontProperties(family="DejaVu Sans", weight="bold" if bold else "normal"))
            self.fonts[size, bold] = ImageFont.truetype(path, size)
        return self.fonts[size, bold]

    def rectangle(self, x: float, y: float, width: float, height: float, colour: str) -> None:
        """A filled rectangle, its top left corner at (x, y)."""
        from matplotlib.colors import to_rgb

        tint = np.round(np.array(to_rgb(colour)) * 255.0).astype(np.uint8)
        self.pixels[round(y) : round(y + height), round(x) : round(x + width), :3] = tint

    def bar(self, x: float, y: float, share: float, colour: str, length: float) -> None:
        """A horizontal bar."""
        self.rectangle(x, y - 4, length, 8, EMPTY)
        self.rectangle(x, y - 4, length * min(1.0, max(0.0, share)), 8, colour)

    def sign(self, x: float, y: float, marker: str, size: float, colour: str, edge: str = "none") -> None:
        """A marker of matplotlib, ``size`` points across."""
        from matplotlib.lines import Line2D

        drawn: Any = Line2D([x], [self.height - y], marker=marker, markersize=size, mfc=colour, mec=edge)
        drawn.set_transform(self.identity)
        drawn.set_figure(self.figure)
        drawn.draw(self.renderer)
