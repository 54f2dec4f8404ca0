// What is around each table: a box that scrolls, a sign where columns are out of sight, and what can be done with it.
import type { ComponentChildren, RefObject } from "preact";
import { useRef } from "preact/hooks";
import { useOverflow } from "./overflow";

interface Props {
  caption: string;
  box?: RefObject<HTMLDivElement | null>;
  tools?: ComponentChildren;
  scrolled?: (top: number) => void;
  children: ComponentChildren;
}

export function TableFrame({ caption, box, tools, scrolled, children }: Props) {
  const own = useRef<HTMLDivElement>(null);
  const element = box ?? own;
  const { start, end } = useOverflow(element, true);
  const sides = [start && "start", end && "end"].filter(Boolean).join(" ");
  return (
    <div class="table-frame" data-more={sides}>
      {(tools || sides) && (
        <div class="table-tools">
          <span class="table-hint">{sides && (end ? "Scroll sideways for more columns" : "More columns to the left")}</span>
          {tools}
        </div>
      )}
      <div class="table-edges">
        <div
          ref={element}
          class="table-box"
          tabIndex={0}
          role="region"
          aria-label={caption}
          onScroll={(event) => scrolled?.(event.currentTarget.scrollTop)}
        >
          {children}
        </div>
      </div>
    </div>
  );
}
