/* What the figures that a reader operates are made of: lens.js, wheel.js, occupancy.js, race.js, warps.js. Each
 * replays the numbers in its own JSON, which programs have told; only places on the paper are computed. */
"use strict";

const figures = (() => {
    const fill = (made, attributes) => {
        for (const [key, value] of Object.entries(attributes)) {
            if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
            else made.setAttribute(key, value);
        }
        return made;
    };

    function element(name, attributes = {}, ...children) {
        const made = fill(document.createElement(name), attributes);
        made.append(...children);
        return made;
    }

    function shape(name, attributes = {}, words = "") {
        const made = fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes);
        if (words !== "") made.textContent = words;
        return made;
    }

    const number = new Intl.NumberFormat("en-US", { maximumFractionDigits: 2 });
    const many = (count, word) => `${number.format(count)} ${count === 1 ? word.replace(/s$/, "") : word}`;
    /* A number that a test can find and compare. */
    const told = (key, words) => element("b", { "data-key": key }, typeof words === "number" ? number.format(words) : words);
    const still = matchMedia("(prefers-reduced-motion: reduce)");

    /* Other buttons in the place of those in a box. The keyboard stays where it was: on the pressed one. */
    function renew(box, ...buttons) {
        const had_focus = box.contains(document.activeElement);
        box.replaceChildren(...buttons);
        if (had_focus) box.querySelector("[aria-pressed=true]").focus();
    }

    /* A slider over the positions of a list: its name, what stands at the position, and what to do when it moves. */
    function slider(name, words, at, moved) {
        const label = element("output", { class: "lens-label" }, words[at]);
        const knob = element("input", {
            type: "range", min: 0, max: words.length - 1, step: 1, value: at, "aria-label": name,
            oninput: () => { set(Number(knob.value)); moved(Number(knob.value)); },
        });
        const set = to => {
            knob.value = to;
            label.textContent = words[to];
            knob.setAttribute("aria-valuetext", words[to]);
        };
        set(at);
        return { set, box: element("div", { class: "lens-knob" },
            element("span", { class: "lens-knob-name" }, name), knob, label) };
    }

    /* Each figure of a class gets its panel, in the place of what stands there without a script. */
    function operate(kind, make) {
        for (const figure of document.querySelectorAll(`figure.${kind}`)) {
            const data = JSON.parse(figure.querySelector("script[type='application/json']").textContent);
            const panel = element("div", { class: "lens-panel" });
            figure.querySelector(".lens-still").replaceWith(panel);
            figure.classList.add("lens-live");
            make(data, panel);
        }
    }

    return { element, shape, number, many, told, still, renew, slider, operate };
})();
