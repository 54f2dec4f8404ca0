// Light or dark: as the system says, until the user chooses. The choice is kept; it is no secret.
import { signal } from "@preact/signals";

export type Theme = "system" | "light" | "dark";
const KEY = "limes-theme";

function remembered(): Theme {
  const value = localStorage.getItem(KEY);
  return value === "light" || value === "dark" ? value : "system";
}

export const theme = signal<Theme>("system");

export function setTheme(value: Theme): void {
  theme.value = value;
  if (value === "system") {
    localStorage.removeItem(KEY);
    delete document.documentElement.dataset.theme;
  } else {
    localStorage.setItem(KEY, value);
    document.documentElement.dataset.theme = value;
  }
}

export const startTheme = (): void => setTheme(remembered());
