/* Warps that take turns at one scheduler of a GPU: when each of 1 to 16 of them multiplied, as the GPU's clock told.
 * The first row is the scheduler, which all of them share. */
"use strict";

figures.operate("warps", (scene, panel) => {
    const { element, shape, number, many, told, renew, slider } = figures;
    const WIDTH = 360, LEFT = 70, ROW = 13, HIGH = 24, RULER = 3000;
    const most = scene.variants[scene.variants.length - 1].warps;
    const percents = scene.variants.map(v => v.percent);
    let at = scene.variants.findIndex(v => v.warps === scene.start);

    const knob = slider("warps of a scheduler", scene.variants.map(v => many(v.warps, "warps")), at, to => { at = to; show(); });
    const bars = element("div", { class: "lens-bars" });
    knob.box.append(bars);
    const stage = element("div", { class: "lens-stage fits warps-stage" });
    const words = element("p", { class: "lens-told", "aria-live": "polite" });
    panel.append(knob.box, stage, words);

    const x = clock => LEFT + clock * (WIDTH - LEFT - 2) / scene.shown;

    function row(paper, name, turns, y, height, ground) {
        paper.append(shape("text", { x: LEFT - 6, y: y + height / 2 + 5, class: "end" }, name));
        paper.append(shape("rect", { class: ground, x: LEFT, y, width: x(scene.shown) - LEFT, height }));
        for (const [from, to] of turns)
            paper.append(shape("rect", { class: "registers turn", x: x(from), y, width: x(to) - x(from), height }));
    }

    function show() {
        const now = scene.variants[at];
        renew(bars, ...scene.variants.map((v, i) => {
            const bar = element("i", { class: "slots" });
            bar.style.height = `${.55 * v.percent}px`;
            return element("button", { type: "button", "aria-pressed": i === at, "aria-label": `${many(v.warps, "warps")}: ${v.percent} %`,
                onclick: () => { at = i; knob.set(i); show(); } }, bar);
        }));
        const top = HIGH + 12, bottom = top + most * ROW;
        const paper = shape("svg", { viewBox: `0 0 ${WIDTH} ${bottom + 24}`, role: "img",
            "aria-label": `${many(now.warps, "warps")} over ${number.format(scene.shown)} clocks` });
        row(paper, "scheduler", now.turns.flat(), 2, HIGH, "unused");
        for (let i = 0; i < most; i++)
            row(paper, i === 0 || i === now.warps - 1 ? `warp ${i}` : "", now.turns[i] || [], top + i * ROW, ROW - 3, i < now.warps ? "waits" : "unused");
        for (let clock = 0; clock <= scene.shown; clock += RULER)
            paper.append(shape("text", { x: x(clock), y: bottom + 16, class: clock === 0 ? "note" : clock < scene.shown ? "" : "end" },
                `${number.format(clock)}${clock < scene.shown ? "" : " clocks"}`));
        stage.replaceChildren(paper);
        words.replaceChildren("With ", told("warps", now.warps), now.warps === 1 ? " warp, " : " warps, ", told("percent", `${now.percent} %`),
            " of the scheduler's slots have a multiply-add. Between two turns a warp waits ", told("waits", now.waits), " clocks. ",
            ...(at === 0 ? [] : ["One warp less: ", told("before", `${percents[at - 1]} %`), ". "]),
            element("small", {}, `Measured on ${scene.measured}.`));
    }

    show();
});
