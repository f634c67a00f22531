/* What every page of the book can do: copy code, enlarge a picture, explain a term, and check a
 * prediction. Nothing here asks a server for anything. */
"use strict";

(() => {
    const make = (name, attributes, ...children) => {
        const made = Object.assign(document.createElement(name), attributes);
        made.append(...children);
        return made;
    };

    function copy_buttons() {
        for (const block of document.querySelectorAll("article .highlight pre")) {
            const button = make("button", { type: "button", className: "copy", textContent: "Copy" });
            button.addEventListener("click", async () => {
                const code = block.cloneNode(true);
                code.querySelectorAll(".linenos").forEach(number => number.remove());
                try {
                    await navigator.clipboard.writeText(code.textContent);
                    button.textContent = "Copied";
                } catch {
                    getSelection().selectAllChildren(block);
                    button.textContent = "Press Ctrl+C";
                }
                setTimeout(() => { button.textContent = "Copy"; }, 1500);
            });
            block.parentElement.append(button);
            block.tabIndex = 0; // so that a keyboard can scroll it
        }
    }

    /* A picture in its own size, to be scrolled; Escape or a tap closes it. */
    function enlarge() {
        const shown = make("dialog", { className: "enlarged" });
        shown.addEventListener("click", () => shown.close());
        document.body.append(shown);
        for (const picture of document.querySelectorAll("article img")) {
            const open = () => {
                const large = picture.cloneNode();
                large.removeAttribute("tabindex");
                large.style.width = `${Math.max(picture.naturalWidth, 800)}px`;
                shown.replaceChildren(make("form", { method: "dialog" }, make("button", { textContent: "Close" })), large);
                shown.showModal();
            };
            picture.tabIndex = 0;
            picture.title = "Enlarge";
            picture.addEventListener("click", open);
            picture.addEventListener("keydown", event => { 
                if (event.key !== "Enter") return;
                event.preventDefault(); // or it would press Close, which has the keyboard then
                open();
            });
        }
    }

    /* The glossary's words beside a term, under the mouse or the keyboard. */
    function terms() {
        const note = make("div", { className: "term-note", hidden: true, role: "tooltip", id: "term-note" });
        document.body.append(note);
        const hide = () => { note.hidden = true; };
        for (const term of document.querySelectorAll("a.term")) {
            const show = () => {
                note.textContent = term.dataset.note;
                note.hidden = false;
                const at = term.getBoundingClientRect(), room = document.documentElement.clientWidth;
                note.style.left = `${scrollX + Math.max(8, Math.min(at.left, room - note.offsetWidth - 8))}px`;
                note.style.top = `${scrollY + at.bottom + 6}px`;
            };
            term.setAttribute("aria-describedby", "term-note");
            term.addEventListener("mouseenter", show);
            term.addEventListener("focus", show);
            term.addEventListener("mouseleave", hide);
            term.addEventListener("blur", hide);
        }
        addEventListener("keydown", event => { if (event.key === "Escape") hide(); });
    }

    /* A number as people type it: 2,816 or 2816 or 12.5 %. */
    const number_in = text => {
        const plain = text.replace(/[\s,%]/g, "");
        return plain === "" ? NaN : Number(plain);
    };
    const right = (typed, answer) => Math.abs(typed - answer) <= 0.005 * Math.abs(answer);

    /* What was typed before is kept in this browser only, and not at all if it keeps nothing. */
    const memory = {
        get: key => { try { return localStorage.getItem(`predict-${key}`); } catch { return null; } },
        set: (key, value) => { try { localStorage.setItem(`predict-${key}`, value); } catch { /* then not */ } },
    };

    function predictions() {
        for (const row of document.querySelectorAll(".predict")) {
            const fields = [...row.querySelectorAll("input")], said = row.querySelector("output");
            const judge = () => {
                let good = 0, tried = 0;
                for (const field of fields) {
                    const typed = number_in(field.value), known = !Number.isNaN(typed);
                    const ok = known && right(typed, number_in(field.dataset.answer));
                    tried += known;
                    good += ok;
                    field.dataset.verdict = known ? (ok ? "right" : "wrong") : "";
                    field.setAttribute("aria-invalid", known && !ok);
                }
                said.textContent = !tried ? "" : good === fields.length ? "✓ That is it."
                    : tried < fields.length ? `${good} of ${fields.length} so far`
                        : "Not yet. Try again, or open the answer below.";
            };
            for (const field of fields) {
                const keep = () => { memory.set(field.dataset.key, field.value); judge(); };
                field.value ||= memory.get(field.dataset.key) || ""; // or what was typed before this script came
                field.addEventListener("change", keep);
                field.addEventListener("keydown", event => { if (event.key === "Enter") keep(); });
            }
            judge();
        }
    }

    /* What the theme leaves to wish for: a keyboard scrolls wide tables and formulas, and a heading has a level. */
    function reachable() {
        for (const wide of document.querySelectorAll("article :is(.table-wrapper, .math)")) wide.tabIndex = 0;
        for (const caption of document.querySelectorAll(".caption[role=heading]")) caption.setAttribute("aria-level", 2);
    }

    /* Where a box has more than it shows to the right, its edge fades. */
    function edges() {
        for (const box of document.querySelectorAll("article :is(pre, .table-wrapper, .math, .lens-stage, .lens-still)")) {
            const look = () => box.classList.toggle("more", box.scrollLeft + box.clientWidth < box.scrollWidth - 1);
            box.addEventListener("scroll", look);
            new ResizeObserver(look).observe(box);
        }
    }

    copy_buttons();
    reachable();
    edges();
    enlarge();
    terms();
    predictions();
})();
