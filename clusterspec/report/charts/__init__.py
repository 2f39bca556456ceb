"""Charts as SVG text, without scripts or external files, identical in a browser and on paper.

Each chart is a pure function of plain values in SI units. A drawing is `WIDTH` units wide, so that its text is
readable on a screen of 400 pixels. Text is escaped in `svg`.
"""
