import { setTheme, theme, type Theme } from "../lib/theme";

const NEXT: Record<Theme, Theme> = { system: "light", light: "dark", dark: "system" };
const NAMES: Record<Theme, string> = { system: "as the system", light: "light", dark: "dark" };

export function ThemeSwitch() {
  const name = `Colours: ${NAMES[theme.value]}`;
  return (
    <button class="quiet theme" title={name} onClick={() => setTheme(NEXT[theme.value])}>
      <span class="visually-hidden">{name}</span>
      <svg viewBox="0 0 20 20" width="20" height="20" aria-hidden="true" data-theme-icon={theme.value}>
        <circle cx="10" cy="10" r="7" fill="none" stroke="currentColor" stroke-width="2" />
        {theme.value !== "light" && <path d="M10 3a7 7 0 0 1 0 14z" fill="currentColor" />}
        {theme.value === "dark" && <circle cx="10" cy="10" r="7" fill="currentColor" />}
      </svg>
    </button>
  );
}
