// Everything around the pages: header, navigation, messages.
import type { ComponentChildren } from "preact";
import { useLocation } from "preact-iso";
import { useEffect, useState } from "preact/hooks";
import { Logo } from "../components/Logo";
import { Palette } from "../palette/Palette";
import { PaletteButton, usePalette } from "../palette/PaletteButton";
import { cloudTitle } from "../session/store";
import { Bell } from "./Bell";
import { OwnBadges } from "./badges";
import { Nav } from "./Nav";
import { Notices } from "./Notices";
import { ThemeSwitch } from "./ThemeSwitch";
import { UserMenu } from "./UserMenu";

export function Shell({ children }: { children: ComponentChildren }) {
  const { url } = useLocation();
  const [isOpen, setIsOpen] = useState(false);
  const [hasPalette, showPalette] = usePalette();
  useEffect(() => setIsOpen(false), [url]);
  return (
    <div class="shell" data-nav={isOpen ? "open" : "closed"}>
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <header class="bar">
        <button class="nav-toggle" aria-expanded={isOpen} aria-controls="nav" onClick={() => setIsOpen(!isOpen)}>
          <span class="visually-hidden">Navigation</span>
          <svg viewBox="0 0 20 20" width="20" height="20" aria-hidden="true">
            <path d="M3 5h14M3 10h14M3 15h14" stroke="currentColor" stroke-width="2" stroke-linecap="round" />
          </svg>
          <OwnBadges />
        </button>
        <a class="brand" href="/ui">
          <Logo /> <span>{cloudTitle.value}</span>
        </a>
        <div class="bar-end">
          <PaletteButton open={() => showPalette(true)} />
          <Bell />
          <ThemeSwitch />
          <UserMenu />
        </div>
      </header>
      <Nav />
      <main id="content" tabIndex={-1}>
        {children}
      </main>
      {hasPalette && <Palette close={() => showPalette(false)} />}
      <Notices />
    </div>
  );
}
