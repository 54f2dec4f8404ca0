// Words of a command line, as a POSIX shell reads them.

const PLAIN = /^[\w@%+=:,./-]+$/;

/** One word, quoted where a shell would make something else of it. */
export function quoted(word: string): string {
  return PLAIN.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** A word that the shell fills in: a secret that is no part of the command. */
export class Variable {
  constructor(
    readonly prefix: string,
    readonly name: string,
  ) {}
}

const written = (word: string | Variable): string => (typeof word === "string" ? quoted(word) : `"${word.prefix}$${word.name}"`);

/** A command on lines of its own: one for each group of words. */
export function commandLine(groups: readonly (readonly (string | Variable)[])[]): string {
  return groups.map((words) => words.map(written).join(" ")).join(" \\\n  ");
}
