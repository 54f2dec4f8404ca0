// The pages of a report become one file, and its rows are counted on the way.

export interface Progress {
  rows: number;
  /** How many of them are of a time that is not closed yet. */
  open: number;
}

/** The end of each row: `closed` and `version`. Line breaks in names are within quotes, and none follows such an end. */
const ENDS = /,(true|false),\d+\r\n/g;

/** Gathers the text of one report, page by page, each in pieces as they arrive. */
export class ReportFile {
  readonly pieces: string[] = [];
  readonly progress: Progress = { rows: 0, open: 0 };
  #rest = "";
  #isHeaderDue = false;
  #pages = 0;

  /** What follows begins with a header line, which only the first page keeps. */
  beginPage(): void {
    this.#isHeaderDue = true;
    this.#pages += 1;
  }

  /** Takes what has arrived. The last line may be incomplete. */
  add(piece: string): void {
    const text = this.#rest + piece;
    const end = text.lastIndexOf("\n") + 1;
    this.#rest = text.slice(end);
    if (end > 0) this.#keep(text.slice(0, end));
  }

  /** Raises where the page is not whole. */
  endPage(): void {
    if (this.#rest !== "" || this.#isHeaderDue) throw new TypeError("the page ends in the middle of a line");
  }

  #keep(lines: string): void {
    let kept = lines;
    if (this.#isHeaderDue) {
      this.#isHeaderDue = false;
      if (this.#pages > 1) kept = lines.slice(lines.indexOf("\n") + 1);
    }
    for (const [, closed] of kept.matchAll(ENDS)) {
      this.progress.rows += 1;
      if (closed === "false") this.progress.open += 1;
    }
    if (kept) this.pieces.push(kept);
  }
}

/** Where the next page is: the target of `rel="next"` in a header `Link` (RFC 8288), on our own origin. */
export function nextPage(link: string | null, here = location.origin): string | undefined {
  const target = /<([^>]*)>\s*;\s*rel="?next"?/.exec(link ?? "")?.[1];
  if (target === undefined) return undefined;
  const { pathname, search } = new URL(target, here);
  return pathname + search;
}
