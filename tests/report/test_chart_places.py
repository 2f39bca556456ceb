"""Every shape of a small chart, worked out by hand: a chart is 440 wide, and coordinates go right and down."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from clusterspec.report.charts import bars, curves, fleet, links, log_plots, machine
from clusterspec.report.charts.bars import FallBar, HeatCell, SentBytes, StackPart, Year
from clusterspec.report.charts.curves import ChoicePoint, LeverBar
from clusterspec.report.charts.domains import DrawnDomain, domain_chart, torus_chart
from clusterspec.report.charts.fleet import DrawnLink, DrawnNodes, DrawnPool, DrawnTurn
from clusterspec.report.charts.links import (
    AreaPlate,
    DotRow,
    DrawnHop,
    SizeCurve,
    WireRow,
    path_chart,
    pyramid_chart,
    size_chart,
)
from clusterspec.report.charts.log_plots import FrontPoint, RooflinePoint
from clusterspec.report.charts.machine import DrawnBlock, DrawnNode, DrawnRow
from clusterspec.report.charts.racks import DrawnRacks, DrawnSwitches, rack_chart
from clusterspec.report.charts.steps import DrawnPass, Span, layer_chart, schedule_chart
from clusterspec.report.charts.svg import text_width
from tests.report.drawn import drawn_shapes

Chart = Callable[[], str]


def seconds(value: float) -> str:
    return f"{value:g} s"


WEIGHTS, GRADIENTS = StackPart("weights", "weights", 3.0, "3 GB"), StackPart("gradients", "gradients", 1.0, "1 GB")
HOPS = (
    DrawnHop("GPU", 9e-6, "+9 µs", "9 µs", "launch"),
    DrawnHop("NIC", 0.0, "", "9 µs", "", 100.0, "100 B/s"),
    DrawnHop("leaf", 1e-6, "+1 µs", "10 µs", "cables", 10.0, "10 B/s", narrowest=True),
    DrawnHop("GPU 2", None, "not known", "≥ 10 µs"),
)
POOLS = (
    DrawnPool("north", "3 nodes", (DrawnNodes(2, (DrawnTurn("a", "tp", 0.5),), "a: 2"),), 1),
    DrawnPool("south", "1 node", (DrawnNodes(1, (DrawnTurn("b", "cp", 1.0),), "b " * 40),)),
)
GRADIENT_PASS = DrawnPass(
    "forward", (WEIGHTS, GRADIENTS), (StackPart("exposed", "tp", 0.5, "0.5 s"),), ((WEIGHTS, 0.5), (GRADIENTS, 0.0))
)

AXES: dict[str, tuple[Chart, dict[str, str]]] = {
    # The axis goes from 62 to 426 over two decades, so 10 minutes are at 244; 90 % less 2 % is 186, 100 % is 36, so
    # a percent is 12.5. Labels stand 6 before the axis and 4 below their line, or 16 and 34 below the axis.
    "goodput": (
        lambda: curves.goodput_chart([(60.0, 0.9), (600.0, 0.97), (6000.0, 0.95)], (600.0, 0.97), "alt"),
        {
            "height": "230",
            "texts": "90 % 11 56,165; 95 % 11 56,102.5; 100 % 11 56,40; 60 s 11 62,202; 10 min 11 244,202; "
            "100 min 11 426,202; planned: 10 min, 97 % 13 80,14; interval between checkpoints 12 426,220",
            "lines": "62,161 426,161; 62,98.5 426,98.5; 62,36 426,36; 244,36 244,186",
            "dots": "244,73.5 r6; 68,10 r6",
            "curves": "62,161 244,73.5 426,98.5 w3",
        },
    ),
    # Zero is at 220, and 100 % are 212 on both sides: 50 % are 106, 5 % are 10.6. Rows of 36 from 8 on: the label 12
    # below, the bar of 13 17 below, the line of zero 2 beyond the bar.
    "tornado": (
        lambda: curves.tornado_chart(
            [LeverBar("n", "8", 0.5, "+50 %"), LeverBar("t", "4", -0.05, "−5 %"), LeverBar("p", "2", 1.5, "+150 %")],
            "alt",
        ),
        {
            "height": "116",
            "texts": "n 13 8,20; 8 12 432,20; +50 % 11 331,36; t 13 8,56; 4 12 432,56; −5 % 11 204.4,72; p 13 8,92; "
            "2 12 432,92; +150 % → 11 427,108",
            "lines": "220,23 220,40; 220,59 220,76; 220,95 220,112",
            "boxes": "220,25 106,13; 209.4,61 10.6,13; 220,97 212,13",
        },
    ),
    # Decades from 10 GB/s at 8 to 1 TB/s at 424: 208 each, so 50 GB/s are at 8 + 208 × 0.699, 20 GB/s at 8 + 208 ×
    # 0.301.
    # Rows of 36 from 34 on, their dots 28 below, the line of a tick from 18 to 35 below.
    "bandwidth": (
        lambda: links.dot_chart(
            [DotRow("up", "tp", 1e12, None, None), DotRow("out", "dp", 50e9, 20e9, 10e9, "64")], "alt"
        ),
        {
            "height": "130",
            "texts": "line rate 12 26,14; predicted 12 116,14; measured 12 210,14; 10 GB/s 11 8,121; "
            "100 GB/s 11 216,121; "
            "1 TB/s 11 424,121; up 13 8,48;  12 432,48; out 13 8,84; 64 12 432,84",
            "lines": "8,52 8,69; 8,88 8,105; 216,52 216,69; 216,88 216,105; 424,52 424,69; 424,88 424,105; "
            "8,62 424,62 w2; 8,98 153.4,98 w2",
            "dots": "14,10 r6 w2; 104,10 r5; 424,62 r6 w2; 153.4,98 r6 w2; 70.6,98 r5",
            "shapes": "192,10 198,4 204,10 198,16; 2,98 8,92 14,98 8,104",
        },
    ),
    # Decades of 208 from 100 ms at 8 to 10 s at 424: 2 s are at 216 + 62.6. The hatch is a path, which has no place
    # here.
    "survival": (
        lambda: links.wire_chart([WireRow("TP", "tp", 0.1, 1.0), WireRow("DDP", "dp", 2.0, 10.0, "slow")], "alt"),
        {
            "height": "130",
            "texts": "on the wire 12 26,14; computation of the step 12 118,14; 100 ms 11 8,121; 1 s 11 216,121; "
            "10 s 11 424,121; TP 13 8,48; 100 ms on the wire 12 432,48; DDP 13 8,84; slow 12 432,84",
            "lines": "110,3 110,18 w3; 8,52 8,69; 8,88 8,105; 216,52 216,69; 216,88 216,105; 424,52 424,69; "
            "424,88 424,105; 8,62 8,62 w2; 216,55 216,69 w3; 8,98 278.6,98 w2; 424,91 424,105 w3",
            "dots": "14,10 r5; 8,62 r6; 278.6,98 r6",
        },
    ),
    # The ridge is at 1000 FLOP/B, a thirtieth of it in the decade from 10 on: 166 for a decade from 96 to 428. Rates of
    # 1 to 1000 TFLOP/s take 200 / 3 for a decade. A kernel with the place of another moves by 22: down, or up from the
    # axis.
    "roofline": (
        lambda: log_plots.roofline_chart(
            1e15, 1e12, [RooflinePoint("b", 100.0, 1e12, 0.2), RooflinePoint("a", 100.0, 1e13, 0.7)] * 2, "alt"
        ),
        {
            "height": "276",
            "texts": "1 TFLOP/s 11 90,240; 10 TFLOP/s 11 90,173.3; 100 TFLOP/s 11 90,106.7; 1 PFLOP/s 11 90,40; "
            "10 11 96,251; 100 11 262,251; 1,000 11 428,251; FLOPs for each byte of device memory 12 428,268; "
            "peak 1 PFLOP/s 12 96,14; 1 11 262,173.3; 2 11 262,195.3; 3 11 262,240; 4 11 262,218",
            "lines": "96,236 428,236; 96,169.3 428,169.3; 96,102.7 428,102.7; 96,36 428,36; 96,36 96,236; "
            "262,36 262,236; 428,36 428,236; 262,169.3 262,191.3; 262,236 262,214",
            "dots": "262,169.3 r3.5; 262,236 r3.5; 262,169.3 r9; 262,191.3 r9; 262,191.3 r8; 262,236 r9; 262,214 r9; "
            "262,214 r8",
            "curves": "96,169.3 428,36 428,36 w2",
        },
    ),
    # Two plans at one place share a mark.
    # From 20 / 1.25 to 80 × 1.25 are log 6.25 on 52 to 426: a decade is 470. From 240 to 1125 they are 220 on log 4.69.
    "front": (
        lambda: log_plots.front_chart(
            [FrontPoint(20.0, 900.0, "", ""), FrontPoint(80.0, 300.0, "", ""), FrontPoint(80.0, 300.0, "", "")],
            FrontPoint(40.0, 400.0, "", ""),
            "alt",
        ),
        {
            "height": "296",
            "texts": "output tokens per second of an accelerator 12 0,14; 500 11 46,153.5; 1,000 11 46,54.8; "
            "20 11 97.5,269; 50 11 284.5,269; 100 11 426,269; output tokens per second of a user 12 426,286; "
            "1 11 97.5,69.8; 2–3 11 380.5,226.2",
            "lines": "52,149.5 426,149.5; 52,50.8 426,50.8; 97.5,34 97.5,254; 284.5,34 284.5,254; 426,34 426,254",
            "dots": "97.5,65.8 r9",
            "boxes": "366,213.2 28.9,18",
            "curves": "380.5,222.2 380.5,222.2 239,181.3 97.5,65.8 w2",
            "shapes": "232,181.3 239,174.3 246,181.3 239,188.3",
        },
    ),
    # A decade of sizes is 332 / 3 from 74 to 406, one of rates 100 from 228 up: half of 10 GB/s is at 28 + 30.1.
    # Both curves end at 28: numbers of 9 are 20 apart, 20 beyond the axis.
    "sizes": (
        lambda: size_chart(
            [SizeCurve(((1e3, 1e8), (1e6, 1e10)), 1e5), SizeCurve(((1e3, 1e9), (1e6, 1e10)), None)],
            "alt",
            "{:g}".format,
        ),
        {
            "height": "268",
            "texts": "100 MB/s 11 68,232; 1 GB/s 11 68,132; 10 GB/s 11 68,32; 1000 11 74,243; 10000 11 184.7,243; "
            "100000 11 295.3,243; 1e+06 11 406,243; size of the message 12 406,260; 1 11 426,32; 2 11 426,52",
            "lines": "74,228 406,228; 74,128 406,128; 74,28 406,28; 74,28 74,228; 184.7,28 184.7,228; "
            "295.3,28 295.3,228; 406,28 406,228; 406,28 426,28; 406,28 426,48",
            "dots": "295.3,58.1 r4 w2; 426,28 r9; 426,48 r9",
            "curves": "74,228 406,28 w2; 74,128 406,28 w2",
        },
    ),
    # Prices up to 1.08 × 10 on 62 to 414 are 32.6 for one, work up to 1.1 × 20 on 168 to 30 is 6.27 for one; the level
    # of
    # 10 is at 105.3. The labels of sizes are on plates 8 and 16 next to their dots, on the other side of the level.
    "choices": (
        lambda: curves.choice_chart(
            [
                ChoicePoint("16", (6.0, 10.0), 20.0),
                ChoicePoint("8", (3.0, 5.0), 9.0, works=False),
                ChoicePoint("", (7.0, 9.0), 15.0, "A", "good", series=False),
            ],
            ("price", "tokens"),
            (seconds, seconds),
            "alt",
            (10.0, "load: 10"),
        ),
        {
            "height": "210",
            "texts": "tokens 12 0,14; 0 s 11 56,172; 10 s 11 56,109.3; 20 s 11 56,46.5; load: 10 11 414,100.3; "
            "16 11 330.7,58.5; 8 11 200.4,127.5; A 12 322.7,78.2; 0 s 11 62,184; 5 s 11 225,184; 10 s 11 387.9,184; "
            "price 12 414,202",
            "lines": "62,168 414,168; 62,105.3 414,105.3; 62,42.5 414,42.5; 62,105.3 414,105.3 w1.5; "
            "257.6,42.5 387.9,42.5 w3; 159.8,111.5 225,111.5 w3; 290.1,73.9 355.3,73.9 w3",
            "boxes": "328.7,48.5 16,13; 198.4,117.5 10.8,13",
            "dots": "322.7,42.5 r4; 192.4,111.5 r4 w2; 322.7,73.9 r9",
            "curves": "192.4,111.5 322.7,42.5 w2",
        },
    ),
    # Prices up to 1.08 × 40 are 8.15 for one, days up to 1.1 × 30 are 4.18 for one; the level of 8 is at 134.5. Sizes
    # that fall have their labels at the left below, or at the right above where the level, an axis or another mark is
    # there;
    # no label leaves the drawing. The name of the level takes the place at the last size, whose own name is 14 farther
    # below, joined to it by a line. A design with errors is a ring.
    "choices: falling": (
        lambda: curves.choice_chart(
            [
                ChoicePoint("4 nodes", (1.0, 1.0), 30.0),
                ChoicePoint("8 nodes", (2.0, 2.0), 12.0),
                ChoicePoint("16 nodes", (40.0, 40.0), 9.0),
                ChoicePoint("", (10.0, 10.0), 10.0, "A", "limit", works=False),
            ],
            ("price", "days"),
            (seconds, seconds),
            "alt",
            (8.0, "most"),
        ),
        {
            "height": "210",
            "texts": "days 12 0,14; 0 s 11 56,172; 10 s 11 56,130.2; 20 s 11 56,88.4; 30 s 11 56,46.5; "
            "most 11 414,129.5; "
            "4 nodes 11 78.1,34.5; 8 nodes 11 86.3,109.8; 16 nodes 11 332.9,160.4; A 12 143.5,130.5; 0 s 11 62,184; "
            "20 s 11 225,184; 40 s 11 387.9,184; price 12 414,202",
            "lines": "62,168 414,168; 62,126.2 414,126.2; 62,84.4 414,84.4; 62,42.5 414,42.5; 62,134.5 414,134.5 w1.5; "
            "387.9,130.4 381.9,150.4; 70.1,42.5 70.1,42.5 w3; 78.3,117.8 78.3,117.8 w3; "
            "387.9,130.4 387.9,130.4 w3; 143.5,126.2 143.5,126.2 w3",
            "boxes": "76.1,24.5 46.1,13; 84.3,99.8 45.9,13; 330.9,150.4 51,13",
            "dots": "70.1,42.5 r4; 78.3,117.8 r4; 387.9,130.4 r4; 143.5,126.2 r9; 143.5,126.2 r9 w2",
            "curves": "70.1,42.5 78.3,117.8 143.5,126.2 387.9,130.4 w2",
        },
    ),
    # A layout that does not fit is hatched, 6 above and below its line: 416 and 12 are 71 steps of 6.
    "survival: does not fit": (
        lambda: links.wire_chart([WireRow("DDP", "dp", 1.0, 0.1, fits=False)], "alt"),
        {
            "height": "94",
            "texts": "on the wire 12 26,14; computation of the step 12 118,14; 100 ms 11 8,85; 1 s 11 424,85; "
            "DDP 13 8,48; "
            "1 s on the wire 12 432,48",
            "lines": "110,3 110,18 w3; 8,52 8,69; 424,52 424,69; 8,62 424,62 w2; 8,55 8,69 w3",
            "dots": "14,10 r5; 424,62 r6 w2",
            "paths": "8,56 424,68 71 lines",
        },
    ),
}

STACKS: dict[str, tuple[Chart, dict[str, str]]] = {
    # 438 for 4 s. Lanes of 34 from 20 on and of 14 below them, 4 for a gap and 20 for the text; a unit parts neighbors.
    # The legend has two columns of 220, of which 208 are used, in rows of 21, with boxes of 12 and texts 17 to the
    # right.
    "timeline": (
        lambda: bars.timeline_chart([WEIGHTS, GRADIENTS], [GRADIENTS], seconds, "alt"),
        {
            "height": "206",
            "texts": "one step of the slowest pipeline stage 12 0,14; overlapped 12 0,73; 0 s 11 0,116; "
            "1 s 11 109.5,116; "
            "2 s 11 219,116; 3 s 11 328.5,116; 4 s 11 438,116; weights 12 17,140; 3 GB 12 208,140; "
            "gradients 12 237,140; 1 GB 12 428,140; Hidden: 12 0,165; gradients 12 17,185; 1 GB 12 208,185",
            "lines": "0,96 0,101; 109.5,96 109.5,101; 219,96 219,101; 328.5,96 328.5,101; 438,96 438,101",
            "boxes": "0,20 327.5,34; 328.5,20 108.5,34; 0,78 108.5,14; 0,130 12,12; 220,130 12,12; 0,175 12,12",
        },
    ),
    # 436 for a capacity of 5 s are 87.2 for one: 3.5 s are at 305.2, 4.5 s at 392.4. The limit goes 6 beyond the stack.
    "memory": (
        lambda: bars.capacity_chart([WEIGHTS, GRADIENTS], 5.0, (3.5, 4.5), seconds, "alt"),
        {
            "height": "143",
            "texts": "range 11 299.2,72; capacity 5 s 12 432,15; 0 s 11 0,98; 2 s 11 174.4,98; 4 s 11 348.8,98; "
            "weights 12 17,122; 3 GB 12 208,122; gradients 12 237,122; 1 GB 12 428,122",
            "lines": "305.2,68 392.4,68 w2; 305.2,64 305.2,72 w2; 392.4,64 392.4,72 w2; 436,18 436,66 w3; 0,78 0,83; "
            "174.4,78 174.4,83; 348.8,78 348.8,83",
            "boxes": "0,24 436,36; 0,24 260.6,36; 261.6,24 86.2,36; 0,112 12,12; 220,112 12,12",
        },
    ),
    # 109 for one of 4 s; a capacity of 1 s is at 109, too near to the start for a text before it; a range from 0 s has
    # its text at 40, not at the start.
    "memory: beyond a small capacity": (
        lambda: bars.capacity_chart([WEIGHTS, GRADIENTS], 1.0, (0.0, 4.0), seconds, "alt"),
        {
            "height": "143",
            "texts": "range 11 40,72; capacity 1 s 12 113,15; 0 s 11 0,98; 1 s 11 109,98; 2 s 11 218,98; "
            "3 s 11 327,98; "
            "4 s 11 436,98; weights 12 17,122; 3 GB 12 208,122; gradients 12 237,122; 1 GB 12 428,122",
            "lines": "0,68 436,68 w2; 0,64 0,72 w2; 436,64 436,72 w2; 109,18 109,66 w3; 0,78 0,83; 109,78 109,83; "
            "218,78 218,83; 327,78 327,83; 436,78 436,83",
            "boxes": "0,24 109,36; 0,24 326,36; 327,24 108,36; 0,112 12,12; 220,112 12,12",
        },
    ),
    # A digit of 12 is 7.5 wide ("0" has 625 thousandths), 8 before the axis: 420.5 for 5 s are 84.1 for one. Rows of 20
    # from 22 on, bars of 15 with 2 above them.
    "stages": (
        lambda: bars.stack_rows_chart(
            [bars.StackRow("0", (WEIGHTS, GRADIENTS)), bars.StackRow("1", (WEIGHTS,))],
            seconds,
            "alt",
            name="stages",
            capacity=5.0,
        ),
        {
            "height": "123",
            "texts": "0 s 11 15.5,77; 2 s 11 183.7,77; 4 s 11 351.9,77; 0 12 7.5,35; 1 12 7.5,55; "
            "capacity 5 s 12 432,14; "
            "weights 12 17,102;  12 208,102; gradients 12 237,102;  12 428,102",
            "lines": "15.5,22 15.5,62; 183.7,22 183.7,62; 351.9,22 351.9,62; 436,18 436,62 w3",
            "boxes": "15.5,24 251.3,15; 267.8,24 83.1,15; 15.5,44 251.3,15; 0,92 12,12; 220,92 12,12",
        },
    ),
    # Without a capacity the rows begin at 4, and without a legend the drawing ends 20 below them.
    "times": (
        lambda: bars.timed_rows_chart([bars.StackRow("0", (WEIGHTS,))], "alt", name="times", legend=False),
        {
            "height": "44",
            "texts": "0 s 11 15.5,39; 1 s 11 155.7,39; 2 s 11 295.8,39; 3 s 11 436,39; 0 12 7.5,17",
            "lines": "15.5,4 15.5,24; 155.7,4 155.7,24; 295.8,4 295.8,24; 436,4 436,24",
            "boxes": "15.5,6 419.5,15",
        },
    ),
    # The longest row has two hours, so that the axis is in hours; both kinds of parts are in the legend.
    "times: hours": (
        lambda: bars.timed_rows_chart(
            [
                bars.StackRow("a", (StackPart("x", "tp", 7200.0, "2 h"),)),
                bars.StackRow("bb", (StackPart("y", "dp", 60.0, "1 min"),)),
            ],
            "alt",
            name="times",
        ),
        {
            "height": "105",
            "texts": "0 h 11 22.9,59; 0.5 h 11 126.2,59; 1 h 11 229.5,59; 1.5 h 11 332.7,59; 2 h 11 436,59; "
            "a 12 14.9,17; "
            "bb 12 14.9,37; x 12 17,84;  12 208,84; y 12 237,84;  12 428,84",
            "lines": "22.9,4 22.9,44; 126.2,4 126.2,44; 229.5,4 229.5,44; 332.7,4 332.7,44; 436,4 436,44",
            "boxes": "22.9,6 412.1,15; 22.9,26 2.4,15; 0,74 12,12; 220,74 12,12",
        },
    ),
    # Columns of 174 from 92 on, of which a fifth is free on both sides; 150 for 4.5 s are 33.3 for one from 164 up.
    # The sum stands 5 above the column and its range.
    "years": (
        lambda: bars.yearly_chart(
            [Year("1", (WEIGHTS, GRADIENTS), 3.5, 4.5), Year("2", (WEIGHTS,), 3.0, 3.0)], seconds, "alt"
        ),
        {
            "height": "229",
            "texts": "0 s 11 86,168; 2 s 11 86,101.3; 4 s 11 86,34.7; 1 12 179,181; 4 s 11 179,9; 2 12 353,181; "
            "3 s 11 353,59; "
            "weights 12 17,208; 6 s 12 208,208; gradients 12 237,208; 1 s 12 428,208",
            "lines": "92,164 440,164; 92,97.3 440,97.3; 92,30.7 440,30.7; 179,47.3 179,14 w2",
            "boxes": "126.8,64 104.4,99; 126.8,30.7 104.4,32.3; 300.8,64 104.4,99; 0,198 12,12; 220,198 12,12",
        },
    ),
    # 161.2 for the whole from 52 % of the width on: 0.8 end at 357.8, 0.9 at 373.9. Bars of 15 in rows of 22 from 6 on.
    "waterfall": (
        lambda: bars.waterfall_chart(
            [FallBar("bubble", "bubble", 0.2, "20 %"), FallBar("overlap", "tp", -0.1, "−10 %")],
            FallBar("left", "forward", 0.9, "90 %"),
            "alt",
            start="peak",
        ),
        {
            "height": "96",
            "texts": "peak 12 218.8,18; 100 % 12 396,18; bubble 12 218.8,40; 20 % 12 396,40; overlap 12 218.8,62; "
            "−10 % 12 379.9,62; left 12 218.8,84; 90 % 12 379.9,84",
            "lines": "390,21 390,28; 357.8,43 357.8,50; 373.9,65 373.9,72",
            "boxes": "228.8,6 161.2,15; 357.8,28 32.2,15; 357.8,50 16.1,15; 228.8,72 145.1,15",
        },
    ),
    # Columns of 185 from 70 on, texts 6 after their start and 10 before their end; rows of 44 from 30 on.
    "bytes": (
        lambda: bars.traffic_matrix(
            ["tp", "dp"],
            ["up", "out"],
            {("tp", "up"): SentBytes("1 GB", 0.5, "50 %"), ("dp", "out"): SentBytes("9 GB", 2.0, "busy")},
            "alt",
        ),
        {
            "height": "120",
            "texts": "up 13 76,18; out 13 261,18; tp 13 0,47; 1 GB 13 76,47; 50 % 12 245,47; dp 13 0,91; "
            "9 GB 13 261,91; "
            "busy 12 430,91",
            "lines": "0,28 440,28; 0,72 440,72",
            "boxes": "76,55 169,8; 76,55 84.5,8; 261,99 169,8; 261,99 169,8",
        },
    ),
    # Cells of 192 × 32 from 54, 46 on, 2 less drawn; below a value across a hatch lies a plate, 4 wider on both sides.
    "layouts": (
        lambda: bars.heatmap_chart(
            [1, 2],
            [4, 8],
            [
                HeatCell(0.0, "1 s"),
                HeatCell(1.0, "9 s", hatched=True),
                HeatCell(None, ""),
                HeatCell(0.7, "4 s", marked=True),
            ],
            "alt",
        ),
        {
            "height": "162",
            "texts": "pipeline stages (pp) 12 54,16; 1 12 149,36; 2 12 341,36; tp 12 0,36; 4 12 44,65; 1 s 12 149,65; "
            "9 s 12 341,65; 8 12 44,97; 4 s 12 341,97; step time: fast 12 0,130; slow 12 188,130; "
            "does not fit 12 259,130; "
            "this layout 12 24,154; not legal, or no step time 12 133,154",
            "boxes": "54,46 190,30; 246,46 190,30; 328.4,52 25.1,18; 54,78 190,30; 246,78 190,30; 246,78 190,30 w3; "
            "92,119 17,13; 110,119 17,13; 128,119 17,13; 146,119 17,13; 164,119 17,13; 236,119 17,13; "
            "1,143 17,13 w3; 110,143 17,13",
            "paths": "246,46 436,76 31 lines; 236,119 253,132 5 lines",
        },
    ),
    # 438 for 4.5 s are 97.3 for one. Of 3 s on the wire 0.5 s follow the 4 s of the device: they begin at 1.5 s. The
    # exposed 0.5 s delay the next, which begins at 4.5 - 1 s. Rows of 8, 10 apart, begin 4 below the device. The
    # legend has
    # the sums of both passes.
    "layer": (
        lambda: layer_chart([GRADIENT_PASS, DrawnPass("backward", (WEIGHTS,), (), ())], seconds, "alt"),
        {
            "height": "204",
            "texts": "forward 12 0,14; backward 12 0,82; 0 s 11 0,138; 2 s 11 194.7,138; 4 s 11 389.3,138; "
            "weights 12 17,162; 6 s 12 208,162; gradients 12 17,183; 1 s 12 208,183; exposed 12 237,162; "
            "0.5 s 12 428,162",
            "lines": "0,118 0,123; 194.7,118 194.7,123; 389.3,118 389.3,123",
            "boxes": "0,20 291,20; 292,20 96.3,20; 389.3,20 47.7,20; 146,44 292,8; 340.7,54 97.3,8; 0,88 291,20; "
            "0,152 12,12; 0,173 12,12; 220,152 12,12",
            "paths": "389.3,20 437,40 13 lines",
        },
    ),
    # 94 for a second from 62 on, stages of 18 from 4 on. A key takes 32 and 6.6 for a letter.
    "schedule": (
        lambda: schedule_chart(
            ["stage 1", "stage 2"],
            [("forward", "forward", [Span(0, 0.0, 1.0)]), ("backward", "backward", [Span(1, 2.0, 4.0)])],
            seconds,
            "alt",
        ),
        {
            "height": "90",
            "texts": "stage 1 11 56,17; stage 2 11 56,35; 0 s 11 62,60; 1 s 11 156,60; 2 s 11 250,60; 3 s 11 344,60; "
            "4 s 11 438,60; forward 12 17,82; backward 12 95.2,82; idle 12 180,82",
            "lines": "62,40 62,45; 156,40 156,45; 250,40 250,45; 344,40 344,45; 438,40 438,45",
            "boxes": "62,4 376,36; 0,72 12,12; 78.2,72 12,12; 163,72 12,12",
            "paths": "M62.00 5.0h93.65v16.0h-93.65z; M250.00 23.0h187.65v16.0h-187.65z",
        },
    ),
    # 142 for 10 µs from 236 on are 14.2 for one. Hops of 46 from 34 on; links of 9, of 2 and of unknown rate between
    # them, 11 from their middles.
    "path": (
        lambda: path_chart(HOPS, "alt"),
        {
            "height": "194",
            "texts": "time since the start 11 236,13; added 11 440,13; +9 µs 11 440,38.5; 9 µs: launch 11 236,52; "
            "GPU 13 34,38.5; "
            "100 B/s 11 34,61;  11 440,84.5; NIC 13 34,84.5; narrowest: 10 B/s 11 34,107; +1 µs 11 440,130.5; "
            "10 µs: cables 11 236,144; leaf 13 34,130.5; not known 11 440,176.5; GPU 2 13 34,176.5; 1 11 14,38; "
            "2 11 14,84; 3 11 14,130; 4 11 14,176",
            "lines": "14,45 14,69 w9; 14,91 14,115 w2; 14,137 14,161 w1.5",
            "boxes": "236,28 142,12; 236,28 0,12; 236,28 127.8,12; 236,74 142,12; 236,74 127.8,12; 363.8,74 0,12; "
            "236,120 142,12; 236,120 127.8,12; 363.8,120 14.2,12; 236,166 142,12; 236,166 142,12; 378,166 0,12",
            "dots": "14,34 r11; 14,80 r11; 14,126 r11; 14,172 r11",
        },
    ),
    # The larger plate has edges of 100, the other of 50: cos 30° or 86.6 across, a half down. Plates 9 thick, 50 apart.
    "areas": (
        lambda: pyramid_chart(
            [AreaPlate("racks", 25.0, "25 m²", "racks", "1 / 4"), AreaPlate("room", 100.0, "100 m²", "dp")], "alt"
        ),
        {
            "height": "146",
            "texts": "racks 13 200,33.5; 25 m² 13 440,33.5; 1 / 4 11 200,48; room 13 200,83.5; 100 m² 13 440,83.5",
            "lines": "104,29 104,79; 149.3,29 194,29 w0.8; 192.6,79 194,79 w0.8",
            "shapes": "17.4,79 104,129 104,138 17.4,88; 17.4,79 104,129 104,138 17.4,88; "
            "104,129 190.6,79 190.6,88 104,138; 104,129 190.6,79 190.6,88 104,138; 104,29 190.6,79 104,129 17.4,79; "
            "60.7,29 104,54 104,63 60.7,38; 60.7,29 104,54 104,63 60.7,38; 104,54 147.3,29 147.3,38 104,63; "
            "104,54 147.3,29 147.3,38 104,63; 104,4 147.3,29 104,54 60.7,29",
        },
    ),
}

MACHINES: dict[str, tuple[Chart, dict[str, str]]] = {
    # Two centers on 10 to 430 are 115 and 325. NICs of 40 × 18 from 40 on between stubs, the host of 26 from 80 on,
    # accelerators of 46 × 34 from 130 on, and 24 below them the switches, to the edge where other nodes share them.
    "node": (
        lambda: machine.node_chart(DrawnNode(2, "H100", 2, "2 NICs", "host", "switched", "NVLink", 1), "alt"),
        {
            "height": "254",
            "texts": "2 NICs 12 10,14; NIC 11 115,53; NIC 11 325,53; host 12 220,97; 1 11 115,151; 2 11 325,151; "
            "scale-up switches, shared with 1 more node 12 220,203; 2 accelerators: H100 12 10,228; NVLink 12 10,244.5",
            "lines": "115,22 115,40 w2; 115,58 115,80; 325,22 325,40 w2; 325,58 325,80; 115,106 115,130; "
            "325,106 325,130; "
            "115,164 115,188 w2; 325,164 325,188 w2",
            "boxes": "95,40 40,18; 305,40 40,18; 10,80 420,26; 92,130 46,34; 302,130 46,34; 10,188 430,22",
        },
    ),
    # Without NICs all of it stands 36 higher.
    "node: alone": (
        lambda: machine.node_chart(DrawnNode(1, "T4", 0, "no NICs", "host", "none", "no links"), "alt"),
        {
            "height": "174",
            "texts": "no NICs 12 10,14; host 12 220,61; 1 11 220,115; 1 accelerator: T4 12 10,148; "
            "no links 12 10,164.5",
            "lines": "220,70 220,94",
            "boxes": "10,44 420,26; 197,94 46,34",
        },
    ),
    "node: ring of one": (
        lambda: machine.node_chart(DrawnNode(1, "T4", 0, "no NICs", "host", "ring", "no links"), "alt"),
        {
            "height": "174",
            "texts": "no NICs 12 10,14; host 12 220,61; 1 11 220,115; 1 accelerator: T4 12 10,148; "
            "no links 12 10,164.5",
            "lines": "220,70 220,94",
            "boxes": "10,44 420,26; 197,94 46,34",
        },
    ),
    # Two ports of each accelerator divide its 46 in three. The arc of 16 steps is 10 + 32 deep where it spans all.
    "node: ports": (
        lambda: machine.node_chart(
            DrawnNode(2, "Gaudi", 4, "4 ports", "host", "bridge", "links", own_ports=True), "alt"
        ),
        {
            "height": "194",
            "texts": "4 ports 12 10,14; 1 11 115,65; 2 11 325,65; host 12 220,143; 2 accelerators: Gaudi 12 10,168; "
            "links 12 10,184.5",
            "lines": "115,78 115,128; 325,78 325,128; 107.3,24 107.3,44 w2; 122.7,24 122.7,44 w2; "
            "317.3,24 317.3,44 w2; "
            "332.7,24 332.7,44 w2",
            "boxes": "92,44 46,34; 302,44 46,34; 10,128 420,22",
            "curves": "115,78 128.1,86.2 141.2,94.1 154.4,101.3 167.5,107.7 180.6,112.9 193.8,116.8 206.9,119.2 "
            "220,120 233.1,119.2 246.2,116.8 259.4,112.9 272.5,107.7 285.6,101.3 298.8,94.1 311.9,86.2 325,78 w1.2",
        },
    ),
    # Three stubs of a torus, 5 apart at the accelerator and 10 at their ends, 16 below.
    "node: torus": (
        lambda: machine.node_chart(DrawnNode(2, "TPU", 1, "NIC", "host", "torus", "links"), "alt"),
        {
            "height": "226",
            "texts": "NIC 12 10,14; NIC 11 220,53; host 12 220,97; 1 11 115,151; 2 11 325,151; "
            "2 accelerators: TPU 12 10,200; "
            "links 12 10,216.5",
            "lines": "220,22 220,40 w2; 220,58 220,80; 115,106 115,130; 325,106 325,130; 110,164 105,180 w2; "
            "115,164 115,180 w2; 120,164 125,180 w2; 320,164 315,180 w2; 325,164 325,180 w2; 330,164 335,180 w2",
            "boxes": "200,40 40,18; 10,80 420,26; 92,130 46,34; 302,130 46,34",
        },
    ),
    # Switches of 96 × 20, 52 below the accelerators; the width of a link of the first is a half and a half for each.
    "node: switches": (
        lambda: machine.node_chart(
            DrawnNode(2, "H100", 1, "NIC", "host", "switched", "NVLink", switch_links=(2, 1)), "alt"
        ),
        {
            "height": "298",
            "texts": "NIC 12 10,14; NIC 11 220,53; host 12 220,97; 1 11 115,151; 2 11 325,151; switch 1 11 115,230; "
            "2 links 11 115,251; switch 2 11 325,230; 1 link 11 325,251; 2 accelerators: H100 12 10,272; "
            "NVLink 12 10,288.5",
            "lines": "220,22 220,40 w2; 220,58 220,80; 115,106 115,130; 325,106 325,130; 325,164 115,216; "
            "325,164 325,216; "
            "115,164 115,216 w1.5; 115,164 325,216",
            "boxes": "200,40 40,18; 10,80 420,26; 92,130 46,34; 302,130 46,34; 67,216 96,20; 277,216 96,20",
        },
    ),
    # Two centers on 8 to 432 are 114 and 326. Leaves of 64 × 22 from 60 on, nodes of 70 × 26 from 172 on; stubs of
    # uplinks 7 apart at the leaf, 1.6 times that at 26.
    "block": (
        lambda: machine.block_chart(DrawnBlock(2, 2, 1, "up", "nodes", "leaves"), "alt"),
        {
            "height": "244",
            "texts": "up 12 8,14; leaf 1 11 114,75; leaf 2 11 326,75; node 1 11 114,189; node 2 11 326,189; "
            "leaves 12 8,218; "
            "nodes 12 8,235",
            "lines": "107,60 102.8,26 w1.5; 114,60 114,26 w1.5; 121,60 125.2,26 w1.5; 319,60 314.8,26 w1.5; "
            "326,60 326,26 w1.5; "
            "333,60 337.2,26 w1.5; 326,172 114,82; 326,172 326,82; 114,172 114,82 w1.8; 114,172 326,82 w1.8",
            "boxes": "82,60 64,22; 294,60 64,22; 79,172 70,26; 291,172 70,26",
        },
    ),
    "block: no uplinks": (
        lambda: machine.block_chart(DrawnBlock(1, 1, 0, "no uplinks", "node", "leaf"), "alt"),
        {
            "height": "192",
            "texts": "no uplinks 12 8,14; leaf 1 11 220,45; node 1 11 220,137; leaf 12 8,166; node 12 8,183",
            "lines": "220,120 220,52 w1.8",
            "boxes": "188,30 64,22; 185,120 70,26",
        },
    ),
    # Two centers on 158 to 440 are 228.5 and 369.5. Boxes of 60 × 34, 40 apart; in pods the lowest two are linked one
    # by one.
    "whole": (
        lambda: machine.fabric_chart(
            [
                DrawnRow(2, "pp", "cores", "2"),
                DrawnRow(2, "cp", "spines", "", "× 2"),
                DrawnRow(2, "memory", "blocks", "of 8"),
            ],
            "alt",
            pods=2,
        ),
        {
            "height": "196",
            "texts": "cores 12.5 0,22; 2 11 0,38; spines 12.5 0,96;  11 0,112; × 2 11 228.5,103; × 2 11 369.5,103; "
            "blocks 12.5 0,170; of 8 11 0,186",
            "lines": "228.5,42 228.5,82 w0.7; 228.5,42 369.5,82 w0.7; 369.5,42 228.5,82 w0.7; 369.5,42 369.5,82 w0.7; "
            "228.5,116 228.5,156 w0.7; 369.5,116 369.5,156 w0.7",
            "boxes": "198.5,8 60,34; 339.5,8 60,34; 198.5,82 60,34; 339.5,82 60,34; 198.5,156 60,34; 339.5,156 60,34",
        },
    ),
    # 150 for 42 rack units from the floor at 158: 10 of them are 35.7, less 2; a switch of one is 3.57, less 1. Racks
    # of
    # 48 in the middles of 220. A power of 1.25 is cut at the limit, which is at 440 / 1.25.
    "racks": (
        lambda: rack_chart(DrawnRacks(1, 2, 10, "20 kW", 1.25, "note", DrawnSwitches(2, 1, 4)), "alt"),
        {
            "height": "246",
            "texts": "S1 11 330,173; 10 U 10 110,143.7; 10 U 10 110,108; 1 11 110,173; 20 kW 12 0,196; note 12 0,238",
            "lines": "351,200 351,220 w2",
            "boxes": "306,8 48,150 w1.5; 308.5,154.9 43,2.6; 308.5,151.4 43,2.6; 86,8 48,150 w1.5; 88.5,123.3 43,33.7; "
            "88.5,87.6 43,33.7; 0,204 352,12; 0,204 440,12",
        },
    ),
    # Five racks of two switches of two units: the first, a gap and the last; then five racks of nodes are left of
    # eight.
    # A node of unknown height takes an eighth of its rack.
    "racks: many": (
        lambda: rack_chart(DrawnRacks(40, 1, None, "", None, "", DrawnSwitches(9, 2, 2)), "alt"),
        {
            "height": "222",
            "texts": "S1 11 302.5,173; … 15 357.5,83; S5 11 412.5,173; 1 11 27.5,173; 2 11 82.5,173; 3 11 137.5,173; "
            "… 15 192.5,83; 40 11 247.5,173;  12 0,196",
            "boxes": "278.5,8 48,150 w1.5; 281,151.4 43,6.1; 281,144.2 43,6.1; 388.5,8 48,150 w1.5; 391,151.4 43,6.1; "
            "3.5,8 48,150 w1.5; 6,140.2 43,16.8; 58.5,8 48,150 w1.5; 61,140.2 43,16.8; 113.5,8 48,150 w1.5; "
            "116,140.2 43,16.8; 223.5,8 48,150 w1.5; 226,140.2 43,16.8",
        },
    ),
    # Two lanes of 22 and 6 leave 390: 26 columns of 14. A node that is free for half of the time has a frame. The label
    # of a run are next to its boxes, or below them where it is long; links cross pools 6 apart.
    "fleet": (
        lambda: fleet.fleet_chart(POOLS, [DrawnLink((0, 1), "50 GB/s"), DrawnLink((1, 0), "9 GB/s")], "alt"),
        {
            "height": "223",
            "texts": "north 13 10,23; 3 nodes 12 380,23; a: 2 12 44,44; 1 spare node 12 30,64; south 13 10,107; "
            f"1 node 12 380,107; {'b ' * 31}b… 12 10,144; 1 11 405,85; 2 11 427,79; Each box is 1 node. 12 0,178; "
            "1  north – south: 50\xa0GB/s 12 0,195; 2  south – north: 9\xa0GB/s 12 0,212",
            "boxes": "1,4 388,72 w1.5; 10.5,34.5 10.5,10.5; 10,34 5.8,11.5; 24.5,34.5 10.5,10.5; 24,34 5.8,11.5; "
            "10.5,54.5 10.5,10.5; 1,88 388,68 w1.5; 10,118 11.5,11.5",
            "dots": "405,81 r8; 427,75 r8",
            "curves": "389,40 405,40 405,122 389,122 w2; 389,116 427,116 427,34 389,34 w2",
        },
    ),
    # Two trays of 13 from 22 on have their middles at 28.5 and 41.5, one switch at 35. Accelerators of 16 in the
    # middles
    # of 84.
    "domain": (
        lambda: domain_chart(DrawnDomain(2, 2, 1, "2 nodes", "1 tray", ("4 linked", "900 GB/s")), "alt"),
        {
            "height": "92",
            "texts": "2 nodes 12 0,13; 1 tray 12 440,13; 4 linked 12 0,66; 900 GB/s 12 0,83",
            "lines": "168,41.5 306,35 w0.6; 168,28.5 306,35 w1.4",
            "boxes": "0.7,23.3 166.6,10.4; 34,25.3 16,6.4; 118,25.3 16,6.4; 0.7,36.3 166.6,10.4; 34,38.3 16,6.4; "
            "118,38.3 16,6.4; 306,30 134,10",
        },
    ),
    # Links of 34; a plane behind goes 17 right and 12.2 up. Stubs of 8 go around.
    "torus": (
        lambda: torus_chart((2, 2, 2), "alt", "2 × 2 × 2", "rate"),
        {
            "height": "128",
            "texts": "2 × 2 × 2 12 10,102.2; rate 12 10,119.2",
            "lines": "41,20 75,20 w1.2; 75,20 75,54 w1.2; 24,32.2 45.8,16.5 w1.2; 58,32.2 79.8,16.5 w1.2; "
            "58,66.2 79.8,50.5 w1.2; 16,32.2 58,32.2 w1.2; 16,66.2 58,66.2 w1.2; 24,32.2 24,74.2 w1.2; "
            "58,32.2 58,74.2 w1.2",
            "dots": "41,20 r2.38; 75,20 r2.38; 75,54 r2.38; 24,32.2 r3.4; 58,32.2 r3.4; 24,66.2 r3.4; 58,66.2 r3.4",
        },
    ),
    "torus: flat": (
        lambda: torus_chart((2, 2), "alt", "2 × 2", "rate"),
        {
            "height": "116",
            "texts": "2 × 2 12 10,90; rate 12 10,107",
            "lines": "16,20 66,20 w1.2; 16,54 66,54 w1.2; 24,12 24,62 w1.2; 58,12 58,62 w1.2",
            "dots": "24,20 r3.4; 58,20 r3.4; 24,54 r3.4; 58,54 r3.4",
        },
    ),
    "torus: a ring": (
        lambda: torus_chart((3,), "alt", "3", "rate"),
        {
            "height": "82",
            "texts": "3 12 10,56; rate 12 10,73",
            "lines": "16,20 100,20 w1.2",
            "dots": "24,20 r3.4; 58,20 r3.4; 92,20 r3.4",
        },
    ),
    # Of seven planes six are drawn, and a row has no link down.
    "torus: deep": (
        lambda: torus_chart((2, 1, 7), "alt", "l", "n"),
        {
            "height": "143",
            "texts": "l 12 10,117.2; n 12 10,134.2",
            "lines": "109,20 143,20 w1.2; 143,20 143,20 w1.2; 92,32.2 126,32.2 w1.2; 126,32.2 126,32.2 w1.2; "
            "75,44.5 109,44.5 w1.2; 109,44.5 109,44.5 w1.2; 58,56.7 92,56.7 w1.2; 92,56.7 92,56.7 w1.2; "
            "41,69 75,69 w1.2; "
            "75,69 75,69 w1.2; 24,81.2 113.8,16.5 w1.2; 58,81.2 147.8,16.5 w1.2; 16,81.2 58,81.2 w1.2",
            "dots": "109,20 r2.38; 143,20 r2.38; 92,32.2 r2.38; 126,32.2 r2.38; 75,44.5 r2.38; 109,44.5 r2.38; "
            "58,56.7 r2.38; 92,56.7 r2.38; 41,69 r2.38; 75,69 r2.38; 24,81.2 r3.4; 58,81.2 r3.4",
        },
    ),
    # A text that is too long for its column ends with an ellipsis.
    "path: long names": (
        lambda: path_chart(
            [
                DrawnHop("n" * 60, 1.0, "1", "1 s", "m" * 60),
                DrawnHop("b", None, "", "", "", 5.0, "w" * 60, narrowest=True),
            ],
            "alt",
        ),
        {
            "height": "102",
            "texts": f"time since the start 11 236,13; added 11 440,13; 1 11 440,38.5; 1 s: {'m' * 18}… 11 236,52; "
            f"{'n' * 22}… 13 34,38.5; narrowest: {'w' * 13}… 11 34,61;  11 440,84.5; b 13 34,84.5; 1 11 14,38; "
            "2 11 14,84",
            "lines": "14,45 14,69 w4",
            "boxes": "236,28 142,12; 236,28 0,12; 236,28 142,12; 236,74 142,12; 236,74 142,12; 378,74 0,12",
            "dots": "14,34 r11; 14,80 r11",
        },
    ),
}
ALL = AXES | STACKS | MACHINES


@pytest.mark.parametrize("name", ALL)
def test_every_shape_stands_where_its_value_puts_it(name: str) -> None:
    chart, shapes = ALL[name]
    assert drawn_shapes(chart()) == shapes


def node(count: int, links: str, *, own_ports: bool = False) -> str:
    return machine.node_chart(DrawnNode(count, "a", count, "33", "host", links, "l", own_ports=own_ports), "alt")


def block(nodes: int, leaves: int) -> str:
    return machine.block_chart(DrawnBlock(nodes, leaves, 0, "u", "n", "l"), "alt")


def domain(nodes: int, switches: int) -> str:
    return domain_chart(DrawnDomain(nodes, 12, switches, "n", "s", ("note",)), "alt")


def whole(count: int) -> str:
    return machine.fabric_chart([DrawnRow(count, "pp", "cores", "")], "alt")


POOL = DrawnPool("p", "n", (DrawnNodes(128, (DrawnTurn("a", "tp", 1.0),), "a"),))


@pytest.mark.parametrize(
    ("chart", "kind", "count", "first", "last"),
    [
        # 420 for 32 places are 13.1: NICs 3 and accelerators 4 apart; 30 boxes, a gap and the last
        (lambda: node(33, "ring"), "boxes", 31 + 1 + 31, "11.5,40 10.1,18", "418.9,130 9.1,34"),
        (lambda: node(33, "ring"), "curves", 31, "16.6,164", "423.4,164 w1.2"),
        (lambda: node(33, "ring"), "texts", 1 + 1 + 9 + 1 + 2, "33 12 10,14", "l 12 10,244.5"),
        (lambda: node(32, "none"), "boxes", 32 + 1 + 32, "11.5,40 10.1,18", "418.9,130 9.1,34"),
        (lambda: node(33, "none", own_ports=True), "lines", 31 + 31, "16.6,78", "423.4,24 423.4,44 w2"),
        (lambda: node(32, "none", own_ports=True), "lines", 32 + 32, "16.6,78", "423.4,24 423.4,44 w2"),
        # ten leaves of 424 / 9 and eight nodes of 424 / 7, 6 apart, each with a gap
        (lambda: block(8, 10), "boxes", 8 + 6, "11,30 41.1,22", "374.4,120 54.6,26"),
        (lambda: block(8, 10), "lines", 8 * 6, "98.9,120 31.6,52", "38.3,120 408.4,52 w1.8"),
        (lambda: block(7, 9), "boxes", 9 + 7, "11,30 41.1,22", "374.4,120 54.6,26"),
        # nodes of 13, switches of 312 / 18; accelerators of 160 / 12 less 3 in the middles of 168 / 12
        (lambda: domain(25, 19), "boxes", 23 * 13 + 17, "0.7,23.3 166.6,10.4", "306,320.3 134,10"),
        (lambda: domain(24, 18), "boxes", 24 * 13 + 18, "0.7,23.3 166.6,10.4", "306,320.3 134,10"),
        (lambda: domain(25, 19), "lines", 23 * 17, "168,41.5 306,30.7 w0.6", "168,28.5 306,325.3 w1.4"),
        # 128 nodes are 64 boxes of two, in rows of 30
        (lambda: fleet.fleet_chart([POOL], [], "alt"), "boxes", 1 + 64, "1,4 438,80", "52,62 11.5,11.5"),
        # nine boxes of 282 / 8, 5 apart, the one before the last a gap
        (lambda: whole(9), "boxes", 7, "160.5,8 30.2,34", "407.2,8 30.2,34"),
        (lambda: whole(8), "boxes", 8, "160.5,8 30.2,34", "407.2,8 30.2,34"),
    ],
)
def test_many_equal_parts_are_cut_before_the_last(chart: Chart, kind: str, count: int, first: str, last: str) -> None:
    """Up to 32 accelerators, 9 leaves, 7 nodes of a block, 24 trays, 18 switch trays and 8 switches are all drawn."""
    found = drawn_shapes(chart())[kind].split("; ")
    assert (len(found), found[0][: len(first)], found[-1][-len(last) :]) == (count, first, last)


@pytest.mark.parametrize(
    ("name", "limit"), [("domain", domain(25, 18)), ("leaf", block(1, 10)), ("node", block(8, 1)), ("whole", whole(9))]
)
def test_a_gap_is_marked_in_the_middle_between_its_neighbors(name: str, limit: str) -> None:
    """The ellipsis of 15 stands between the box before it and the last one."""
    marks = [each for each in drawn_shapes(limit)["texts"].split("; ") if each.startswith("…")]
    places = {"domain": "84,318.5", "leaf": "361.3,45.4", "node": "341.1,138.2", "whole": "387.1,29"}
    assert marks == [f"… 15 {places[name]}"]


@pytest.mark.parametrize(
    ("x", "y"), [(-10.0, 100.0), (0.0, 100.0), (25.0, 75.0), (50.0, 50.0), (75.0, 70.0), (120.0, 90.0)]
)
def test_a_roof_is_as_high_as_its_line_at_an_x(x: float, y: float) -> None:
    """From 100 to 50 over 50 units, then to 90 over 50 more, and level before and beyond."""
    assert log_plots._height_of([(0.0, 100.0), (50.0, 50.0), (100.0, 90.0)], x) == y


def test_marks_of_one_place_go_down_up_right_left_and_then_diagonally() -> None:
    """By 22, then by 44, where diagonals of 0.7 of it are clear of the marks before."""
    marks = log_plots.separated_marks([(100.0, 100.0)] * 11)
    near = [(100, 100), (100, 122), (100, 78), (122, 100), (78, 100), (100, 144), (100, 56), (144, 100), (56, 100)]
    assert marks == [*near, pytest.approx((130.8, 130.8)), pytest.approx((69.2, 130.8))]


@pytest.mark.parametrize(
    ("work", "base"),
    [
        (20.0, 148.0 + 16),  # the usual place, below at the right
        (16.5, 151.5 + 16),  # the plate ends 3 below its base line, at 170.5
        (15.5, 152.5 - 8),  # it would end at 171.5: the next place, above at the left
    ],
)
def test_the_plate_of_a_name_ends_at_most_3_below_the_axis(work: float, base: float) -> None:
    """Work up to 1.1 × 138 / 1.1 on 168 to 30 is 1 for one; a name stands 16 below its point or 8 above it."""
    points = [ChoicePoint("8", (4.0, 4.0), work), ChoicePoint("16", (10.0, 10.0), 138 / 1.1)]
    texts = drawn_shapes(curves.choice_chart(points, ("price", "tokens"), (seconds, seconds), "alt"))["texts"]
    (place,) = [text.split()[2] for text in texts.split("; ") if text.startswith("8 11 ")]
    assert float(place.partition(",")[2]) == base


def test_a_name_ends_at_most_2_before_the_right_edge() -> None:
    """The last point is at 414 / 1.08 of the axis; 8 to its right, the long name would end beyond 438."""
    name = "16 nodes with other engines"
    higher = [ChoicePoint("4", (1.0, 1.0), 20.0), ChoicePoint("8", (5.0, 5.0), 138 / 1.1)]  # the curve falls to its end
    points = [*higher, ChoicePoint(name, (10.0, 10.0), 80.0)]
    texts = drawn_shapes(curves.choice_chart(points, ("price", "tokens"), (seconds, seconds), "alt"))["texts"]
    (place,) = [text.rsplit(" ", 1)[1] for text in texts.split("; ") if text.startswith(f"{name} 11 ")]
    assert float(place.partition(",")[0]) == pytest.approx(438 - text_width(name, 11), abs=0.06)
