/** An availability zone as people call it. */
export const zoneName = (name: string): string => (name === "any" ? "any zone" : name);
