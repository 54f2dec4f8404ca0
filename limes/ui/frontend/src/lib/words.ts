// Numbers with their nouns.

/** `12 of 40 alerts`; `40 alerts` where nothing is left out. */
export function countedOf(shown: number, all: number, noun: string): string {
  return shown === all ? counted(all, noun) : `${shown.toLocaleString("en")} of ${counted(all, noun)}`;
}

/** `1 project`, `1,200 projects`. */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${count.toLocaleString("en")} ${count === 1 ? noun : plural}`;
}
