/* A figure that a reader can operate: what one warp asks of memory, as the emulator's lens
 * counted it. Every number shown stands in the figure's own JSON (results/scenes.py wrote it);
 * only places on the paper are computed here. Without this file the still picture stays. */
"use strict";

(() => {
    const { element, shape, number, many, still, renew } = figures;
    const LANE = 27, WIDTH = 32 * LANE, LANES_AT = 24, SECTORS_AT = 150, ROW = 24;
    const SECTOR = 32, WORD = 4, BANKS = 32, BANK_ROW = 128;
    const MOVE_MS = 700, WAVE_MS = 450, TOKEN = 5;

    const unit_of = line => ("wavefronts" in line ? "wavefronts" : "sectors");

    /* Where on the paper each lane finds its bytes, and what else is drawn there. */
    function sectors(line, paper) {
        const touched = new Set(), used = new Set();
        for (const address of line.address)
            for (let byte = address; address !== null && byte < address + line.bytes; byte += WORD) {
                touched.add(Math.floor(byte / SECTOR));
                used.add(Math.floor(byte / WORD));
            }
        const order = [...touched].sort((a, b) => a - b);
        const pitch = WIDTH / Math.max(order.length, 5), word = 0.9 * pitch / 8;
        const left = (WIDTH - pitch * order.length + 0.1 * pitch) / 2;
        const x_of = byte =>
            left + order.indexOf(Math.floor(byte / SECTOR)) * pitch + Math.floor(byte % SECTOR / WORD) * word;
        for (const sector of order)
            for (let w = 0; w < SECTOR / WORD; w++) {
                const byte = sector * SECTOR + w * WORD;
                paper.append(shape("rect", {
                    class: used.has(byte / WORD) ? "global" : "unused",
                    x: x_of(byte), y: SECTORS_AT, width: word > 4 ? word - 1 : word, height: 26,
                }));
            }
        paper.append(shape("text", { x: 0, y: SECTORS_AT + 46, class: "note" },
            `${many(order.length, "sectors")} of global memory, 32 bytes each, a box for 4 bytes`));
        const places = line.address.map(address => address === null ? null : {
            x: x_of(address + (line.bytes > WORD ? line.bytes / 2 : 0)) + word / 2, y: SECTORS_AT, wave: 0,
        });
        return { places, waves: 1, height: SECTORS_AT + 56 };
    }

    function banks(line, paper) {
        const top = 108, wide = Math.max(line.bytes, WORD) / WORD;
        const waves = 1 + Math.max(...line.wavefront.filter(wave => wave !== null));
        const served = new Map();
        for (let bank = 0; bank < BANKS; bank++)
            paper.append(shape("text", { x: (bank + 0.5) * LANE, y: top - 6, class: "number" }, bank));
        const places = line.address.map((address, lane) => {
            if (address === null) return null;
            const bank = Math.floor(address % BANK_ROW / WORD / wide) * wide, wave = line.wavefront[lane];
            const key = `${wave} ${bank}`;
            served.set(key, [...(served.get(key) || []), lane]);
            return { x: (bank + wide / 2) * LANE, y: top + wave * ROW, wave };
        });
        for (let wave = 0; wave < waves; wave++) {
            const row = shape("g", { class: "wave", "data-wave": wave });
            for (let bank = 0; bank < BANKS; bank += wide) {
                const lanes = served.get(`${wave} ${bank}`) || [];
                row.append(shape("rect", {
                    class: lanes.length ? "shared" : "unused",
                    x: bank * LANE + 1, y: top + wave * ROW, width: wide * LANE - 2, height: ROW - 2,
                }));
                if (lanes.length) row.append(shape("text", {
                    x: (bank + wide / 2) * LANE, y: top + wave * ROW + 16, class: "served",
                }, together(lanes, 3 * wide)));
            }
            paper.append(row);
        }
        paper.append(shape("text", { x: 0, y: top + waves * ROW + 18, class: "note" },
            "a column is a bank of shared memory, a row is a wavefront, the numbers are the lanes it serves"));
        return { places, waves, height: top + waves * ROW + 28 };
    }

    /* The lanes that a box serves, or how many they are where it has no room for their names. */
    function together(lanes, letters) {
        const last = lanes.length - 1;
        const names = lanes[last] - lanes[0] === last && last > 0 ? `${lanes[0]}–${lanes[last]}` : lanes.join(",");
        return names.length <= letters ? names : `${lanes.length}×`;
    }

    /* What a line does, and where the page knows it, to which array. */
    const what = line => line.kind + (line.of ? ` of ${line.of}` : "");

    /* The line's text; the operand that it is about, if it is about one of several, stands out. */
    function text_of(line) {
        const [start, end] = line.operand || [0, 0];
        return [line.text.slice(0, start), element("b", {}, line.text.slice(start, end)), line.text.slice(end)];
    }

    function operate(figure) {
        const scene = JSON.parse(figure.querySelector("script[type='application/json']").textContent);
        const held = { variant: scene.start || 0, line: 0, wave: 0, timer: 0, frame: 0 };
        let tokens = [], places = [];

        const code = element("ol", { class: "lens-code", "aria-label": "lines that ask memory" });
        const stage = element("div", { class: "lens-stage", tabindex: 0, role: "group", "aria-label": "one request, drawn" });
        const told = element("p", { class: "lens-told", "aria-live": "polite" });
        const bars = element("div", { class: "lens-bars" });
        const play = element("button", { type: "button", class: "lens-play", onclick: () => run(false) }, "▶ Play");
        const next = element("button", { type: "button", class: "lens-next", onclick: () => step(1) }, "Next");
        const knob = element("input", {
            type: "range", min: 0, max: scene.variants.length - 1, step: 1, value: held.variant,
            "aria-label": scene.knob || "variant", oninput: () => choose(Number(knob.value), held.line),
        });
        const label = element("output", { class: "lens-label" });
        const panel = element("div", { class: "lens-panel" });
        if (scene.variants.length > 1)
            panel.append(element("div", { class: "lens-knob" },
                element("span", { class: "lens-knob-name" }, scene.knob), knob, label, bars));
        panel.append(code, element("div", { class: "lens-buttons" }, play, next), stage, told);

        const variant = () => scene.variants[held.variant];
        const line = () => variant().lines[held.line];
        const same = (a, b) => a.kind === b.kind && a.text === b.text && a.of === b.of;

        /* The line of another variant that this one corresponds to: the same text and kind, and
         * among those the same place in order. */
        function corresponding(lines, old, rank) {
            const found = lines.map((l, i) => i).filter(i => same(lines[i], old));
            return found.length ? found[Math.min(rank, found.length - 1)] : 0;
        }

        function choose(at, old_line) {
            const old = line(), before = variant().lines;
            const rank = before.filter((l, i) => i < old_line && same(l, old)).length;
            held.variant = at;
            show(corresponding(variant().lines, old, rank));
        }

        function list() {
            renew(code, ...variant().lines.map((l, i) => element("li", {},
                element("button", {
                    type: "button", "aria-pressed": i === held.line, class: "address" in l ? "" : "nothing",
                    onclick: () => show(i),
                },
                element("span", { class: "lens-at" }, l.line),
                element("code", {}, ...text_of(l)),
                element("span", { class: `lens-cost ${unit_of(l)}` },
                    `${what(l)}, ${many(l[unit_of(l)] / l.requests, unit_of(l))} per request`)))));
        }

        function compare() {
            const old = line(), unit = unit_of(old);
            const rank = variant().lines.filter((l, i) => i < held.line && same(l, old)).length;
            const values = scene.variants.map(v => {
                const at = v.lines.filter(l => same(l, old));
                const l = at[Math.min(rank, at.length - 1)];
                return l ? l[unit] / l.requests : 0;
            });
            const most = Math.max(...values);
            renew(bars, ...scene.variants.map((v, i) => element("button", {
                type: "button", "aria-pressed": i === held.variant, title: v.label,
                "aria-label": `${v.label}: ${many(values[i], unit)} per request`,
                onclick: () => { knob.value = i; choose(i, held.line); },
            },
            element("span", { class: "lens-value" }, number.format(values[i])),
            element("i", { class: unit, style: `height:${Math.max(2, 40 * values[i] / most)}px` }))));
        }

        function show(at) {
            stop();
            held.line = at;
            const from = tokens.map(token => ({ x: token.cx, y: token.cy }));
            list();
            compare();
            label.textContent = variant().label;
            knob.setAttribute("aria-valuetext", variant().label);
            draw();
            tell();
            if (from.length === tokens.length && !still.matches) glide(from, places);
        }

        function draw() {
            const l = line();
            const paper = shape("svg", { role: "img", "aria-label": `${what(l)}, ${l.bytes} bytes a lane: ${l.verdict}` });
            stage.replaceChildren(paper);
            tokens = [];
            places = [];
            held.wave = held.waves = 1;
            const by_lanes = "address" in l;
            if (!by_lanes && document.activeElement === play) next.focus(); // what is disabled loses the keyboard
            play.disabled = !by_lanes;
            if (!by_lanes) {
                paper.setAttribute("viewBox", `-8 -4 ${WIDTH + 16} 40`);
                paper.append(shape("text", { x: 0, y: 20, class: "note" },
                    "the copy engine carries this out: no lane of a warp asks for an address"));
                lit();
                return;
            }
            paper.append(shape("text", { x: 0, y: 14, class: "note" }, "the 32 lanes of a warp"));
            const below = shape("g"), lines = shape("g"), above = shape("g"), moving = shape("g");
            const drawn = unit_of(l) === "wavefronts" ? banks(l, below) : sectors(l, below);
            places = drawn.places;
            held.wave = held.waves = drawn.waves;
            paper.setAttribute("viewBox", `-8 -4 ${WIDTH + 16} ${drawn.height + 8}`);
            for (let lane = 0; lane < 32; lane++) {
                const place = places[lane], x = (lane + 0.5) * LANE;
                const lane_box = shape("g", { class: "lane" });
                lane_box.append(
                    shape("rect", { class: place ? "registers" : "unused", x: x - LANE / 2 + 1, y: LANES_AT, width: LANE - 2, height: 22 }),
                    shape("text", { x, y: LANES_AT + 16, class: place ? "served" : "number" }, lane));
                above.append(lane_box);
                if (!place) {
                    tokens.push({ cx: x, cy: LANES_AT + 22 });
                    continue;
                }
                lane_box.append(shape("title", {}, `lane ${lane}: byte ${number.format(l.address[lane])}`));
                const trail = shape("line", { class: "trail", x1: x, y1: LANES_AT + 23, x2: place.x, y2: place.y });
                const dot = shape("circle", { class: "token", r: TOKEN, cx: place.x, cy: place.y });
                trail.dataset.wave = dot.dataset.wave = place.wave;
                lines.append(trail);
                moving.append(dot);
                tokens.push({ dot, trail, cx: place.x, cy: place.y, home: { x, y: LANES_AT + 22 } });
            }
            // Boxes with numbers in them are not crossed out.
            paper.append(...(unit_of(l) === "wavefronts" ? [lines, below] : [below, lines]), above, moving);
            paper.classList.toggle("banks", unit_of(l) === "wavefronts");
            // What is wider than its box, in a wide font, is condensed.
            for (const text of paper.querySelectorAll(".served")) {
                const room = text.previousElementSibling.getBBox().width - 2;
                if (text.getComputedTextLength() <= room) continue;
                text.setAttribute("textLength", room);
                text.setAttribute("lengthAdjust", "spacingAndGlyphs");
            }
            lit();
        }

        /* The figure's words. All numbers are the lens's. */
        function tell() {
            const l = line(), unit = unit_of(l), v = variant();
            const value = (key, words) => element("b", { "data-key": key }, words);
            told.replaceChildren(
                value("each", many(l[unit] / l.requests, unit)), " per request, ",
                value("requests", number.format(l.requests)), " requests, ",
                value("total", number.format(l[unit])), ` ${unit} in all, where `,
                value("ideal", number.format(l["ideal_" + unit])), " would do. ",
                element("span", {}, `${l.verdict[0].toUpperCase()}${l.verdict.slice(1)}.`));
            told.append(element("small", {}, ` A block has ${number.format(v.block.reduce((a, b) => a * b))} threads and ` +
                `${number.format(v.shared_bytes)} bytes of shared memory. Counted by LENS=1 with ${v.arguments || scene.arguments}.`));
        }

        function put(token, x, y) {
            token.cx = x;
            token.cy = y;
            if (!token.dot) return;
            token.dot.setAttribute("cx", x);
            token.dot.setAttribute("cy", y);
            token.trail.setAttribute("x2", x);
            token.trail.setAttribute("y2", y);
        }

        /* Moves each token from one place to another; both are lists by lane. */
        function glide(from, to, of = () => true, then = () => {}) {
            const begin = performance.now();
            const frame = now => {
                const t = Math.min(1, (now - begin) / MOVE_MS), eased = t * t * (3 - 2 * t);
                tokens.forEach((token, lane) => {
                    if (!to[lane] || !from[lane] || !of(lane)) return;
                    put(token, from[lane].x + (to[lane].x - from[lane].x) * eased,
                        from[lane].y + (to[lane].y - from[lane].y) * eased);
                });
                if (t < 1) held.frame = requestAnimationFrame(frame);
                else then();
            };
            held.frame = requestAnimationFrame(frame);
        }

        function stop() {
            clearTimeout(held.timer);
            cancelAnimationFrame(held.frame);
        }

        /* Wavefronts up to held.wave are answered, the others still wait. */
        function lit() {
            const done = wave => Number(wave) < held.wave;
            const now = wave => Number(wave) === held.wave - 1;
            for (const row of stage.querySelectorAll(".wave")) row.classList.toggle("waiting", !done(row.dataset.wave));
            for (const mark of stage.querySelectorAll(".trail, .token")) {
                mark.classList.toggle("waiting", !done(mark.dataset.wave));
                mark.classList.toggle("answered", done(mark.dataset.wave) && !now(mark.dataset.wave) && held.waves > 1);
            }
            next.textContent = held.waves > 1 && held.wave < held.waves
                ? `Next wavefront (${held.wave + 1} of ${held.waves})` : "Next line";
            figure.dataset.wave = held.wave;
        }

        function run() {
            stop();
            held.wave = 0;
            lit();
            const home = tokens.map(token => token.home || { x: token.cx, y: token.cy });
            const go = () => {
                if (held.wave >= held.waves) return;
                held.wave++;
                lit();
                const mine = lane => places[lane] && places[lane].wave === held.wave - 1;
                if (still.matches) held.timer = setTimeout(go, WAVE_MS);
                else glide(home, places, mine, () => { held.timer = setTimeout(go, WAVE_MS / 3); });
            };
            if (!still.matches) tokens.forEach((token, lane) => put(token, home[lane].x, home[lane].y));
            go();
        }

        /* One wavefront on; behind the last one the next line begins, with its first. What is still on its way,
         * or at home because it waited for its turn to move, is where it belongs. */
        function step(by) {
            stop();
            tokens.forEach((token, lane) => places[lane] && put(token, places[lane].x, places[lane].y));
            const count = variant().lines.length;
            if (by > 0 && held.wave < held.waves) {
                held.wave++;
                lit();
                return;
            }
            show((held.line + by + count) % count);
            if (by > 0 && held.waves > 1) {
                held.wave = 1;
                lit();
            }
        }

        panel.addEventListener("keydown", event => {
            if (event.target === knob || event.ctrlKey || event.metaKey || event.altKey) return;
            const last = scene.variants.length - 1;
            const keys = {
                ArrowDown: () => step(1), ArrowUp: () => step(-1),
                ArrowRight: () => choose(Math.min(last, held.variant + 1), held.line),
                ArrowLeft: () => choose(Math.max(0, held.variant - 1), held.line),
            };
            if (!keys[event.key] || (event.target !== stage && event.key.match(/Down|Up/) && !event.target.closest(".lens-code"))) return;
            event.preventDefault();
            keys[event.key]();
            knob.value = held.variant;
        });

        figure.querySelector(".lens-still").replaceWith(panel);
        figure.classList.add("lens-live");
        // It opens on the line that the slider changes most, and among those the costliest.
        const each = l => l[unit_of(l)] / l.requests;
        const spread = l => {
            if (!("address" in l)) return -1;
            const values = scene.variants.flatMap(v => v.lines.filter(other => same(other, l)).map(each));
            return Math.max(...values) / Math.min(...values) + each(l) / 1000;
        };
        const lines = variant().lines;
        show(lines.indexOf(lines.reduce((a, b) => (spread(b) > spread(a) ? b : a))));
    }

    document.querySelectorAll("figure.lens").forEach(operate);
})();
