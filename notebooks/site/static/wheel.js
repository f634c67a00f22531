/* Addresses on a wheel of 32 banks: what one warp wants of shared memory, with another padding and another order
 * of lanes at each position of the sliders. A turn of the wheel is 128 bytes, and what lies on one spoke waits for
 * one bank. */
"use strict";

figures.operate("wheel", (scene, panel) => {
    const { element, shape, number, many, told, still, renew, slider } = figures;
    const BANKS = 32, WORD = 4, TURN = BANKS * WORD, ANGLE = 360 / BANKS;
    const OUTER = 160, INNER = 60, THICKEST = 34, SIZE = 184, WAVE_MS = 700, ALL = 0;
    const held = { at: 0, line: 0, wave: 0, timer: 0, angles: new Map() };

    let cells = [];
    const variant = () => scene.variants[held.at];
    const lines = of => of.lines.map(at => scene.lines[at]);
    const line = () => lines(variant())[held.line];
    const waves = () => 1 + Math.max(...line().wavefront.filter(wave => wave !== null));
    const find = (order, padding) => scene.variants.findIndex(v => v.order === order && v.padding === padding);

    const bars = element("div", { class: "lens-bars" });
    const code = element("ol", { class: "lens-code", "aria-label": "lines that ask shared memory" });
    const stage = element("div", { class: "lens-stage fits wheel-stage" });
    const words = element("p", { class: "lens-told", "aria-live": "polite" });
    const play = element("button", { type: "button", class: "lens-play", onclick: run }, "▶ Play");
    const next = element("button", { type: "button", class: "lens-next", onclick: step });
    const padding = slider("PADDING, floats more in a row of A_tile", scene.paddings,
        scene.paddings.indexOf(variant().padding), to => show(find(variant().order, scene.paddings[to])));
    const order = slider("the order of the lanes", scene.orders, scene.orders.indexOf(variant().order),
        to => show(find(scene.orders[to], variant().padding)));
    padding.box.append(bars);
    order.box.classList.add("long");
    panel.classList.add("beside");
    panel.append(element("div", {}, padding.box, order.box),
        element("div", { class: "drawn" }, stage, element("div", { class: "lens-buttons" }, play, next)), code, words);

    function lists() {
        renew(code, ...lines(variant()).map((l, i) => element("li", {}, element("button", {
            type: "button", "aria-pressed": i === held.line, onclick: () => { held.line = i; show(held.at); },
        },
        element("span", { class: "lens-at" }, l.line), element("code", {}, l.text),
        element("span", { class: "lens-cost wavefronts" }, `${l.kind}, ${many(l.wavefronts / l.requests, "wavefronts")} per request`)))));
        const same = scene.paddings.map(p => lines(scene.variants[find(variant().order, p)])[held.line]);
        const each = same.map(l => l.wavefronts / l.requests), most = Math.max(...each);
        renew(bars, ...scene.paddings.map((p, i) => element("button", {
            type: "button", "aria-pressed": p === variant().padding,
            "aria-label": `PADDING ${p}: ${many(each[i], "wavefronts")} per request`,
            onclick: () => { padding.set(i); show(find(variant().order, p)); },
        },
        element("span", { class: "lens-value" }, number.format(each[i])),
        element("i", { class: "wavefronts", style: `height:${Math.max(2, 36 * each[i] / most)}px` }))));
    }

    /* The places that the lanes want, and in which wavefronts which lanes get them. */
    function places() {
        const found = new Map();
        line().address.forEach((address, lane) => {
            if (address === null) return;
            const waves = found.get(address) || [], wave = line().wavefront[lane];
            waves[wave] = [...(waves[wave] || []), lane];
            found.set(address, waves);
        });
        return [...found].map(([address, waves]) => ({ address, waves }));
    }
    const together = lanes => (lanes.length > 2 ? `${lanes.length}×` : lanes.join(","));

    const at = (radius, degrees) => {
        const turn = degrees * Math.PI / 180;
        return `${(radius * Math.sin(turn)).toFixed(2)} ${(-radius * Math.cos(turn)).toFixed(2)}`;
    };
    const sector = (inner, outer, wide) => {
        const half = wide * ANGLE / 2 - .35;
        return `M${at(outer, -half)}A${outer} ${outer} 0 0 1 ${at(outer, half)}` +
            `L${at(inner, half)}A${inner} ${inner} 0 0 0 ${at(inner, -half)}Z`;
    };

    function draw() {
        const l = line(), wanted = places(), wide = Math.max(l.bytes, WORD) / WORD;
        const turns = [...new Set(wanted.map(place => Math.floor(place.address / TURN)))].sort((a, b) => a - b);
        const thick = Math.min(THICKEST, (OUTER - INNER) / turns.length), angles = new Map();
        const paper = shape("svg", { viewBox: `${-SIZE} ${-SIZE} ${2 * SIZE} ${2 * SIZE}`, role: "img",
            "aria-label": `32 banks around, ${many(turns.length, "rows")} of 128 bytes: ${l.verdict}` });
        for (let bank = 0; bank < BANKS; bank++) {
            const [x, y] = at(OUTER + 13, (bank + .5) * ANGLE).split(" ");
            paper.append(shape("text", { x, y, dy: 4, class: "number" }, bank));
            for (let turn = 0; turn < turns.length; turn++)
                paper.append(shape("path", { class: "unused", d: sector(OUTER - (turn + 1) * thick + 1, OUTER - turn * thick, 1),
                    transform: `rotate(${(bank + .5) * ANGLE})` }));
        }
        const moving = [];
        cells = [];
        for (const place of wanted) {
            const bank = Math.floor(place.address % TURN / WORD), turn = turns.indexOf(Math.floor(place.address / TURN));
            const outer = OUTER - turn * thick, middle = outer - thick / 2 + .5;
            const lanes = place.waves.flat(), cell = shape("g", { class: "place", "data-lanes": lanes.join(" "), "data-bank": bank });
            const label = shape("text", { class: "served", dy: 3.5 });
            cell.append(shape("path", { class: "shared", d: sector(outer - thick + 1, outer, wide) }), label, shape("title", {},
                `lanes ${lanes.join(", ")}: byte ${number.format(place.address)}, bank ${bank}${wide > 1 ? ` to ${bank + wide - 1}` : ""}`));
            const to = (bank + wide / 2) * ANGLE, from = held.angles.get(lanes[0]);
            const turned = angle => {
                cell.style.transform = `rotate(${angle}deg)`;
                label.style.transform = `translate(0, ${-middle}px) rotate(${-angle}deg)`;
            };
            /* The shorter way round. */
            const before = from === undefined || still.matches ? to : to + ((from - to + 540) % 360 + 360) % 360 - 180;
            turned(before);
            if (before !== to) moving.push(() => turned(to));
            lanes.forEach(lane => angles.set(lane, to));
            cells.push({ cell, label, waves: place.waves, lanes });
            paper.append(cell);
        }
        const each = l.wavefronts / l.requests;
        paper.append(shape("text", { class: "wheel-count", y: 6 }, number.format(each)),
            shape("text", { class: "number", y: 26 }, each === 1 ? "wavefront" : "wavefronts"));
        stage.replaceChildren(paper);
        held.angles = angles;
        paper.getBoundingClientRect(); // the places before are laid out, and the transition can begin
        moving.forEach(move => move());
    }

    function lit() {
        const all = held.wave === ALL;
        for (const { cell, label, waves, lanes } of cells) {
            const now = all ? lanes : waves[held.wave - 1];
            label.textContent = together(now || lanes);
            cell.classList.toggle("waiting", !now);
        }
        next.textContent = waves() === 1 ? "All in one wavefront" : held.wave < waves()
            ? `Wavefront ${held.wave + 1} of ${waves()}` : "All wavefronts";
        next.disabled = play.disabled = waves() === 1;
    }

    function step() {
        clearTimeout(held.timer);
        held.wave = held.wave < waves() ? held.wave + 1 : ALL;
        lit();
    }

    function run() {
        held.wave = ALL;
        const go = () => {
            step();
            if (held.wave !== ALL) held.timer = setTimeout(go, WAVE_MS);
        };
        go();
    }

    function show(to) {
        clearTimeout(held.timer);
        held.at = to;
        lists();
        draw();
        held.wave = ALL;
        lit();
        const l = line(), v = variant();
        words.replaceChildren(
            told("each", many(l.wavefronts / l.requests, "wavefronts")), " per request, ", told("requests", l.requests), " requests, ",
            told("total", l.wavefronts), " wavefronts in all, where ", told("ideal", l.ideal_wavefronts), " would do. ",
            `${l.verdict[0].toUpperCase()}${l.verdict.slice(1)}. `,
            element("small", {}, "A block has ", told("shared", v.shared_bytes), " bytes of shared memory. Its loads from global memory touch ",
                told("sectors", v.loads.sectors / v.loads.requests), ` sectors per request. Counted by LENS=1 with ${scene.arguments}.`));
    }

    show(held.at);
});
