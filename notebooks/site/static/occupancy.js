/* How many blocks fit on a multiprocessor: four things can run out. What each allows stands in the figure's JSON,
 * which the program behind --occupancy has answered; the smallest of the four decides. */
"use strict";

figures.operate("occupancy", (table, panel) => {
    const { element, shape, number, many, told, slider } = figures;
    const LIMITS = ["threads", "registers", "shared", "count"];
    const NAMES = { threads: "threads", registers: "registers", shared: "shared memory", count: "number of blocks" };
    const WIDTH = 440, LEFT = 116, ROW = 32, WARP = 24;
    const held = { gpu: table.start.gpu, chapter: table.start.chapter };

    const axes = ["threads", "registers", "shared"];
    const at = {};
    const choice = (name, values, chosen, changed) => {
        const made = element("select", { "aria-label": name, onchange: () => changed(made.value) },
            ...values.map(([value, words]) => element("option", { value, ...(value === chosen ? { selected: "" } : {}) }, words)));
        return made;
    };
    const gpu = choice("GPU", Object.keys(table.gpus).map(name => [name, name]), held.gpu, name => {
        held.gpu = name;
        if (held.chapter) return like(held.chapter);
        show();
    });
    const block = choice("a block like that of", [], "", number => like(number));
    const knobs = {
        threads: "threads of a block", registers: "registers of a thread", shared: "bytes of shared memory of a block",
    };
    const sliders = {};
    for (const axis of axes) {
        at[axis] = 0;
        sliders[axis] = slider(knobs[axis], table[axis].map(value => number.format(value)), 0, to => {
            at[axis] = to;
            held.chapter = "";
            show();
        });
    }
    const stage = element("div", { class: "lens-stage fits occupancy-stage" });
    const words = element("p", { class: "lens-told", "aria-live": "polite" });
    panel.append(element("div", { class: "occupancy-choice" },
        element("label", {}, "GPU ", gpu), element("label", {}, "a block like that of ", block)),
    ...axes.map(axis => sliders[axis].box), stage, words);

    /* As a chapter's block is on this GPU; where it does not run, the sliders stay. */
    function like(number) {
        const own = table.gpus[held.gpu].chapters[number];
        held.chapter = own ? number : "";
        if (own) axes.forEach((axis, i) => {
            at[axis] = table[axis].indexOf(own[i]);
            sliders[axis].set(at[axis]);
        });
        show();
    }

    function limits() {
        const own = table.gpus[held.gpu];
        return {
            threads: own.by_threads[at.threads], registers: own.by_registers[at.threads][at.registers],
            shared: own.by_shared[at.shared], count: own.by_blocks,
        };
    }

    function draw(fit, blocks, warps, most) {
        const paper = shape("svg", { viewBox: `0 0 ${WIDTH} ${4 * ROW + 62}`, role: "img",
            "aria-label": `${many(blocks, "blocks")} fit, ${warps} of ${most} warps` });
        LIMITS.forEach((limit, i) => {
            const y = i * ROW, room = WIDTH - LEFT - 44, count = fit[limit];
            paper.append(shape("text", { x: LEFT - 8, y: y + 19, class: "end" }, NAMES[limit]));
            for (let n = 0; n < Math.max(1, count); n++) {
                const wide = room / Math.max(1, count);
                paper.append(shape("rect", { class: n < blocks ? "shared" : "unused", x: LEFT + n * wide, y: y + 3,
                    width: Math.max(1, wide - (wide > 4 ? 2 : .5)), height: ROW - 10 }));
            }
            if (count === blocks) paper.append(shape("rect", { class: "look", x: LEFT - 3, y, width: room + 4, height: ROW - 4 }));
            paper.append(shape("text", { x: WIDTH - 36, y: y + 19, class: "note" }, number.format(count)));
        });
        const y = 4 * ROW + 14, wide = (WIDTH - LEFT - 44) / Math.max(most, 32);
        paper.append(shape("text", { x: LEFT - 8, y: y + 19, class: "end" }, "warps on the SM"));
        for (let warp = 0; warp < most; warp++)
            paper.append(shape("rect", { class: warp < warps ? "registers warp" : "unused", x: LEFT + warp * wide, y: y + 3,
                width: Math.max(1, wide - 1.5), height: WARP }));
        stage.replaceChildren(paper);
    }

    function show() {
        const own = table.gpus[held.gpu], fit = limits();
        const blocks = Math.min(...Object.values(fit)), most = own.max_warps;
        const warps = blocks * Math.ceil(table.threads[at.threads] / 32);
        block.replaceChildren(element("option", { value: "" }, "my own"),
            ...Object.keys(own.chapters).map(n => element("option", { value: n }, `chapter ${n}`)));
        block.value = held.chapter;
        draw(fit, blocks, warps, most);
        const deciding = LIMITS.filter(limit => fit[limit] === blocks);
        words.replaceChildren("By threads fit ", told("threads", fit.threads), ", by registers ", told("registers", fit.registers),
            ", by shared memory ", told("shared", fit.shared), ", and never more than ", told("count", fit.count), ". So ",
            told("blocks", blocks), blocks === 1 ? " block runs on an SM: " : " blocks run on an SM: ",
            told("warps", warps), " of ", told("max_warps", most), " warps, ", told("percent", (100 * warps / most).toFixed(1)), " %. The limit: ",
            told("limit", deciding.join("+")), ".");
    }

    like(held.chapter);
});
