"use strict";
(function () {
  // ---- elements, numbers ----
  function el(tag, attributes) {
    var node = document.createElement(tag);
    Object.keys(attributes || {}).forEach(function (key) {
      if (key === "text") node.textContent = attributes[key];
      else node.setAttribute(key, attributes[key]);
    });
    for (var i = 2; i < arguments.length; i++) if (arguments[i]) node.appendChild(arguments[i]);
    return node;
  }
  var NS = "http://www.w3.org/2000/svg";
  function shape(tag, attributes) {
    var node = document.createElementNS(NS, tag);
    Object.keys(attributes).forEach(function (key) { node.setAttribute(key, attributes[key]); });
    return node;
  }
  function digits(value) {
    if (value === 0) return "0";
    var places = 2 - Math.floor(Math.log10(Math.abs(value)) + 1e-12);
    var text = value.toFixed(Math.max(0, Math.min(12, places)));
    return text.indexOf(".") < 0 ? String(Math.round(value)) : text.replace(/0+$/, "").replace(/\.$/, "");
  }
  function display(value, unit) {
    if (value === null || value === undefined || !isFinite(value)) return "not known";
    if (unit === "s") {
      if (value >= 360000) return digits(value / 86400) + " days";
      if (value >= 7200) return digits(value / 3600) + " h";
      if (value >= 120) return digits(value / 60) + " min";
      var steps = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]];
      for (var i = 0; i < steps.length; i++)
        if (value >= steps[i][0] * 0.9995) return digits(value / steps[i][0]) + " " + steps[i][1];
      return digits(value / 1e-9) + " ns";
    }
    var names = ["", "k", "M", "G", "T", "P", "E"], n = 0;
    while (value >= 999.5 && n < names.length - 1) { value /= 1000; n++; }
    return digits(value) + " " + names[n] + unit;
  }
  function rows(list, pairs) {
    list.textContent = "";
    pairs.forEach(function (pair) {
      list.appendChild(el("div", pair[2] ? { "data-field": pair[2] } : {}, el("dt", { text: pair[0] }), el("dd", { text: pair[1] })));
    });
  }
  var count = 0;
  function labelled(text, input) {
    input.id = "input-" + ++count;
    return el("p", { class: "control" }, el("label", { for: input.id, text: text }), input);
  }

  // ---- the bandwidth pyramid ----
  function pyramid(box, tiers) {
    var list = el("div", { class: "pyramid", role: "listbox", "aria-label": "Tiers, from the memory outward" });
    var panel = el("dl", { class: "panel", "aria-live": "polite", "data-field": "tiers" });
    var most = Math.max.apply(null, tiers.map(function (tier) { return tier.line_rate; }));
    var buttons = tiers.map(function (tier, number) {
      var button = el("button", { type: "button", role: "option", "data-field": "tiers[" + number + "]", class: "tier k-" + tier.kind }, el("span", { text: tier.name }), el("span", { class: "rate", text: display(tier.line_rate, "B/s") }), el("span", { class: "rate-bar" }));
      button.lastChild.style.width = 100 * tier.line_rate / most + "%";
      ["mouseenter", "focus", "click"].forEach(function (kind) { button.addEventListener(kind, function () { show(number); }); });
      button.addEventListener("keydown", function (event) {
        var move = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
        if (!move) return;
        event.preventDefault();
        buttons[(number + move + tiers.length) % tiers.length].focus();
      });
      list.appendChild(button);
      return button;
    });
    function show(number) {
      var tier = tiers[number], next = tiers.slice(number + 1).find(function (one) { return tier.fall && Math.abs(tier.line_rate / tier.fall / one.line_rate - 1) < 1e-6; }), at = "tiers[" + number + "].";
      buttons.forEach(function (button, each) {
        button.setAttribute("aria-selected", String(each === number));
        button.tabIndex = each === number ? 0 : -1;
      });
      var lines = [["Tier", tier.name, at + "name"], [tier.duplex ? "Each way" : "Reads and writes together", display(tier.line_rate, "B/s") + (tier.duplex ? " = " + display(tier.bits, "b/s") : ""), at + "line_rate"]];
      if (tier.duplex) lines.push(["Both ways", display(tier.duplex, "B/s") + " = " + display(2 * tier.bits, "b/s"), at + "duplex"]);
      lines.push(["Reaches", tier.accelerators.toLocaleString("en-US") + (tier.accelerators === 1 ? " accelerator" : " accelerators"), at + "accelerators"]);
      if (tier.predicted) lines.push(["Predicted", display(tier.predicted, "B/s"), at + "predicted"]);
      if (tier.measured) lines.push(["Measured", display(tier.measured, "B/s"), at + "measured"]);
      if (tier.latency) lines.push(["Latency", display(tier.latency, "s"), at + "latency"], ["Crossover size", display(tier.crossover, "B") + ": below it, latency takes most of the time", at + "crossover"]);
      if (tier.fall && next) lines.push(["Falling one tier", "to " + next.name + ": " + digits(tier.fall) + " times slower", at + "fall"]);
      rows(panel, lines);
    }
    box.appendChild(el("p", { class: "note", text: "Bars to scale, per direction; choose a tier." }));
    box.appendChild(list);
    box.appendChild(panel);
    show(0);
  }

  // ---- the pod ----
  function pod(box, data) {
    var each = data.accelerators_per_node, total = data.nodes * each;
    var MOST = 4000, per = Math.ceil(data.nodes / MOST), drawn = Math.ceil(data.nodes / per);
    var block = Math.max(1, Math.round((data.block || data.nodes) / per));
    var width = 440, pitch = drawn <= 64 ? 22 : drawn <= 400 ? 12 : drawn <= 1200 ? 8 : 5.4, side = pitch - (pitch > 8 ? 3 : 1.2);
    var grouped = block > 1 && block < drawn, wide = grouped ? Math.min(block * pitch, width) + 5 : pitch;
    var across = Math.max(1, Math.floor((width + 4) / wide)), inRow = grouped ? Math.max(1, Math.floor((wide - 5) / pitch + 1e-9)) : 1;
    var deep = grouped ? Math.ceil(block / inRow) : 1;
    function place(node) {
      var square = Math.floor(node / per), group = grouped ? Math.floor(square / block) : square, inside = grouped ? square % block : 0;
      return [(group % across) * wide + (inside % inRow) * pitch, Math.floor(group / across) * (deep * pitch + (grouped && deep > 1 ? 5 : 0)) + Math.floor(inside / inRow) * pitch];
    }
    var groups = grouped ? Math.ceil(drawn / block) : drawn;
    var height = Math.ceil(groups / across) * (deep * pitch + (grouped && deep > 1 ? 5 : 0));
    var svg = shape("svg", { viewBox: "-8 -2 " + (width + 16) + " " + (height + 4), role: "img", "aria-label": "Map of " + data.nodes + " nodes; choose two of them with the fields below" });
    var path = "";
    for (var square = 0; square < drawn; square++) {
      var p = place(square * per);
      path += "M" + p[0].toFixed(1) + " " + p[1].toFixed(1) + "h" + side.toFixed(1) + "v" + side.toFixed(1) + "h-" + side.toFixed(1) + "z";
    }
    svg.appendChild(shape("path", { d: path, class: "c-scale-up map" }));
    var marks = ["A", "B"].map(function (name) {
      var group = shape("g", { class: "mark" });
      group.appendChild(shape("rect", { width: side + 4, height: side + 4, fill: "none", class: "s-limit", "stroke-width": 2.5 }));
      var label = shape("text", { class: side < 14 ? "c-ink beside" : "c-paper", "font-size": 13, "font-weight": 600, "text-anchor": "middle" });
      label.textContent = name;
      group.appendChild(label);
      svg.appendChild(group);
      return group;
    });
    var single = data.nodes === 1, nearer = data.classes.reduce(function (most, one) { return one.nodes < data.nodes ? Math.max(most, one.nodes) : most; }, 0) || data.nodes;
    var ends = [[0, 0], [nearer < data.nodes ? nearer : data.nodes - 1, single ? each - 1 : 0]];
    var turn = 0, fields = [];
    var controls = el("div", { class: "controls" });
    ["A", "B"].forEach(function (name, which) {
      var node = el("input", { type: "number", min: 1, max: data.nodes, value: ends[which][0] + 1, inputmode: "numeric" });
      var accelerator = el("input", { type: "number", min: 1, max: each, value: ends[which][1] + 1, inputmode: "numeric" });
      [node, accelerator].forEach(function (input, part) {
        input.addEventListener("input", function () {
          var most = part ? each : data.nodes, value = Math.round(Number(input.value));
          if (value >= 1 && value <= most) { ends[which][part] = value - 1; show(true); }
        });
      });
      if (!single) controls.appendChild(labelled(name + ": node (of " + data.nodes.toLocaleString("en-US") + ")", node));
      controls.appendChild(labelled(name + ": accelerator (of " + each + ")", accelerator));
      fields.push([node, accelerator]);
    });
    svg.addEventListener("click", function (event) {
      var point = svg.createSVGPoint();
      point.x = event.clientX; point.y = event.clientY;
      var at = point.matrixTransform(svg.getScreenCTM().inverse()), best = -1, nearest = pitch * pitch;
      for (var square = 0; square < drawn; square++) {
        var p = place(square * per), dx = p[0] + side / 2 - at.x, dy = p[1] + side / 2 - at.y;
        if (dx * dx + dy * dy < nearest) { nearest = dx * dx + dy * dy; best = square * per; }
      }
      if (best < 0) return;
      ends[turn][0] = best;
      fields[turn][0].value = best + 1;
      turn = 1 - turn;
      show(true);
    });
    var walk = el("div", { class: "walk", "data-field": "pod.classes" }), counter = el("p", { class: "counter", "data-field": "pod.classes" });
    var again = el("button", { type: "button", class: "again", text: "Send a packet from A to B" }), still = matchMedia("(prefers-reduced-motion: reduce)"), trip = 0;
    again.addEventListener("click", function () { travel(true); });
    var shown = null;
    function travel(moving) {
      walk.innerHTML = shown ? shown.svg : "";
      again.hidden = !shown;
      var own = ++trip, drawn = walk.querySelector("svg");
      if (!drawn) { counter.textContent = ""; return; }
      var stops = Array.prototype.map.call(drawn.querySelectorAll("circle"), function (dot) { return [Number(dot.getAttribute("cx")), Number(dot.getAttribute("cy"))]; });
      var last = stops.length - 1, packet = shape("circle", { r: 7, cx: stops[0][0], cy: stops[0][1], class: "packet", "stroke-width": 3 }), begun = 0;
      function say(at) { counter.textContent = "Hop " + (at + 1) + " of " + stops.length + ", " + shown.steps[at]; }
      drawn.appendChild(packet);
      function step(now) {
        if (own !== trip) return;
        begun = begun || now;
        var gone = (now - begun) / 500, at = Math.min(last, Math.floor(gone)), part = at < last ? Math.max(0, (gone - at - 0.4) / 0.6) : 0, next = stops[Math.min(last, at + 1)];
        packet.setAttribute("cx", stops[at][0] + (next[0] - stops[at][0]) * part);
        packet.setAttribute("cy", stops[at][1] + (next[1] - stops[at][1]) * part);
        say(at);
        if (at < last) requestAnimationFrame(step);
      }
      if (moving && !still.matches) { requestAnimationFrame(step); return; }
      packet.setAttribute("cx", stops[last][0]);
      packet.setAttribute("cy", stops[last][1]);
      say(last);
    }
    var panel = el("dl", { class: "panel", "aria-live": "polite", "data-field": "pod.classes" });
    var SAME = -1, UNCONNECTED = -2;
    function rail(end) { return Math.floor(end[1] * data.nics_per_node / each) % data.rails; }
    function meet() {
      var first = ends[0], second = ends[1];
      if (first[0] === second[0] && first[1] === second[1]) return SAME;
      for (var number = 0; number < data.classes.length; number++) {
        var one = data.classes[number];
        if (number === 0 && data.domain > 1) {
          var here = first[0] * each + first[1], there = second[0] * each + second[1];
          if (Math.floor(here / data.domain) === Math.floor(there / data.domain)) return 0;
        } else if (Math.floor(first[0] / one.nodes) === Math.floor(second[0] / one.nodes)) return number;
      }
      return UNCONNECTED;
    }
    function show(moving) {
      marks.forEach(function (mark, which) {
        var p = place(ends[which][0]);
        mark.firstChild.setAttribute("x", p[0] - 2);
        mark.firstChild.setAttribute("y", p[1] - 2);
        var right = which ? p[0] < width - 24 : p[0] < 12;
        mark.lastChild.setAttribute("x", p[0] + side / 2 + (right ? 1 : -1) * (side < 14 ? side / 2 + 8 : 0));
        mark.lastChild.setAttribute("y", p[1] + side / 2 + 5);
      });
      var number = meet(), at = "pod.classes[" + number + "].";
      shown = null;
      if (number < 0) { rows(panel, [["Path", number === SAME ? "A and B are the same accelerator" : "no network between A and B is described"]]); travel(false); return; }
      var one = data.classes[number], same = data.rails < 2 || rail(ends[0]) === rail(ends[1]), outside = one.parts.indexOf("NIC") > 0;
      shown = data.walks[number][outside && !same ? 1 : 0] || data.walks[number][0];
      travel(moving);
      var lines = [["They meet in", one.name, at + "name"], ["Switches passed", String(one.switches), at + "switches"]];
      var links = 0;
      if (!outside && data.shape.length) {
        var left = [ends[0], ends[1]].map(function (end) { return (end[0] * each + end[1]) % data.domain; });
        data.shape.forEach(function (length) {
          var apart = Math.abs(left[0] % length - left[1] % length);
          links += Math.min(apart, length - apart);
          left = left.map(function (rest) { return Math.floor(rest / length); });
        });
        lines.push(["Links passed in the torus of " + data.shape.join(" × "), String(links), "pod.shape"]);
      }
      if (data.rails > 1 && outside) lines.push(["Rails", same ? "both on rail " + (rail(ends[0]) + 1) : "rail " + (rail(ends[0]) + 1) + " and rail " + (rail(ends[1]) + 1) + ": one hop over the scale-up interconnect first", "pod.rails"]);
      lines.push(["Bottleneck", one.bottleneck, at + "bottleneck"], ["Line rate, this pair alone", display(one.bandwidth, "B/s") + " each way", at + "bandwidth"], ["Line rate, all accelerators at once", display(one.shared, "B/s") + " each way", at + "shared"]);
      lines.push(["Predicted, each sends one long message", display(one.predicted, "B/s"), at + "predicted"], ["Latency of a short message" + (links > 1 ? " to a neighbor" : outside && !same ? ", without the hop to that rail" : ""), display(one.latency, "s"), at + "latency"]);
      rows(panel, lines);
    }
    var note = single ? "Choose A and B in the fields." : "Choose A and B on the map in turn, or in the fields.";
    if (data.block && data.block < data.nodes && data.classes.some(function (one) { return one.parts.indexOf("leaf switch") > 0; })) note += " Nodes below one leaf stand together.";
    if (per > 1) note += " One square is " + per + " nodes.";
    var choice = el("div", { class: "choice" }, el("p", { class: "note", "data-field": "pod", text: note }), single ? null : svg, controls);
    [choice, el("div", { class: "way" }, walk, counter, again), panel].forEach(function (part) { box.appendChild(part); });
    show(false);
    box.dataset.total = total;
  }

  // ---- which parallelism survives ----
  function between(points, value) {
    if (points.length === 1) return [0, 0];
    var n = points.length - 2;
    while (n > 0 && points[n] > value) n--;
    return [n, Math.min(1, Math.max(0, (value - points[n]) / (points[n + 1] - points[n])))];
  }
  function least(curve, bandwidth, nic, taper) {
    return Math.min.apply(null, [curve].concat(curve.alternatives).map(function (one) { return interpolated(one, bandwidth, nic, taper); }));
  }
  function interpolated(curve, bandwidth, nic, taper) {
    var rate = curve.joint ? nic / Math.max(1, taper * curve.crossing) : nic, x = between(curve.x, Math.log(bandwidth)), y = between(curve.y, Math.log(curve.ratio ? rate / bandwidth : rate)), z = between(curve.z, Math.log(taper));
    function cell(table, row) {
      var line = curve.tables[table][row], low = line[y[0]];
      return line.length === 1 ? low : (1 - y[1]) * low + y[1] * line[y[0] + 1];
    }
    function table(number) {
      return curve.x.length === 1 ? cell(number, 0) : (1 - x[1]) * cell(number, x[0]) + x[1] * cell(number, x[0] + 1);
    }
    return Math.exp(curve.z.length === 1 ? table(0) : (1 - z[1]) * table(z[0]) + z[1] * table(z[0] + 1));
  }
  function survival(box, data) {
    var state = { nodes: Math.max(0, data.nodes.indexOf(data.present.nodes)), model: 0, bandwidth: data.bandwidth, nic: data.nic, taper: data.taper };
    data.models.forEach(function (model, number) { if (model.name === data.present.model) state.model = number; });
    var controls = el("div", { class: "controls" });
    function slider(text, value, low, high, step, read, write) {
      var input = el("input", { type: "range", min: low, max: high, step: step, value: value });
      var shown = el("output", { "data-field": "survival" });
      input.addEventListener("input", function () { write(Number(input.value)); show(); });
      var line = labelled(text, input);
      line.appendChild(shown);
      controls.appendChild(line);
      return function () { var text = read(); shown.textContent = text; input.setAttribute("aria-valuetext", text); };
    }
    var span = Math.log(data.span);
    var reads = [
      slider("Nodes", state.nodes, 0, data.nodes.length - 1, 1, function () { return data.nodes[state.nodes].toLocaleString("en-US"); }, function (v) { state.nodes = v; }),
      slider("Model", state.model, 0, data.models.length - 1, 1, function () { return data.models[state.model].name; }, function (v) { state.model = v; }),
      slider("Scale-up bandwidth, each way", 0, -1, 1, 0.01, function () { return display(state.bandwidth, "B/s"); }, function (v) { state.bandwidth = data.bandwidth * Math.exp(v * span); }),
      slider("NIC rate", 0, -1, 1, 0.01, function () { return display(8 * state.nic, "b/s"); }, function (v) { state.nic = data.nic * Math.exp(v * span); }),
      slider("Oversubscription", Math.log(data.taper), Math.log(data.tapers[0]), Math.log(data.tapers[1]), 0.01, function () { return digits(state.taper) + ":1"; }, function (v) { state.taper = Math.exp(v); })
    ];
    var table = el("div", { class: "wires", role: "table", "aria-label": "Seconds on the wire of one step against its computation" });
    function now() {
      return data.cases.filter(function (one) { return one.nodes === data.nodes[state.nodes] && one.model === data.models[state.model].name; })
        .map(function (one) { return { strategy: one.strategy, memory: one.memory, fits: one.fits, bubble: one.bubble, wire: least(one, state.bandwidth, state.nic, state.taper), compute: one.compute }; });
    }
    function show() {
      reads.forEach(function (read) { read(); });
      table.textContent = "";
      var list = now(), values = [];
      list.forEach(function (one) { values.push(one.wire, one.compute); });
      var low = Math.floor(Math.log10(Math.min.apply(null, values))), high = Math.ceil(Math.log10(Math.max.apply(null, values)) + 1e-9);
      function at(value) { return 100 * (Math.log10(value) - low) / (high - low) + "%"; }
      list.forEach(function (one) {
        var unfit = one.fits === false, hidden = one.wire < one.compute && !unfit;
        var bar = el("div", { class: "scale", "aria-hidden": "true" }), dot = el("span", { class: "dot" }), rule = el("span", { class: "rule" });
        dot.style.left = at(one.wire);
        rule.style.left = at(one.compute);
        bar.appendChild(dot);
        bar.appendChild(rule);
        var note = (data.strategies.filter(function (each) { return each.name === one.strategy; })[0] || {}).note || "";
        var text = display(one.wire, "s") + " on the wire, " + display(one.compute, "s") + " of computation" + (one.bubble ? ", bubble " + display(one.bubble, "s") + " at the rates of the spec" : "") + ": " + (unfit ? "does not fit in memory (" + display(one.memory, "B") + ")" : hidden ? "less than the computation" : "exceeds the computation");
        table.appendChild(el("div", { class: "wire " + (unfit ? "bad unfit" : hidden ? "good" : "bad"), role: "row", "data-field": "survival.cases", "data-strategy": one.strategy, "data-seconds": one.wire },
          el("strong", { role: "rowheader", text: one.strategy, title: note }), el("span", { role: "cell", class: "said", text: text }), bar));
      });
      data.present.rows.forEach(function (own) {
        table.appendChild(el("div", { class: "wire own", role: "row", "data-field": "estimate.communication" },
          el("strong", { role: "rowheader", text: "this design" }), el("span", { role: "cell", class: "said", text: own.note + "; " + display(own.compute, "s") + " of computation" })));
      });
      var axis = el("div", { class: "axis", "aria-hidden": "true", "data-field": "survival" });
      for (var power = low; power <= high; power++) {
        var tick = el("span", { text: display(Math.pow(10, power), "s") });
        tick.style.left = 100 * (power - low) / (high - low) + "%";
        axis.appendChild(tick);
      }
      table.appendChild(axis);
    }
    box.appendChild(controls);
    box.appendChild(table);
    var legend = el("p", { class: "note", text: "A dot is the time on the wire, a rule the computation of the step, on a logarithmic axis. Sliders of rates start at the spec." });
    box.appendChild(legend);
    box.interpolate = function (position) { Object.keys(position).forEach(function (key) { state[key] = position[key]; }); show(); return now(); };
    show();
  }

  var LIVE = { pyramid: pyramid, pod: pod, survival: survival };
  Array.prototype.forEach.call(document.querySelectorAll("figure[data-live]"), function (figure) {
    var script = figure.querySelector('script[type="application/json"]'), box = figure.querySelector(".live");
    if (!script || !box || !LIVE[figure.dataset.live]) return;
    LIVE[figure.dataset.live](box, JSON.parse(script.textContent));
    box.hidden = false;
    figure.classList.add("is-live");
  });
})();
