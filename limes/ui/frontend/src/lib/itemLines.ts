// The API writes long lists with some items on each line: `{"projects":[`, `{...},{...},`, `{...}`, `]}`. So they can be read while
// they arrive.

/** Takes a list apart, piece by piece. Short lists are one line. */
export class ItemLines<Item> {
  #rest = "";
  #hasBegun = false;
  #isOver = false;

  constructor(readonly list: string) {}

  /** Returns the items that are whole now. */
  add(piece: string): Item[] {
    const lines = (this.#rest + piece).split("\n");
    this.#rest = lines.pop()!;
    return lines.flatMap((line) => this.#read(line));
  }

  /** Raises where the list is not whole. */
  end(): void {
    if (!this.#isOver) throw new TypeError("the list ends before its end");
  }

  #read(line: string): Item[] {
    if (!this.#hasBegun) {
      this.#hasBegun = true;
      if (line.endsWith("[")) return [];
      this.#isOver = true;
      return (JSON.parse(line) as Record<string, Item[]>)[this.list] ?? [];
    }
    if (line.startsWith("]")) this.#isOver = true;
    return this.#isOver ? [] : (JSON.parse(`[${line.replace(/,$/, "")}]`) as Item[]);
  }
}
