// Sphinx's own points, but decisions, which say why Limes is built as it is, come after the pages that say how to use it.
var Scorer = {
  score: ([page, , , , points]) => (page.startsWith("adr/") ? points - 100 : points),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
