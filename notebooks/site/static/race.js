/* Chapter 3's loop with a barrier less, moment by moment: two warps, a tile of A and a tile of B. A number in an
 * element says which step's value it holds; dashed is what is read although another step's is due. */
"use strict";

figures.operate("race", (scene, panel) => {
    const { element, shape, number, many, told, slider } = figures;
    const SIDE = scene.side, CELL = 24, GAP = 14, TOP = 22, MOMENT_MS = 1100;
    const held = { variant: 1, timer: 0 };
    held.moment = scene.variants[held.variant].moments.findIndex(m => m.wrong); // where it begins to go wrong
    const variant = () => scene.variants[held.variant];
    const moment = () => variant().moments[held.moment];

    const which = slider("the barriers of the loop", scene.variants.map(v => v.label), held.variant, to => {
        stop();
        held.variant = to;
        held.moment = Math.min(held.moment, variant().moments.length - 1);
        show();
    });
    const time = slider("time", variant().moments.map((m, i, all) => `${i + 1} of ${all.length}`), held.moment, to => {
        stop();
        held.moment = to;
        show();
    });
    const play = element("button", { type: "button", class: "lens-play", onclick: run }, "▶ Play");
    const next = element("button", { type: "button", class: "lens-next", onclick: () => { stop(); step(); } }, "Next");
    const code = element("ol", { class: "lens-code race-code", "aria-label": "the loop, and where the warp is" });
    const stage = element("div", { class: "lens-stage fits race-stage" });
    const words = element("p", { class: "lens-told", "aria-live": "polite" });
    const end = element("p", { class: "lens-told" });
    panel.append(which.box, time.box, element("div", { class: "lens-buttons" }, play, next), code, stage, words, end);

    const stop = () => clearTimeout(held.timer);

    function step() {
        held.moment = (held.moment + 1) % variant().moments.length;
        time.set(held.moment);
        show();
    }

    function run() {
        stop();
        held.moment = -1;
        const go = () => {
            step();
            if (held.moment + 1 < variant().moments.length) held.timer = setTimeout(go, MOMENT_MS);
        };
        go();
    }

    /* The loop's lines; the barrier that is missing only keeps the lanes of a warp together. */
    function lines() {
        const now = moment();
        let barriers = 0;
        code.replaceChildren(...scene.code.map(({ line, text }) => {
            const barrier = text.startsWith("__sync"), weaker = barrier && barriers++ === variant().weaker;
            const here = barrier || text.startsWith("for") ? false : (text.startsWith("acc") ? "read" : "store") === now.does;
            return element("li", { class: here ? "now" : "" }, element("span", { class: "lens-at" }, line),
                element("code", {}, ...(weaker ? [element("s", {}, text), " __syncwarp();"] : [text])),
                element("span", { class: "race-warp" }, here ? `warp ${now.warp}` : ""));
        }));
    }

    function tile(name, left, now, paper) {
        const half = SIDE / 2;
        paper.append(shape("text", { x: left, y: 14, class: "note" }, `${name}_tile`));
        [...now[name]].forEach((step, at) => {
            const does = now[`${name}_does`][at], x = left + at % SIDE * CELL, y = TOP + Math.floor(at / SIDE) * CELL;
            const empty = step === "-";
            paper.append(shape("rect", { class: does === "s" ? "moving" : empty ? "unused" : "shared", x: x + 1, y: y + 1, width: CELL - 2, height: CELL - 2 }));
            if (does === "x") paper.append(shape("rect", { class: "look wrong", x: x + 2, y: y + 2, width: CELL - 4, height: CELL - 4 }));
            const label = empty ? (does === "x" ? "?" : "") : step;
            if (label) paper.append(shape("text", { x: x + CELL / 2, y: y + CELL / 2 + 4, class: empty ? "number" : "served" }, label));
        });
        if (now.does === "read") { // its own rows of A, all of B
            const rows = name === "A" ? half : SIDE, top = name === "A" ? now.warp * half : 0;
            paper.append(shape("rect", { class: "look", x: left - 1, y: TOP + top * CELL - 1, width: SIDE * CELL + 2, height: rows * CELL + 2 }));
        }
    }

    function show() {
        const now = moment(), wide = SIDE * CELL;
        lines();
        const paper = shape("svg", { viewBox: `-3 0 ${2 * wide + GAP + 6} ${TOP + wide + 4}`, role: "img",
            "aria-label": `warp ${now.warp} ${now.does}s, step ${now.step}` });
        tile("A", 0, now, paper);
        tile("B", wide + GAP, now, paper);
        stage.replaceChildren(paper);
        words.replaceChildren("Warp ", told("warp", now.warp), now.does === "store" ? " stores " : " reads ",
            told("accesses", now.accesses), ` ${now.does === "store" ? "elements of" : "times, for"} step `, told("step", now.step), ". ",
            ...(now.does === "store" ? [] : ["In ", told("wrong", now.wrong), now.wrong
                ? " of them it finds another step's value, or none, in the dashed elements."
                : " of them it finds what it should not."]));
        const v = variant();
        end.replaceChildren("At the end ", told("results", v.wrong), ` of ${v.results} results are wrong. `,
            element("small", {}, v.fault ? `With its checks on, the emulator stops at once: “${v.fault}”. ` : "The emulator finds no fault. ",
                `Run with ${scene.arguments}, tiles of ${SIDE} × ${SIDE}.`));
    }

    show();
});
