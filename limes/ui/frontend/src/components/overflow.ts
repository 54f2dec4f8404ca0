// Whether a box has more than fits its width, and on which side the rest is.
import type { RefObject } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";

export interface Overflow {
  start: boolean;
  end: boolean;
}

const NONE: Overflow = { start: false, end: false };

/** Follows the size of the box and of what is in it, and how far it was scrolled. `isThere`: whether there is a box. */
export function useOverflow(box: RefObject<HTMLElement | null>, isThere: boolean): Overflow {
  const [overflow, setOverflow] = useState(NONE);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element || !isThere) return undefined;
    function look(): void {
      const { scrollLeft, scrollWidth, clientWidth } = element!;
      const start = scrollLeft > 1;
      const end = scrollLeft + clientWidth < scrollWidth - 1;
      setOverflow((before) => (before.start === start && before.end === end ? before : { start, end }));
    }
    const observer = new ResizeObserver(look);
    observer.observe(element);
    for (const child of element.children) observer.observe(child);
    element.addEventListener("scroll", look, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", look);
    };
  }, [isThere]);
  return overflow;
}
