// Opens the palette: with Ctrl-K or Cmd-K from anywhere, or with the mouse.
import { useEffect, useState } from "preact/hooks";

/** Whether a key opens it. A dialog that is open has something to finish first. */
function opens(event: KeyboardEvent): boolean {
  const isKey = (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === "k";
  return isKey && document.querySelector("dialog[open]") === null;
}

/** Whether it is open, and how to change that. */
export function usePalette(): [boolean, (isOpen: boolean) => void] {
  const [isOpen, setIsOpen] = useState(false);
  useEffect(() => {
    function pressed(event: KeyboardEvent): void {
      if (!opens(event)) return;
      event.preventDefault(); // browsers go to their address bar
      setIsOpen(true);
    }
    document.addEventListener("keydown", pressed);
    return () => document.removeEventListener("keydown", pressed);
  }, []);
  return [isOpen, setIsOpen];
}

export function PaletteButton({ open }: { open: () => void }) {
  return (
    <button class="quiet" aria-haspopup="dialog" aria-keyshortcuts="Control+K Meta+K" title="Go to a project, domain, resource or page (Ctrl-K)" onClick={open}>
      <span class="visually-hidden">Go to</span>
      <svg viewBox="0 0 20 20" width="20" height="20" aria-hidden="true">
        <circle cx="8.5" cy="8.5" r="5" fill="none" stroke="currentColor" stroke-width="1.8" />
        <path d="M12.3 12.3 17 17" stroke="currentColor" stroke-width="2" stroke-linecap="round" />
      </svg>
    </button>
  );
}
