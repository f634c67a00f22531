/* Which page a search shows first: the chapter that introduces a term (an entry of the index) before
 * a title, a title before the text, and the text of chapters before notebooks and sources. */
var Scorer = { // searchtools.js looks for a var
    score: ([docname, , , , score, filename]) => {
        if (/^notebooks\//.test(docname)) return score * 0.4;
        if (/\.(cu|cuh|c|h|py|csv|diff|txt)$/.test(docname)) return score * 0.3;
        return score;
    },
    objNameMatch: 11,
    objPartialMatch: 6,
    objPrio: { 0: 15, 1: 5, 2: -5 },
    objPrioDefault: 0,
    title: 15,
    partialTitle: 7,
    term: 5,
    partialTerm: 2,
};
