/* Results while one types, from the index that the search page has too. The index is fetched when
 * a reader first goes to the field, as a script, so that it works from disk as well. */
"use strict";

(() => {
    /* searchtools.js has localStorage keep what to mark on the page that is opened, and finds nothing where the
     * browser forbids that or has no room. */
    try {
        localStorage.setItem("room", "yes");
        localStorage.removeItem("room");
    } catch {
        const forgets = { getItem: () => null, setItem: () => {}, removeItem: () => {} };
        Object.defineProperty(window, "localStorage", { value: forgets });
    }
    const field = document.querySelector(".sidebar-search");
    if (!field || typeof Search !== "undefined") return; // the search page shows its own
    const SHOWN = 8;
    const root = document.documentElement.dataset.content_root;
    const drawer = document.getElementById("__navigation");
    const list = Object.assign(document.createElement("div"), { className: "found", id: "found", hidden: true });
    let typed = "", at = -1, index = null;

    const script = name => new Promise((done, failed) =>
        document.head.append(Object.assign(document.createElement("script"),
            { src: root + name, onload: done, onerror: failed })));

    function fetched() {
        typed = field.value;
        index = index || script("_static/language_data.js").then(() => script("_static/searchtools.js"))
            .then(() => { field.value = typed; return script("searchindex.js"); }); // searchtools.js empties the field
        return index;
    }

    /* As the search page finds and orders them, the best last there; a title of a page comes once. */
    function results() {
        const found = Search._performSearch(...Search._parseQuery(typed)).reverse(), seen = new Set();
        localStorage.removeItem("sphinx_highlight_terms");
        return found.filter(([page, title]) => !seen.has(page + title) && seen.add(page + title));
    }

    const entry = (address, words, attributes) => {
        const made = Object.assign(document.createElement("a"), { href: address, innerHTML: words, tabIndex: -1 });
        for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
        return made;
    };

    function show(found) {
        at = -1;
        const options = found.slice(0, SHOWN).map(([page, title, anchor], i) =>
            entry(`${root}${page}.html${anchor}`, title, { role: "option", id: `found-${i}`, "aria-selected": false }));
        const more = entry(`${root}search.html?q=${encodeURIComponent(typed)}`,
            found.length ? `All ${found.length} results` : "Nothing has all of these words.",
            { role: "option", id: "found-all", "aria-selected": false, class: "all" });
        list.replaceChildren(...options, more);
        open(true);
        const where = field.getBoundingClientRect(), room = document.documentElement.clientWidth;
        list.style.top = `${where.bottom + 4}px`;
        list.style.left = `${Math.max(8, Math.min(where.left, room - list.offsetWidth - 8))}px`;
    }

    function open(yes) {
        list.hidden = !yes;
        field.setAttribute("aria-expanded", yes);
        if (!yes) field.removeAttribute("aria-activedescendant");
    }

    function mark(by) {
        const options = [...list.children];
        at = (at + by + options.length + (at < 0 && by < 0)) % options.length;
        options.forEach((option, i) => option.setAttribute("aria-selected", i === at));
        field.setAttribute("aria-activedescendant", options[at].id);
        options[at].scrollIntoView({ block: "nearest" });
    }

    async function look() {
        const ready = fetched();
        if (!typed.trim()) return open(false);
        await ready;
        if (typed.trim() && document.activeElement === field) show(results());
    }

    function go() {
        if (drawer && field.getBoundingClientRect().right <= 0) drawer.checked = true; // a phone's drawer
        field.focus();
        field.select();
        const words = field.value; // as they are again when the index is there, but no longer selected
        fetched().then(() => { if (field.value === words && document.activeElement === field) field.select(); });
    }

    for (const [name, value] of Object.entries({ role: "combobox", autocomplete: "off", "aria-autocomplete": "list",
        "aria-controls": list.id, "aria-expanded": false })) field.setAttribute(name, value);
    field.placeholder = "Search ( / )";
    list.setAttribute("role", "listbox");
    list.setAttribute("aria-label", "Search results");
    document.body.append(list);

    field.addEventListener("focus", fetched);
    field.addEventListener("input", look);
    field.addEventListener("keydown", event => {
        const keys = {
            ArrowDown: () => mark(1), ArrowUp: () => mark(-1),
            Enter: at < 0 ? null : () => list.children[at].click(),
        };
        if (list.hidden || !keys[event.key]) return;
        event.preventDefault();
        keys[event.key]();
    });
    /* Who goes elsewhere, with a finger or the keyboard, is done with the list. */
    for (const going of ["pointerdown", "focusin"]) addEventListener(going, event => {
        if (!list.contains(event.target) && event.target !== field) open(false);
    });
    addEventListener("keydown", event => {
        if (event.key !== "Escape" || list.hidden) return;
        event.preventDefault();
        field.focus();
        open(false);
    });
    list.addEventListener("click", () => { open(false); if (drawer) drawer.checked = false; });
    addEventListener("keydown", event => {
        if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey ||
            event.target.closest("input, textarea, select")) return;
        event.preventDefault();
        go();
    });
    const button = Object.assign(document.createElement("button"),
        { type: "button", className: "to-search", onclick: go, textContent: "Search" });
    document.querySelector(".mobile-header .header-right")?.prepend(button);
})();
