"""Charts as SVG text: hand-written, without scripts or outside files, the same in a browser and on paper.

Every chart is a pure function of plain values in SI units. A drawing is `WIDTH` units wide, so that its text stays
readable on a screen of 400 pixels. Text is escaped in `svg`.
"""
